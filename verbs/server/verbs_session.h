#pragma once
// One program's verbs: its regions, queues and queue pairs over the device of its host. Requests come in as messages
// and are answered by messages; work requests and completions go through the rings that both share (protocol/ring.h).
// Pure but for that and the program's memory: no clock, no socket, nothing that blocks. The caller, from the host's one
// thread and between the host's events or in DeviceUser::on_wake():
//
//   VerbsSession session(programs);                 // programs: all of one host (host_programs.h)
//   VerbsSession::Answer answer = session.handle(request, std::move(descriptors));
//   ...send answer.message and answer.descriptors; end the connection if answer.broken...
//   session.take_work(now);                          // records of the work ring with at_ps up to now
//   session.deliver();                               // completions of the device into the program's rings
//
// Everything that a program sends is hostile until it is parsed: sizes, handles, positions of rings, addresses. What
// cannot be right in a message is answered by an errno; what cannot be right in the work ring breaks the session
// (broken()): its owner ends the connection. The destructor gives back everything that the program made, queue pairs
// first.
//
// Bounds per program: kMaxCqs completion queues of together kRingBytes, kMaxChannels, kMaxSrqs, kMaxWork places of
// work requests in all of its queues together (more is ENOMEM at the creation of a queue); queue pairs and regions as
// the device has them, which all programs of a host share. What a WRITE or SEND sends is copied when it is given to the
// device: a message has at most kMaxMessageBytes (longer ones end as IBV_WC_LOC_LEN_ERR). A queue pair has kQpBytes of
// copies under way, or one longer message, all together have kCopiedBytes; what would exceed it waits, each queue pair
// for itself, until bytes before it have arrived. kQpBytes is more than the sender's window of an MRC queue pair, so
// that no packet leaves later for it.

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "endpoint/host/verbs.h"
#include "netio/runtime/shared_page.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/message_socket.h"
#include "verbs/protocol/messages.h"
#include "verbs/protocol/ring.h"
#include "verbs/server/object_table.h"
#include "verbs/server/program_memory.h"
#include "verbs/server/program_objects.h"
#include "verbs/server/program_share.h"
#include "verbs/server/work_slots.h"

namespace mrclab::verbs {

class HostPrograms;
struct SessionReply;

/// Bytes of the longest record of the work ring.
inline constexpr size_t kMaxRecord =
    sizeof(WorkRecord) + std::max<size_t>(kMaxSges * sizeof(WorkSge), kMaxInline);

/// Who serves the program is called as things become visible to it; in the middle of deliver(), so it only takes notes.
class SessionUser {
 public:
  virtual ~SessionUser() = default;
  /// The device has a completion or an event for this program, or a packet wrote to its memory: what deliver() will
  /// hand over. Called within the host's event; a held program asks its device for wake_at(now()).
  virtual void on_something() {}
  /// DeviceUser::on_wake() of the host's device, whoever asked for it. Completions up to now are delivered.
  virtual void on_wake() {}
  /// An entry was put into the ring of this completion queue.
  virtual void on_completion_written(uint32_t /*cq*/) {}
  /// An event was put into the descriptor of this channel, or into that of asynchronous events.
  virtual void on_channel_event(uint32_t /*channel*/) {}
  virtual void on_async_event() {}
};

class VerbsSession : public ProgramShare {
 public:
  static constexpr uint32_t kMaxCqs = 1024;
  static constexpr uint32_t kMaxCqEntries = 1 << 16;
  static constexpr uint32_t kMaxChannels = 256;
  static constexpr uint32_t kMaxSrqs = 256;
  static constexpr uint64_t kRingBytes = uint64_t{256} << 20;
  static constexpr uint32_t kMaxWork = 1 << 20;
  static constexpr uint64_t kMaxMessageBytes = uint64_t{256} << 20;
  static constexpr uint64_t kQpBytes = uint64_t{16} << 20;
  static constexpr uint64_t kCopiedBytes = uint64_t{512} << 20;
  static constexpr uint32_t kMaxDomains = 4096;
  /// Records that take_work() takes at once; the rest stays in the ring.
  static constexpr uint32_t kMaxTaken = 4096;

  /// Both outlive it. `user` may be null.
  explicit VerbsSession(HostPrograms& programs, SessionUser* user = nullptr);
  ~VerbsSession() override;
  VerbsSession(const VerbsSession&) = delete;
  VerbsSession& operator=(const VerbsSession&) = delete;

  struct Answer {
    std::vector<uint8_t> message;
    std::vector<netio::FileDescriptor> descriptors;
    bool broken = false;  ///< no answer: the connection is to be ended
  };
  /// Any bytes at all. Ops of kHeld alone are ENOTSUP here: who holds the program answers them.
  Answer handle(std::span<const uint8_t> request, std::vector<netio::FileDescriptor> descriptors);
  /// The answer to a request that somebody else has handled: `body` behind a header with the time of now.
  Answer answer(const RequestHeader& request, int status, std::span<const uint8_t> body = {}) const;

  /// Posts what stands in the work ring with at_ps <= `until`, at most kMaxTaken. False: nothing did.
  bool take_work(FabricTime until);
  /// The at_ps of the first record that is still there; never(): none.
  FabricTime next_work();
  /// Puts completions and events of the device where the program finds them. False: there were none.
  bool deliver() override;

