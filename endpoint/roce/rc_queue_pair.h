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
  virtual void receive_failed(RcQueuePair& qp, uint64_t id, std::string_view status) = 0;
  virtual void loss_detected(RcQueuePair& qp, Psn psn, std::string_view cause) = 0;
  virtual void first_request(RcQueuePair& qp) = 0;
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
    bool looped = false;  ///< to its own host: its packets never leave the NIC
    /// What its requests send may be gone as soon as they are complete: no frame refers to it.
    bool fleeting = false;
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
  /// What it was asked for and answered, up to now.
  QueueCounts counts() const {
    return {id.local,
            id.remote,
            id.peer,
            ledger_.posted(),
            ledger_.completed(),
            ledger_.failed(),
            ledger_.out_of_order(),
            requester.failed()};
  }

  /// Is there a packet that waits for the port alone? Answers with data take turns with requests.
  bool ready(FabricTime now) const {
    return !requester.failed() && (requester.ready(now) || may_answer(now));
  }
  /// The next packet, if one may go. `reply`: a NAK that goes with it.
  std::optional<RcPacket> next_packet(FabricTime now, std::optional<RcReply>& reply) {
    if (requester.failed()) return std::nullopt;
    answered_last_ = may_answer(now) && !(answered_last_ && requester.ready(now));
    if (!answered_last_) return requester.next_packet(now);
    std::optional<RcPacket> answer = responder.next_answer(reply);
    if (answer) requester.note_answer(RcRequester::wire_bytes(*answer), now);
    return answer;
  }
  /// Its turn came, and it was not ready.
  void note_idle() { answered_last_ = false; }
  FabricTime deadline(FabricTime now) const {
    if (requester.failed()) return FabricTime::never();
    FabricTime at = std::min(requester.deadline(now), notifier.deadline());
    const bool waits = responder.has_answer() && requester.may_answer() > now;
    return waits ? std::min(at, requester.may_answer()) : at;
  }
  /// A request of the peer came in.
  void note_request() {
    if (awaits_request) events_.first_request(*this);
    awaits_request = false;
  }

  Identity id;  ///< only its port and value ever change
  RcRequester requester;
  RcResponder responder;
  DcqcnNotifier notifier;
  FabricTime timer_at = FabricTime::never();  ///< earliest timer event in the host's queue
  bool silent = false;  ///< it is being destroyed: its failure is not reported
  Touched touched = Touched::kNot;

 private:
  bool may_answer(FabricTime now) const {
    return responder.has_answer() && requester.may_answer() <= now;
  }
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
  void receive_failed(uint64_t receive, std::string_view status) override {
    if (!silent) events_.receive_failed(*this, receive, status);
  }
  void request_refused(std::string_view reason) override { requester.fail(reason); }
  void failed(std::string_view reason) override {
    if (const auto receive = responder.give_up_receive()) receive_failed(receive->id, kFlushed);
    while (!responder.shares_receives() && responder.receives().has_posted()) {
      receive_failed(responder.receives().take_receive()->id, kFlushed);
    }
    if (!silent) events_.failed(*this, reason);
  }

  RcQueuePairEvents& events_;
  WorkLedger ledger_;
  bool answered_last_ = false;
};

}  // namespace mrclab::endpoint
