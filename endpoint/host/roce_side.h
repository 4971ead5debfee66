#pragma once
// What a host does for its RC queue pairs (endpoint/roce): their creation, packets in and out, timers, and
// their reports. Each has one port and one path for all its life: if those fail, so does its
// traffic. Only where NICs have routes (host_routes.h) it moves to another port when its plane does not lead to its
// peer any more, and back.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "endpoint/host/application_runner.h"
#include "endpoint/host/host_shared.h"
#include "endpoint/host/nic_pauses.h"
#include "endpoint/host/nic_ports.h"
#include "endpoint/host/receive_side.h"
#include "endpoint/plan/connection_plan.h"
#include "endpoint/roce/loop_wire.h"
#include "endpoint/roce/rc_queue_pair_table.h"

namespace mrclab::endpoint {

class RoceSide : private RcQueuePairEvents {
 public:
  /// All of them outlive it.
  RoceSide(HostShared& host, NicPorts& ports, ReceiveSide& receiving, NicPauses& pauses,
           const MemoryRegistry& memory, ApplicationRunner& applications,
           RcQueuePairTable& queue_pairs);

  /// The queue pair of `connection` at its end `mine`. Its port is that of the plane with the connection's
  /// number, modulo planes (our choice: queue pairs are spread evenly, and both ends agree).
  void add_queue_pair(const ConnectionPlan& connection, const EndPlan& mine, const EndPlan& theirs);

  /// The host's routes to that one are others: weights by plane. Queue pairs that a connection plan made spread over
  /// planes by weight (draft-xu-idr-fare-in-mpson: at least one per plane); with equal weights each has the plane of
  /// its number, as long as that leads there.
  void on_routes(uint32_t host, const std::vector<uint32_t>& weights);

  /// One that is made from outside. `id.handle` and `id.ev` are given here; parameters_of_port(id.port) is
  /// what its parameters are made from. What looped ones do is no part of the host's counts.
  RcQueuePair& add_queue_pair(RcQueuePair::Identity id, const RcParameters& parameters);
  RcParameters parameters_of_port(uint32_t port) const;
  /// Neither the application nor the peer gets a report.
  void remove_queue_pair(RcQueuePair& qp);

  /// A packet of RC that has passed all checks below the transport.
  Refusal deliver(uint32_t port, const MrcPacket& packet);
  /// The timer event of the queue pair at `place`.
  void on_timer(uint32_t place);
  /// The event of packets that the NIC loops back.
  void on_loop();
  /// Starts a packet of the queue pair at `place`, if it has one for `ports`, or of another one of its port whose
  /// turn it is. False if not; `sent` remains false if there was no buffer for it.
  bool start_packet(uint32_t place, uint32_t ports, FrameSink& out, bool& sent) {
    // Most queue pairs that are asked have another port.
    const uint8_t port = port_of_place_[place];
    return port != kNoPort && (ports & 1u << port) != 0 && start_packet_of(place, out, sent);
  }
  /// One event per queue pair that the event in hand was about stands in the queue.
  void set_timers() {
    if (!queue_pairs_.touched().empty()) set_timers_of_touched();
  }

  RcQueuePairTable& queue_pairs() { return queue_pairs_; }
  void add_counts(std::vector<QueueCounts>& all) const;
  void add_states(HostStats& stats) const;
  /// The host loses its power.
  /// CNPs of that host change no rate, or do again.
  void set_heedless(uint32_t host, bool heedless);
  void power_off();

 private:
  bool start_packet_of(uint32_t place, FrameSink& out, bool& sent);
  uint32_t next_of_port(uint32_t place);
  /// By which port the queue pair at `place` sends from now on.
  void note_port(uint32_t place, uint8_t port);
  void run_loop();
  bool marks(const MrcPacket& packet, RcQueuePair& qp);
  Refusal deliver_response(const MrcPacket& packet, RcQueuePair& qp);
  void set_timers_of_touched();
  Refusal deliver_request(const MrcPacket& packet, RcQueuePair& qp);
  void send_control(const RcQueuePair& qp, Opcode opcode, Psn psn, const Extension& extension);
  bool may_notify(RcQueuePair& qp);
  void send_cnp(const RcQueuePair& qp);
  // RcQueuePairEvents
  void work_completed(RcQueuePair& qp, uint64_t id) override;
  void work_failed(RcQueuePair& qp, uint64_t id, std::string_view status) override;
  void message_received(RcQueuePair& qp, const ReceiveCompletion& completion) override;
  void receive_failed(RcQueuePair& qp, uint64_t id, std::string_view status) override;
  void first_request(RcQueuePair& qp) override;
  void loss_detected(RcQueuePair& qp, Psn psn, std::string_view cause) override;
  void failed(RcQueuePair& qp, std::string_view reason) override;

  HostStats& loop_stats();

  HostShared& host_;
  NicPorts& ports_;
  ReceiveSide& receiving_;
  NicPauses& pauses_;
  const MemoryRegistry& memory_;
  ApplicationRunner& applications_;
  RcQueuePairTable& queue_pairs_;
  LoopWire loop_;
  FabricTime loop_at_ = FabricTime::never();  ///< earliest event for it in the queue
  std::unique_ptr<HostStats>
      loop_stats_;  // what looped queue pairs count; RoceSide makes it with the first of them
  static constexpr uint8_t kNoPort = 0xFF;
  std::vector<uint8_t> port_of_place_;  ///< kNoPort: nothing leaves there by a port
  std::vector<uint32_t> turn_of_port_;  // place that is looked at first
  std::vector<FabricTime> cnps_after_;  // by port or by host: when the next CNP may go
  std::vector<uint32_t> heedless_;      ///< hosts whose CNPs it takes no notice of
};

}  // namespace mrclab::endpoint
