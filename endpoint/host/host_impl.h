#pragma once
// The inside of HostNode; only host_*.cc include it. It joins the parts of a host: each event goes to the
// part that it is for, each packet to its queue pair, and what one part finds out to those that it concerns.
//
//   HostImpl                                        events: host_node.cc
//     |-- HostShared         profile, time, events, counters
//     |-- NicPorts           ports and control packets
//     |-- ReceiveSide        shares, buffer before memory     packets: host_receive.cc (NicChecks)
//     |-- QueuePairTable     requester, responder             host_queue_pairs.cc
//     |-- RoceSide           RC queue pairs                   roce_side.cc
//     |-- HostPeers          port status, ways back, windows
//     |-- HostRoutes         the NIC's BGP speaker            host_routing.cc
//     |-- MapperAgent        probes of the fabric's links      host_routing.cc
//     |-- NeighbourAgent     LLDP, uplinks that T0s do not use host_routing.cc
//     |-- ApplicationRunner  applications and their notices   (WorkloadBuilder makes them)
//     |-- DataSender         which packet is next
//     |-- HostDenials        what a controller denies         faults: host_effects.cc, lists: host_routing.cc
//     |-- DenylistCollector  on one host: decides the list    host_routing.cc
//     '-- HostDevice         verbs for programs outside       host_device.cc, _states.cc, _work.cc
//
// One event is processed like this: the event itself, then what it means to applications (completions
// queued by the queue pairs), then whatever ports can start, then timers are set anew.

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "endpoint/host/application_runner.h"
#include "endpoint/host/data_sender.h"
#include "endpoint/host/host_account.h"
#include "endpoint/host/host_config.h"
#include "endpoint/host/host_peers.h"
#include "endpoint/host/host_routes.h"
#include "endpoint/host/host_shared.h"
#include "endpoint/host/nic_checks.h"
#include "endpoint/host/nic_pauses.h"
#include "endpoint/host/nic_ports.h"
#include "endpoint/host/queue_directory.h"
#include "endpoint/host/receive_side.h"
#include "endpoint/host/roce_side.h"
#include "endpoint/host/verbs.h"
#include "endpoint/host/workload_builder.h"
#include "endpoint/mapper/denylist_collector.h"
#include "endpoint/mapper/host_denials.h"
#include "endpoint/mapper/mapper_agent.h"
#include "endpoint/paths/ev_events.h"
#include "endpoint/queue_pair/queue_pair_table.h"
#include "fabric/neighbours/neighbour_agent.h"
#include "fabric/node/node.h"
#include "fabric/node/pause_account.h"

namespace mrclab::endpoint {

class HostDevice;

/// More functions than other classes have: a packet has many kinds, and a queue pair many reports.
class HostImpl : public QueuePairEvents {
 public:
  HostImpl(const NodeEnvironment& environment, const HostConfig& config);
  ~HostImpl() override;

  void receive(PortId port, Arrival&& arrival);
  ArrivalQueue* arrivals() { return host_.events.arrivals(); }
  void apply(const ScheduledEffect& effect) { host_.events.push_effect(effect); }
  FabricTime next_event() const { return std::min(host_.events.next_time(), ports_.next_end()); }
  void fetch() const;
  void run_until(FabricTime committed, FrameSink& out);
  HostStats stats() const;
  std::optional<NodePauses> pauses() const;
  std::vector<QueueCounts> queues() const;
  std::optional<EvEvent> poll_ev_event() { return ev_events_.poll(); }
  bool finished() const { return applications_.finished(); }
  bool work_ended() const { return applications_.work_ended(); }
  Device& device();
  std::vector<WorkReport> work() const { return applications_.work(); }
  std::vector<JobReport> jobs() const { return applications_.jobs(); }
  const HostRoutes* routes() const { return routes_.get(); }

 private:
  friend class
      HostDevice;  // a program outside, to which the host is as open as to its applications

  // Events (host_node.cc).
  void process(const HostEvent& event);
  void after_event(FrameSink& out);
  void ring_doorbell();
  void settle_touched();
  void tell_window(Peer& peer);
  void set_timer(QueuePair& qp);
  void on_qp_timer(QueuePair& qp);
  void on_port_notice(PortId port);

  // Routing by itself (host_routing.cc).
  void start_routes();
  void plan_routes(FabricTime at);
  void run_routes();
  void on_wire_rate(const WireRate& rate);

  // The mapper's agent (host_routing.cc).
  void plan_mapper();
  void run_mapper();
  bool take_probe(uint32_t port, const Frame& frame);

  // Neighbours (host_routing.cc).
  void plan_neighbours();
  void run_neighbours();
  void take_neighbour(uint32_t port, const Frame& frame);
  void after_neighbours();
  // The denylist (host_routing.cc).
  void start_denylist();
  std::vector<EntropyValue> values_of(const QueuePair& qp) const;
  void apply_denials(QueuePair& qp);
  void apply_denials(Peer& peer);
  void list_changed(std::string_view cause);
  void send_message(uint32_t to, const MapperMessage& message);
  void send_message_over(const Path& path, uint32_t to, const MapperMessage& message);
  void send_report(const ProbeReport& report);
  void run_collector();
  bool take_message(uint32_t port, const Frame& frame);
  bool take_message_of(uint32_t source, MapperMessage& message);