  /// The program has written what cannot be to its work ring, or its host has lost its power.
  bool broken() const { return broken_; }
  bool greeted() const { return greeted_; }
  /// Of the hello; empty before.
  const std::string& program() const { return program_; }
  uint32_t process() const { return process_; }
  void set_mode(Mode mode) { mode_ = mode; }
  /// ReplyHeader::rate of answers from now on.
  void set_rate(uint64_t rate) { rate_ = rate; }
  /// Overrides members of the hello's reply before it is sent: costs, epoch, seed.
  HelloReply& hello() { return hello_; }

  // For who waits on a program's behalf: what is unread as far as this side has seen.
  /// Entries in the ring of a completion queue that the program has not taken; 0 if there is no such queue.
  uint64_t completions_waiting(uint32_t cq);

 private:
  using Reply = SessionReply;

  // ProgramShare.
  void note_completion(endpoint::CqHandle cq) override;
  void note_something() override;
  void note_event(const endpoint::AsyncEvent& event) override;
  void note_power_lost() override { broken_ = true; }
  void wake() override;

  int dispatch(const RequestHeader& header, std::span<const uint8_t> request,
               std::vector<netio::FileDescriptor>& in, Reply& reply);
  int hello(const HelloRequest& request, std::vector<netio::FileDescriptor>& in, Reply& reply);
  int query_port(Reply& reply);
  int register_memory(const RegionRequest& request, Reply& reply);
  int deregister_memory(uint32_t handle);
  int create_channel(Reply& reply);
  int destroy_channel(uint32_t handle);
  int create_cq(const CqRequest& request, Reply& reply);
  int destroy_cq(uint32_t handle);
  int arm_cq(const ArmRequest& request);
  int create_srq(const SrqRequest& request, Reply& reply);
  int modify_srq(const SrqRequest& request);
  int query_srq(uint32_t handle, Reply& reply);
  int destroy_srq(uint32_t handle);
  int create_qp(const QpRequest& request, Reply& reply);
  int modify_qp(const ModifyRequest& request);
  bool has_address(uint8_t gid_index) const;
  int query_qp(uint32_t handle, Reply& reply);
  int destroy_qp(uint32_t handle);

  int dispatch_controller(Op op, std::span<const uint8_t> request, Reply& reply);

  bool fetch_record();
  void drop_record();
  void take_record();
  void post_send(QpObject& qp, const uint8_t* record);
  bool try_post(QpObject& qp, const uint8_t* record);
  bool gather(const QpObject& qp, const WorkRecord& record, const uint8_t* tail, uint64_t length,
              endpoint::WorkRequest& work);
  bool scatter(const WorkRecord& record, const uint8_t* tail, uint32_t domain, WorkSlot& slot,
               std::vector<endpoint::MemoryPiece>& pieces);
  void refuse_send(QpObject& qp, uint32_t place);
  void forget_slot(uint32_t place);
  void post_receive(const WorkRecord& record, const uint8_t* tail);
  void pump_waiting();
  std::shared_ptr<RegionObject> region_of(uint32_t lkey);

  bool deliver_from(CqObject& cq);
  void complete(CqObject& cq, const endpoint::WorkCompletion& done);
  void put_completion(CqObject& cq, const CompletionEntry& entry, bool notable);
  void overrun(CqObject& cq);
  void put_event(uint32_t event, uint32_t handle, FabricTime at);
  void wake_program();
  void release_work_of(QpObject& qp);
  /// The device's number of a protection domain of the program; 0: it has too many.
  uint32_t domain_of(uint32_t program_domain);
  /// Erases those without an object: ibv_dealloc_pd() sends the server nothing. A domain that the program has still gets
  /// another number with its next object.
  void forget_empty_domains();
  QpObject* qp_of(Qpn qpn);

  HostPrograms& programs_;
  endpoint::Device& device_;
  SessionUser* user_;
  ProgramMemory memory_;
  std::optional<netio::SharedPage> work_;
  netio::MessageSocket events_;  ///< our end
  HelloReply hello_{};
  Mode mode_ = Mode::kWall;
  uint64_t rate_ = 0;
  bool greeted_ = false;
  bool broken_ = false;
  std::string program_;
  uint32_t process_ = 0;

  struct RegionPlace {
    /// Shared with receives that are posted (work_slots.h).
    std::shared_ptr<RegionObject> object;
  };
  ObjectTable<RegionPlace> regions_;
  ObjectTable<ChannelObject> channels_{kMaxChannels};
  ObjectTable<CqObject> cqs_{kMaxCqs};
  ObjectTable<SrqObject> srqs_{kMaxSrqs};
  ObjectTable<QpObject> qps_;
  std::map<uint32_t, uint32_t> region_of_key_;  ///< local key -> handle
  std::map<uint32_t, uint32_t> qp_of_number_;   ///< QPN -> handle
  std::map<uint32_t, uint32_t> cq_of_device_;   ///< the device's -> handle
  std::map<uint32_t, uint32_t> domains_;
  uint64_t ring_bytes_ = 0;
  uint32_t work_places_ = 0;

  WorkSlots slots_;
  uint64_t copied_bytes_ = 0;
  std::set<uint32_t> waiting_qps_;  ///< handles of those that have work waiting
  uint64_t taken_ = 0;  ///< of the work ring: our own count, whatever stands in the ring
  /// The record at the front, a copy: the program can change what it shares at any time.
  std::array<uint8_t, kMaxRecord> record_;
  bool have_record_ = false;
  std::vector<uint32_t> dirty_cqs_;  ///< handles
  uint64_t controller_number_;       ///< what the host's controller side calls this program
};

}  // namespace mrclab::verbs
