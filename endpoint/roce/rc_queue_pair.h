#pragma once
// An RC queue pair: both halves towards one peer, over one port and one path, and DCQCN's notification point.

#include <optional>
#include <string_view>

#include "endpoint/base/application_queue.h"
#include "endpoint/base/queue_pair_slots.h"
#include "endpoint/congestion/dcqcn.h"
#include "endpoint/roce/rc_requester.h"
#include "endpoint/roce/rc_responder.h"
#include "fabric/topology/path.h"

namespace mrclab::endpoint {

class RcQueuePair;

class RcQueuePairEvents {
 public:
  virtual ~RcQueuePairEvents() = default;
  virtual void work_completed(RcQueuePair& qp, uint64_t id) = 0;
  virtual void work_failed(RcQueuePair& qp, uint64_t id, std::string_view status) = 0;
  virtual void message_received(RcQueuePair& qp, const ReceiveCompletion& completion) = 0;
  virtual void receive_flushed(RcQueuePair& qp, uint64_t id) = 0;
  virtual void loss_detected(RcQueuePair& qp, Psn psn, std::string_view cause) = 0;
  virtual void failed(RcQueuePair& qp, std::string_view reason) = 0;
};

class RcQueuePair : public ApplicationQueue, private RcRequesterEvents, private RcResponderEvents {
 public:
  struct Identity {
    QpHandle handle;
    Qpn local;
    Qpn remote;
    uint32_t peer = 0;  ///< host number
    /// The NIC port by which it sends. RoceSide moves it to another where NICs have routes.
    uint32_t port = 0;
    /// Its place in its connection, by which RoceSide chooses the port. None: its maker has chosen, for good.
    std::optional<uint32_t> number;
    EntropyValue ev;    ///< of its path
    Psn send_first;     ///< first PSN that we send
    Psn receive_first;  ///< first PSN that the peer sends
    uint32_t workload = 0;
  };

  RcQueuePair(const Identity& identity, const RcParameters& parameters,
              const MemoryRegistry& memory, RcQueuePairEvents& events, HostStats& stats)
      : id(identity),
        requester(parameters, identity.send_first, *this, stats),
        responder(parameters, identity.receive_first, memory, *this, stats),
        notifier(parameters.cnp_interval),
        events_(events) {}

  QpHandle handle() const override { return id.handle; }
  bool post(const WriteRequest& request, FabricTime) override {
    if (!requester.post(request)) return false;
    ledger_.posted(request.id);
    return true;
  }
  bool post_receive(const PostedReceive& receive) override {
    return !requester.failed() && responder.receives().post(receive);
  }
  Qpn number() const override { return id.local; }
  void fail(std::string_view reason) override { requester.fail(reason); }
  const WorkLedger& ledger() const { return ledger_; }

  Identity id;  ///< only its port and value ever change
  RcRequester requester;
  RcResponder responder;
  DcqcnNotifier notifier;
  FabricTime timer_at = FabricTime::never();  ///< earliest timer event in the host's queue
  bool silent = false;  ///< it is being destroyed: its failure is not reported
  Touched touched = Touched::kNot;

 private:
  void work_completed(uint64_t work) override {
    ledger_.completed(work);
    events_.work_completed(*this, work);
  }
  void work_failed(uint64_t work, std::string_view status) override {
    ledger_.failed(work);
    if (!silent) events_.work_failed(*this, work, status);
  }
  void loss_detected(Psn psn, std::string_view cause) override {
    events_.loss_detected(*this, psn, cause);
  }
  void message_received(const ReceiveCompletion& completion) override {
    events_.message_received(*this, completion);
  }
  void request_refused(std::string_view reason) override { requester.fail(reason); }
  void failed(std::string_view reason) override {
    while (responder.receives().has_posted()) {
      const uint64_t receive = responder.receives().take_receive()->id;
      if (!silent) events_.receive_flushed(*this, receive);
    }
    if (!silent) events_.failed(*this, reason);
  }

  RcQueuePairEvents& events_;
  WorkLedger ledger_;
};

}  // namespace mrclab::endpoint
