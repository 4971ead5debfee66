#pragma once
// The device of a host (verbs.h): to the host it is one more application, whose queue pairs its user
// makes. Only host_*.cc include this.

#include <set>
#include <string>

#include "endpoint/base/identity.h"
#include "endpoint/host/host_impl.h"
#include "endpoint/host/verbs.h"
#include "fabric/base/fifo.h"

namespace mrclab::endpoint {

class HostDevice : public Device, public Application {
 public:
  explicit HostDevice(HostImpl& node);
  /// Its number among the host's applications; once, before anything else.
  void set_index(uint32_t index) { index_ = index; }

  DeviceAttributes query_device() const override;
  void set_user(DeviceUser* user) override { user_ = user; }
  void wake_at(FabricTime at) override;
  FabricTime now() const override { return node_.host_.now; }
  MemoryRegion register_memory(std::span<uint8_t> memory) override;
  void deregister_memory(const MemoryRegion& region) override;
  CqHandle create_completion_queue(uint32_t depth) override;
  std::span<WorkCompletion> poll_completions(CqHandle cq, std::span<WorkCompletion> out) override;
  void destroy_completion_queue(CqHandle cq) override;
  Qpn create_queue_pair(const QpInitAttributes& attributes) override;
  Psn draw_first_psn(Qpn qpn) override;
  void modify(Qpn qpn, const InitAttributes& attributes) override;
  void modify(Qpn qpn, const ReadyToReceiveAttributes& attributes) override;
  void modify(Qpn qpn, const ReadyToSendAttributes& attributes) override;
  void modify_to_error(Qpn qpn) override;
  QpAttributes query_queue_pair(Qpn qpn) const override;
  void destroy_queue_pair(Qpn qpn) override;
  PostResult post_write(Qpn qpn, const WriteRequest& request) override;
  PostResult post_receive(Qpn qpn, uint64_t wr_id, Memory buffer) override;
  std::optional<AsyncEvent> next_async_event() override;

  // From the host.
  void ev_changed(const QueuePair& qp, EntropyValue ev, EvState to);
  void port_changed(PortId port, bool up);
  /// Drops all queue pairs without a completion for the user, who destroys them later.
  void power_off();

  // Application.
  void start(Verbs&) override {}
  void on_write_complete(Verbs& verbs, QpHandle qp, uint64_t id) override;
  void on_write_failed(Verbs& verbs, QpHandle qp, uint64_t id, std::string_view status) override;
  void on_receive_immediate(Verbs&, QpHandle, uint32_t) override {}
  void on_receive(Verbs& verbs, QpHandle qp, const ReceiveCompletion& completion) override;
  void on_receive_flushed(Verbs& verbs, QpHandle qp, uint64_t id) override;
  void on_wake(Verbs&) override;
  void on_qp_error(Verbs& verbs, QpHandle qp, std::string_view reason) override;
  bool finished() const override { return true; }

 private:
  static constexpr size_t kAsyncEventLimit = 1024;
  static constexpr uint32_t kMaxDepth = 1 << 16;
  static constexpr uint32_t kMaxCompletionQueues = 4096;
  static constexpr size_t kMaxWakes = 1 << 16;

  struct Record {
    Qpn qpn;
    uint32_t use = 0;  ///< of its number, for identities
    QpAttributes attributes;
    std::optional<QpHandle> handle;              ///< from RTR on
    std::vector<PostedReceive> early_receives;   ///< posted in INIT
    Fifo<WorkOpcode> opcodes{kMaxWorkRequests};  ///< of work that is not completed yet, in order
    bool is_rc() const { return attributes.init_attributes.transport == TransportKind::kRoce; }
    uint32_t sends = 0;  ///< outstanding
    uint32_t receives = 0;
  };
  struct CompletionQueue {
    explicit CompletionQueue(uint32_t depth) : completions(depth) {}
    Fifo<WorkCompletion> completions;
    uint32_t users = 0;
    bool failed = false;
  };

  Record* find(Qpn qpn);
  Record& at(Qpn qpn);
  Record& in_state(Qpn qpn, QpState state, std::string_view wanted);
  Record* record_of(QpHandle handle);
  QpHandle connect(const Record& record, uint32_t peer, const ReadyToReceiveAttributes& attributes);
  QpHandle connect_rc(const Record& record, uint32_t peer,
                      const ReadyToReceiveAttributes& attributes);
  void start(const Record& record, const ReadyToSendAttributes& attributes);
  void start_rc(const Record& record, const ReadyToSendAttributes& attributes);
  RcQueuePair& rc_of(const Record& record);
  CompletionQueue& cq_at(CqHandle cq);
  uint32_t free_number() const;
  void flush(const Record& record, uint64_t wr_id, WorkOpcode opcode);
  void complete(CqHandle cq, const WorkCompletion& completion);
  void complete_send(QpHandle qp, uint64_t id, WorkStatus status);
  void fail_queue_pairs_of(CqHandle cq);
  void report(AsyncEvent event);

  HostImpl& node_;
  uint32_t index_ = 0;
  HostIdentities identities_;
  uint32_t uses_ = 0;
  std::vector<std::unique_ptr<Record>> records_;  // by number of the QPN
  std::vector<std::unique_ptr<CompletionQueue>> cqs_;
  Fifo<AsyncEvent> events_{kAsyncEventLimit};
  uint64_t events_lost_ = 0;
  DeviceUser* user_ = nullptr;
  std::set<FabricTime> wakes_;  ///< that the host's events have, and that the user has not had
};

}  // namespace mrclab::endpoint