  // Queue pairs (host_queue_pairs.cc).
  void add_queue_pairs(const OwnConnections& connections);
  QueuePair& add_queue_pair(QueuePair::Identity id, uint32_t peer_host,
                            const ConnectionLimits& limits,
                            const std::vector<EntropyValue>& profile = {});
  void remove_queue_pair(QueuePair& qp);
  std::vector<EntropyValue> evs_of_queue_pair(const QueuePair::Identity& id, uint32_t host) const;
  // QueuePairEvents
  void write_completed(QueuePair& qp, uint64_t id) override;
  void write_failed(QueuePair& qp, uint64_t id, std::string_view status) override;
  void immediate_received(QueuePair& qp, const ReceiveCompletion& completion) override;
  void receive_failed(QueuePair& qp, uint64_t id, std::string_view status) override;
  void ev_changed(QueuePair& qp, EntropyValue ev, EvState to) override;
  void ev_swapped(QueuePair& qp, EntropyValue in, EntropyValue out) override;
  void loss_detected(QueuePair& qp, EntropyValue ev, Psn psn, std::string_view cause) override;
  void failed(QueuePair& qp, std::string_view reason) override;

  // What is done to the host from outside (host_effects.cc).
  void on_effect(const Effect& effect);
  void on_host_state(HostWork work);
  void on_drain(const HostDrain& drain);
  void on_storm(bool storming);
  void power_off();
  void on_burst(const HostBurst& burst);
  void on_attack(const HostAttack& attack);
  void on_verbs(const HostVerbs& verbs);
  void plan_attack();
  void on_denial(const EvDenial& denial);
  std::vector<Path> datagram_paths(uint32_t host) const;

  // Packets, in and in answer (host_receive.cc).
  void on_arrival(uint32_t port, Arrival arrival);
  Refusal deliver(uint32_t port, const MrcPacket& packet);
  Refusal deliver_to_qp(uint32_t port, const MrcPacket& packet);
  Refusal deliver_sack(const Seth& seth, QueuePair& qp);
  Refusal deliver_write(uint32_t port, const MrcPacket& packet, QueuePair& qp);
  void on_memory();
  void add_service_time(const QueuePair& qp, const MrcPacket& packet, Replies& replies) const;
  void send_replies(QueuePair& qp, const Replies& replies, uint32_t port);
  void send_sack(QueuePair& qp, const Seth& seth, uint32_t in_port);
  void send_control(QueuePair& qp, Opcode opcode, Psn psn, const Extension& extension);
  void send_probes(QueuePair& qp);

  HostShared host_;
  NicPorts ports_;
  NicChecks checks_;
  ReceiveSide receiving_;  ///< before queue_pairs_, whose bitmaps go back here
  NicPauses pauses_;
  HostMemory memory_;
  /// What memory_ was each time that the host lost its power. Frames under way may point into it, and the fault
  /// schedule bounds how many there are.
  std::vector<HostMemory> lost_memory_;
  HostPeers peers_;  ///< before queue_pairs_, which use their windows to the end
  QueuePairTable queue_pairs_;
  RcQueuePairTable rc_queue_pairs_;
  QueueDirectory queues_;
  ApplicationRunner applications_;
  RoceSide roce_;
  DataSender sender_;
  std::unique_ptr<HostRoutes> routes_;               ///< where NICs speak
  std::vector<uint32_t> partners_;                   ///< hosts that its connections lead to
  FabricTime routes_planned_ = FabricTime::never();  ///< the earliest event for them in the queue
  std::unique_ptr<MapperAgent> mapper_;              ///< where the fabric has a mapper
  FabricTime mapper_planned_ = FabricTime::never();  ///< likewise
  FabricTime attack_planned_ = FabricTime::never();  ///< likewise
  std::unique_ptr<NeighbourAgent> neighbours_;       ///< where the fabric has an orchestrator
  FabricTime neighbours_planned_ = FabricTime::never();
  std::vector<UplinkSet>
      unused_uplinks_;  ///< by port: as its T0 says; their entropy values are denied
  HostDenials denials_;
  std::unique_ptr<DenylistCollector> collector_;  ///< where this host is the one that decides
  uint32_t collector_host_ = 0;
  uint64_t messages_sent_ = 0;  ///< to the mapper's port; each goes by the next path
  bool list_announced_ = true;  ///< the list that the host began with is in force
  EvEventQueue ev_events_;
  HostDevice* device_ = nullptr;  ///< one of applications_; null until a program asks for it
  bool is_planned_ = false;       ///< the queue pairs of the plan are there
  bool doorbell_ = false;         ///< an event for new posts stands in the queue
  HostWork work_ = HostWork::kRunning;
  FabricTime power_lost_;  ///< what had arrived before and was not looked at yet is gone
  MrcPacket packet_;       ///< in hand; here, because whoever decodes it clears it anyway
  FabricTime waited_;      ///< how long the packet in hand waited for this host's software
};

}  // namespace mrclab::endpoint
