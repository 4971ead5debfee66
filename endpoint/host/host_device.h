#pragma once
// The device of a host (verbs.h): to the host it is one more application, whose queue pairs its user
// makes. Only host_*.cc include this.
//
// host_device.cc has memory, queues, events and what libmrc's controller asks; host_device_states.cc queue pairs and
// their states; host_device_work.cc work.

#include <map>
#include <set>
#include <string>

#include "endpoint/base/identity.h"
#include "endpoint/device/device_queues.h"
#include "endpoint/device/ev_profiles.h"
#include "endpoint/device/path_probes.h"
#include "endpoint/host/host_impl.h"
#include "endpoint/host/verbs.h"
#include "fabric/base/fifo.h"

namespace mrclab::endpoint {

/// What a function of the device throws.
[[noreturn]] void reject_call(const std::string& what);
void check_range(std::string_view what, uint64_t value, uint64_t low, uint64_t high);

class HostDevice : public Device, public Application, public MemoryWatch {
 public:
  explicit HostDevice(HostImpl& node);
  /// Its number among the host's applications; once, before anything else.
  void set_index(uint32_t index) { index_ = index; }

  DeviceAttributes query_device() const override;
  void set_user(DeviceUser* user) override { user_ = user; }
  void wake_at(FabricTime at) override;
  FabricTime now() const override { return node_.host_.now; }
  PortAttributes query_port() const override;
  void set_gid_moves(bool moves) override { gid_moves_ = moves; }
  MemoryRegion register_memory(std::span<uint8_t> memory, AccessFlags access,
                               uint32_t domain) override;
  MemoryRegion register_memory(RegionAccess& memory, uint64_t va, Bytes length, AccessFlags access,
                               uint32_t domain) override;
  void deregister_memory(const MemoryRegion& region) override;
  CqHandle create_completion_queue(uint32_t depth) override;
  std::span<WorkCompletion> poll_completions(CqHandle cq, std::span<WorkCompletion> out) override;
  void destroy_completion_queue(CqHandle cq) override;
  SrqHandle create_shared_receive_queue(const SrqAttributes& attributes) override;
  void modify_shared_receive_queue(SrqHandle srq, uint32_t limit) override;
  SrqAttributes query_shared_receive_queue(SrqHandle srq) const override;
  void destroy_shared_receive_queue(SrqHandle srq) override;
  Qpn create_queue_pair(const QpInitAttributes& attributes) override;
  Psn draw_first_psn(Qpn qpn) override;
  void modify(Qpn qpn, const InitAttributes& attributes) override;
  void modify(Qpn qpn, const ReadyToReceiveAttributes& attributes) override;
  void modify(Qpn qpn, const ReadyToSendAttributes& attributes) override;
  void modify_access(Qpn qpn, AccessFlags access) override;
  void modify_to_error(Qpn qpn) override;
  void modify_to_reset(Qpn qpn) override;
  QpAttributes query_queue_pair(Qpn qpn) const override;
  void destroy_queue_pair(Qpn qpn) override;
  PostResult post(Qpn qpn, WorkRequest request) override;
  PostResult post_receive(Qpn qpn, ReceiveRequest request) override;
  PostResult post_receive(SrqHandle srq, ReceiveRequest request) override;
  std::optional<AsyncEvent> next_async_event() override;
  EvProfileAttributes query_ev_profile(uint64_t id) const override { return profiles_.query(id); }
  void modify_ev_profile(uint64_t id, const EvProfileAttributes& attributes) override {
    profiles_.modify(id, attributes);
  }
  CcProfileAttributes query_cc_profile(uint64_t id) const override;
  void deny_path(EntropyValue ev, std::optional<Ipv6Address> to, bool denied) override;
  std::optional<EvEvent> poll_ev_event() override { return node_.poll_ev_event(); }
  uint64_t probe_paths(const Ipv6Address& to, std::span<const EntropyValue> evs,
                       FabricTime timeout) override;
  std::optional<PathProbe> next_path_probe() override { return probes_.next(); }

