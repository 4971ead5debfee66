#pragma once
// A queue pair: a requester and a responder towards one peer, and where their events go.

#include <string_view>

#include "endpoint/base/application_queue.h"
#include "endpoint/base/queue_pair_slots.h"
#include "endpoint/base/work_ledger.h"
#include "endpoint/paths/lazy_ev_set.h"
#include "endpoint/queue_pair/peer.h"
#include "endpoint/queue_pair/requester.h"
#include "endpoint/queue_pair/responder.h"

namespace mrclab::endpoint {

class QueuePair;

class QueuePairEvents {
 public:
  virtual ~QueuePairEvents() = default;
  virtual void write_completed(QueuePair& qp, uint64_t id) = 0;
  virtual void write_failed(QueuePair& qp, uint64_t id, std::string_view status) = 0;
  virtual void immediate_received(QueuePair& qp, const ReceiveCompletion& completion) = 0;
  virtual void receive_failed(QueuePair& qp, uint64_t id, std::string_view status) = 0;
  virtual void ev_changed(QueuePair& qp, EntropyValue ev, EvState to) = 0;
  virtual void ev_swapped(QueuePair&, EntropyValue /*in*/, EntropyValue /*out*/) {}
  virtual void loss_detected(QueuePair& qp, EntropyValue ev, Psn psn, std::string_view cause) = 0;
  virtual void failed(QueuePair& qp, std::string_view reason) = 0;
};

class QueuePair : public ApplicationQueue, private RequesterEvents, private ResponderEvents {
 public:
  struct Identity {
    QpHandle handle;
    Qpn local;
    Qpn remote;
    Psn send_first;     ///< first PSN that we send
    Psn receive_first;  ///< first PSN that the peer sends
    uint32_t workload = 0;
    Chosen chosen = Chosen::kByName;  ///< how the paths of our packets are chosen
    /// What its writes send may be gone as soon as they are complete: no frame refers to it.
    bool fleeting = false;
  };
  QueuePair(const Identity& identity, Peer& peer_of_it, const TransportProfile& profile,
            const ConnectionLimits& limits, LazyEvSet evs, EvProber prober,
            const MemoryRegistry& memory, ReceiveResources& resources, QueuePairEvents& events,
            HostStats& stats)
      : id(identity),
        peer(peer_of_it),
        requester(profile, limits, identity.send_first, std::move(evs), std::move(prober),
                  *peer_of_it.window, *this, stats),
        responder(profile, limits.receiving, identity.receive_first, memory, resources, *this,
                  stats),
        events_(events) {}
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  QpHandle handle() const override { return id.handle; }
  /// As Requester::post; MRC has no SEND.
  bool post(const WriteRequest& request, FabricTime now) override {
    if (request.kind != WorkKind::kWrite || !requester.post(request, now)) return false;
    ledger_.posted(request.id);
    return true;
  }
  bool post_receive(const PostedReceive& receive) override {
    return !requester.failed() && responder.receives().post(receive);
  }
  Qpn number() const override { return id.local; }
  void fail(std::string_view reason) override { requester.fail(reason); }
  const WorkLedger& ledger() const { return ledger_; }
  /// What it was asked for and answered, up to now.
  QueueCounts counts() const {
    return {id.local,
            id.remote,
            peer.host,
            ledger_.posted(),
            ledger_.completed(),
            ledger_.failed(),
            ledger_.out_of_order(),
            requester.failed()};
  }

  const Identity id;
  Peer& peer;
  Requester requester;
  Responder responder;
  FabricTime timer_at = FabricTime::never();  ///< earliest timer event in the host's queue
  bool silent = false;  ///< it is being destroyed: its failure is not reported
  Touched touched = Touched::kNot;

 private:
  void write_completed(uint64_t write) override {
    ledger_.completed(write);
    events_.write_completed(*this, write);
  }
  void write_failed(uint64_t write, std::string_view status) override {
    ledger_.failed(write);
    if (!silent) events_.write_failed(*this, write, status);
  }
  void immediate_received(const ReceiveCompletion& completion) override {
    events_.immediate_received(*this, completion);
  }
  void ev_changed(EntropyValue ev, EvState to) override { events_.ev_changed(*this, ev, to); }
  void ev_swapped(EntropyValue in, EntropyValue out) override {
    events_.ev_swapped(*this, in, out);
  }
  void loss_detected(EntropyValue ev, Psn psn, std::string_view cause) override {
    events_.loss_detected(*this, ev, psn, cause);
  }
  void failed(std::string_view reason) override {
    while (!responder.shares_receives() && responder.receives().has_posted()) {
      const uint64_t receive = responder.receives().take_receive()->id;
      if (!silent) events_.receive_failed(*this, receive, kFlushed);
    }
    responder.give_up_resources();
    if (!silent) events_.failed(*this, reason);
  }

  QueuePairEvents& events_;
  WorkLedger ledger_;
};

}  // namespace mrclab::endpoint
