#pragma once
// The host's side of held programs with nothing behind it: an event queue, a management network, alarms and memory that
// changes by itself. It is the specification of verbs/held in 400 lines, for tests of the program's side alone.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "verbs/protocol/messages.h"

namespace mrclab::test {

class ReferenceServer {
 public:
  /// One declared program per entry, on the host of that number. Sockets are in a folder of its own below /tmp.
  explicit ReferenceServer(const std::vector<uint32_t>& hosts);
  ~ReferenceServer();
  ReferenceServer(const ReferenceServer&) = delete;
  ReferenceServer& operator=(const ReferenceServer&) = delete;

  /// What MRCLAB_VERBS of a program must be.
  const std::string& path(size_t program) const { return programs_[program].path; }
  /// Serves until all programs have ended. False: one did not connect, or made no request for `patience_ms` of this
  /// machine's time, or all wait for ever; `why()` says which.
  bool run(int patience_ms);
  const std::string& why() const { return why_; }

  /// Requests in their order, a line each: time, program, operation. Equal runs have equal ones.
  const std::string& history() const { return history_; }
  /// Reasons of kNotHeld.
  const std::vector<std::string>& not_held() const { return not_held_; }
  uint64_t requests() const { return requests_; }
  /// The region that a program registers counts: its first word grows by 1 each `period_ps`.
  void count_in_memory(uint64_t period_ps) { period_ps_ = period_ps; }
  /// What the server does wrong from its n-th request on.
  enum class Fault {
    kNone,
    kHangsUp,
    kTooShort,
    kTooLong,
    kOtherOp,
    kTimeRunsBack,
    kHoldsNoLonger
  };
  void fail_from(uint64_t request, Fault how) {
    fault_from_ = request;
    fault_ = how;
  }

 private:
  using Reply = std::vector<std::byte>;
  enum class State { kAbsent, kRuns, kStands, kGone };
  struct Program {
    std::string path;
    uint32_t host = 0;
    int door = -1, link = -1, memory = -1, events = -1;
    State state = State::kAbsent;
    uint64_t now_ps = 0;
    bool waits = false, changed = false, wants_memory = false, not_held = false;
    uint64_t wait_number = 0;
    verbs::Op op{};
    std::vector<uint32_t> handles;
    std::map<uint32_t, uint64_t> sockets;  // number -> id
    std::vector<int> channels;
  };
  enum class Socket { kConnecting, kRefused, kAnswered, kOpen, kListening };
  struct Connection {
    Socket state{};
    size_t owner = 0;
    uint64_t peer = 0;
    uint32_t address = 0, peer_address = 0;
    uint16_t port = 0, peer_port = 0;
    uint64_t arrived = 0, unread = 0;
    bool ended = false;
    std::deque<uint64_t> waiting;
  };

  void at(uint64_t ps, size_t source, std::function<void()> what);
  bool admit(int patience_ms);
  bool read_request(size_t index, int patience_ms);
  void handle(size_t index, const std::vector<std::byte>& message);
  void handle_socket(size_t index, const verbs::SocketRequest& request);
  void begin_wait(size_t index, uint64_t until_ps);
  void reply(size_t index, int32_t status, const void* body = nullptr, size_t size = 0,
             int descriptor = -1, int second = -1);
  void change_memory(size_t index);
  void count(size_t index, uint64_t address);
  void wake_owner(uint64_t id);
  bool is_ready(const Program& program, uint32_t number) const;
  void end_connection(uint64_t id);
  void end_program(size_t index);
  Connection* find(Program& program, uint32_t number);

  std::string folder_, why_, history_;
  std::vector<Program> programs_;
  std::map<uint64_t, Connection> connections_;
  std::map<std::pair<uint64_t, uint64_t>, std::function<void()>>
      queue_;  // (time, source and sequence)
  std::vector<std::string> not_held_;
  uint64_t now_ps_ = 0, sequence_ = 0, next_id_ = 1, requests_ = 0, period_ps_ = 0, fault_from_ = 0;
  Fault fault_ = Fault::kNone;
};

}  // namespace mrclab::test