  // From the host.
  void ev_changed(const QueuePair& qp, EntropyValue ev, EvState to);
  void port_changed(PortId port, bool up);
  /// False if it has no such probe under way.
  bool probe_answered(uint16_t id);
  /// Drops all queue pairs without a completion for the user, who destroys them later.
  void power_off();
  /// The last state of queue pairs that their program has destroyed or reset, oldest first; what they still had under
  /// way counts as failed. At most kMaxEnded; those that ended later are in HostStats::qps_ended alone.
  const std::vector<QueueCounts>& ended() const { return ended_; }

  void memory_written() override;

  // Application.
  void start(Verbs&) override {}
  void on_write_complete(Verbs& verbs, QpHandle qp, uint64_t id) override;
  void on_write_failed(Verbs& verbs, QpHandle qp, uint64_t id, std::string_view status) override;
  void on_receive_immediate(Verbs&, QpHandle, uint32_t) override {}
  void on_receive(Verbs& verbs, QpHandle qp, const ReceiveCompletion& completion) override;
  void on_receive_failed(Verbs& verbs, QpHandle qp, uint64_t id, std::string_view status) override;
  void on_first_request(Verbs& verbs, QpHandle qp) override;
  void on_wake(Verbs&) override;
  void on_qp_error(Verbs& verbs, QpHandle qp, std::string_view reason) override;
  bool finished() const override { return true; }

 private:
  static constexpr size_t kAsyncEventLimit = 1024;
  static constexpr uint32_t kMaxDepth = 1 << 16;
  static constexpr uint32_t kMaxQueues = 4096;  ///< completion queues, and shared receive queues
  static constexpr size_t kMaxWakes = 1 << 16;
  static constexpr size_t kMaxEnded = 1024;
  static constexpr uint32_t kGids = 0xF, kMovedGids = 0xF0;  ///< entries with the host's address
  using Record = DeviceQueuePair;

  Record* find(Qpn qpn);
  Record& at(Qpn qpn);
  Record& in_state(Qpn qpn, QpState state, std::string_view wanted);
  Record* record_of(QpHandle handle);
  CompletionQueue& cq_at(CqHandle cq);
  SharedReceiveQueue& srq_at(SrqHandle srq) const;
  uint32_t free_number() const;

  QpHandle connect(Record& record, uint32_t peer, const ReadyToReceiveAttributes& attributes);
  QpHandle connect_rc(const Record& record, uint32_t peer,
                      const ReadyToReceiveAttributes& attributes);
  QpHandle connect_loop(const Record& record, const ReadyToReceiveAttributes& attributes);
  void start(const Record& record, const ReadyToSendAttributes& attributes);
  void start_rc(const Record& record, const ReadyToSendAttributes& attributes);
  bool is_rc_handle(QpHandle handle) const {
    return (handle.value & QueueDirectory::kRcHandle) != 0;
  }
  RcQueuePair& rc_of(const Record& record);
  void set_access(const Record& record);
  void disconnect(Record& record);
  void keep_counts(const Record& record);

  PostResult start_work(Record& record, WorkRequest&& request);
  void flush_waiting(Record& record);
  void run_local_error(Record& record);
  void finish_send(Record& record, WorkStatus status);
  void finish_receive(Record& record, uint64_t number, WorkCompletion completion);
  void flush(const Record& record, uint64_t wr_id, WorkOpcode opcode);
  void complete(CqHandle cq, const WorkCompletion& completion);
  void fail_queue_pairs_of(CqHandle cq);
  void report(AsyncEvent event);

  HostImpl& node_;
  uint32_t index_ = 0;
  HostIdentities identities_;
  uint32_t uses_ = 0;
  std::vector<std::unique_ptr<Record>> records_;  // by number of the QPN
  std::vector<QueueCounts> ended_;
  std::vector<std::unique_ptr<CompletionQueue>> cqs_;
  std::vector<std::unique_ptr<SharedReceiveQueue>> srqs_;
  std::map<uint32_t, std::unique_ptr<WatchedRegion>> regions_;  ///< those by accessor, by rkey
  Fifo<AsyncEvent> events_{kAsyncEventLimit};
  uint64_t events_lost_ = 0;
  EvProfiles profiles_;
  PathProbes probes_;
  DeviceUser* user_ = nullptr;
  std::set<FabricTime> wakes_;  ///< that the host's events have, and that the user has not had
  uint32_t gids_ = kGids;
  bool gid_moves_ = false;
};

}  // namespace mrclab::endpoint
