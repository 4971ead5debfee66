#pragma once
// A program as an application of its host's node: it runs only while the node stands at one instant. Its owner
// (held_host.h) calls step() in the node's event at each instant that next() has named, and when something happened.
//
//   step(now):  work requests that are due -> the device; its request, if that is due; its wait, if that is over. Then
//               it gets its reply, and step() BLOCKS until it asks for something again: the program computes now. What
//               it used up meanwhile (spent_ps) states when its new request is due.
//
// Bounded: a running program that asks for nothing for Patience::request is not held (HeldReport::not_held): from there
// fabric time goes on without it, and its requests are taken each kWallTick. One that asks for kMostAtOnce things at one
// instant is made to spend time. Its end, or that of its connection, destroys its objects and closes its sockets at the
// instant that it had reached.
//
// Whatever threads the program has, one of them runs at a time and it waits for all of them at once (held/baton.h of the
// program's side), so it is one waiting party here.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "netio/system/message_socket.h"
#include "verbs/protocol/messages.h"
#include "verbs/server/held/held_world.h"
#include "verbs/server/verbs_session.h"

namespace mrclab::verbs {

class HeldProgram : public SessionUser {
 public:
  static constexpr FabricTime kWallTick = FabricTime::from_us(100);
  static constexpr uint32_t kMostAtOnce = 10'000;
  /// The most that a program can use up by itself: an hour.
  static constexpr FabricTime kMostSpent = FabricTime::from_us(int64_t{3'600} * 1'000'000);
  /// CLOCK_REALTIME of every program at fabric time 0: 2026-01-01 00:00:00 UTC.
  static constexpr uint64_t kEpochNs = uint64_t{1'767'225'600} * 1'000'000'000;
  /// ReplyHeader::rate for a program that is not held any more: a picosecond for a nanosecond, as with k = 1000.
  static constexpr uint64_t kRateAfterwards = 1'000;
  /// What calls cost the program (HelloReply); a choice of ours, near what they take on a server.
  static constexpr FabricTime kCallCost = FabricTime::from_ns(1'000),
                              kClockCost = FabricTime::from_ns(20),
                              kPostCost = FabricTime::from_ns(50),
                              kPollCost = FabricTime::from_ns(50);
  /// The n-th empty poll in a row takes 50 ns x 2^(n/32), at most 1 ms: a program that polls for seconds costs some
  /// ten thousand messages, and one that is about to get its completion sees it at once.
  static FabricTime poll_time(uint32_t in_a_row);

  /// Asks its owner for step() at the present instant.
  using WakeNow = std::function<void()>;
  /// All but `socket` outlive it; `socket` is connected to the program, which has said nothing yet.
  HeldProgram(HeldWorld& world, HostPrograms& programs, const DeclaredProgram& declared,
              netio::MessageSocket socket, WakeNow wake_now);

  /// All that is due at `now`; at the first call the program's hello.
  void step(FabricTime now);
  /// The next instant that needs step(); never(): none unless something happens.
  FabricTime next();
  bool started() const { return report_.started != FabricTime::never(); }
  bool ended() const { return report_.ended != FabricTime::never(); }
  /// At `now`, by its host's loss of power, or because it never was heard of.
  void end(FabricTime now);
  HeldReport report() const;

  // SessionUser.
  void on_something() override { note_change(); }
  void on_completion_written(uint32_t) override { note_change(); }
  void on_channel_event(uint32_t channel) override;
  void on_async_event() override;

 private:
  enum class State : uint8_t {
    kRunning,  ///< computes, while fabric time stands
    kDue,      ///< its request takes effect at `at_`
    kWaiting,  ///< for what its request names, or for `until_`
  };

  void note_change();
  void attach(FabricTime now);
  bool act(FabricTime now);
  void make_request(FabricTime now);
  bool wait_is_over(FabricTime now);
  void finish_wait();
  void wait_until(FabricTime until);
  bool any_ready(const WaitRequest& request) const;
  WaitReply ready_of(const WaitRequest& request) const;
  void note_not_held(FabricTime now);

  void reply(int status, std::span<const uint8_t> body = {});
  void send(const VerbsSession::Answer& answer);
  void await_request(FabricTime now);
  bool receive(FabricTime now, int wait_ms);
  bool take_message(size_t size, FabricTime now);
  void lose_hold(FabricTime now, std::string why);
  void vanish(FabricTime now);

  /// Null: the request is too short for one.
  template <class Body>
  const Body* body() const {
    if (request_.size() < sizeof(RequestHeader) + sizeof(Body)) return nullptr;
    return reinterpret_cast<const Body*>(request_.data() + sizeof(RequestHeader));
  }
  const RequestHeader& header() const {
    return *reinterpret_cast<const RequestHeader*>(request_.data());
  }

  HeldWorld& world_;
  const DeclaredProgram& declared_;
  std::optional<netio::MessageSocket> socket_;
  WakeNow wake_now_;
  std::optional<VerbsSession> session_;
  HeldReport report_;
  bool spoke_ = false;  ///< a message of it was right
  State state_ = State::kRunning;
  FabricTime at_, until_;
  FabricTime reached_;  ///< of its last reply
  std::vector<uint8_t> request_;
  std::vector<netio::FileDescriptor> descriptors_;  ///< that came with it
  uint64_t changes_ = 0;                            ///< of its memory, completions, events
  uint64_t seen_ = 0;                               ///< changes_ at its last reply
  std::map<uint32_t, uint64_t> channel_changes_;    ///< by channel: changes_ at its last event
  uint64_t async_change_ = 0;                       ///< likewise
  FabricTime instant_ = FabricTime::from_ps(-1);    ///< of the last step
  uint32_t at_once_ = 0;                            ///< requests at that instant
  bool held_ = true;
  FabricTime wall_tick_ = FabricTime::never();
  alignas(8) std::array<uint8_t, kMaxMessage> room_;
};

}  // namespace mrclab::verbs
