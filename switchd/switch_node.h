#pragma once
// A T0 or T1 switch. Pure: no clock, no sockets; the live world and the simulator drive the same
// object. One thread at a time.
//
//   arrival --(+ switch_latency)--> cut or lost? -> uSID table -> egress port's queues -> wire
//
// An arrival is processed one ingress latency after its last bit came in, in the order (time,
// class, port, sequence); records carry the time of the bit, not of the processing:
//   kPassed/kIngress   the last bit arrived
//   kDropped/kIngress  cut or lost on the wire: at that same time, and there is no kPassed.
//                      Refused by the pipeline (hop limit, unknown uSID, ...): one ingress latency
//                      later, after its kPassed
//   kDropped/kEgress   at the instant the queue refused it or the port lost its carrier; `port` is
//                      the egress port; a frame refused by the control queue is recorded untrimmed
//   kPassed, kTrimmed/kEgress  recorded when transmission starts, with the time of its last bit
// A late arrival (the world has counted it) is processed as if it had come in just in time.
//
// Where the fabric says `switching: cut_through` a frame is looked at when its headers have passed the pipeline
// (Topology::pipeline_time), so earlier than one ingress latency after its last bit, but never before that bit. If its
// port is faster than the one that it came in by it is stored until that latency is over. What is lost on the wire, or
// fails its check, is dropped here and does not travel on: real switches that have begun to send it spoil its check, and
// the next one that stores it drops it.
//
// Faults of the switch itself (fabric/node/effect.h):
//   hung       its queues are dropped (kSwitchHung, egress), and so is every frame that would have
//              been forwarded meanwhile (ingress, after its kPassed); a transmission goes on
//   no power   likewise with kSwitchDown, also what was between its last bit and the pipeline's end
//              when the power went; nothing more arrives, as the links are dark
//   no table   every IPv6 packet of the fabric's block is kUnknownUsid
//   bit errors bit_flips.h
//
// Where the fabric pauses RoCE's data (fabric/packet/pause_frame.h) a pause frame that arrives takes effect one
// ingress latency after its last bit, and ends with the node: it is recorded with the queue class kPause.
// A switch that hangs sends and receives no pauses; its neighbours go on when the time of the last one that they
// received is over.
//
// Where switches route by themselves (routing: fare) it has a speaker (fare_speaker.h). A packet for the switch itself
// goes there when it comes out of the pipeline; what the speaker sends is queued at once as control, and recorded as it
// leaves. It runs once for all frames of an instant, as its timers do, before transmissions that end then. A
// switch that hangs stops its speaker; one that loses its power loses sessions and routes.
//
// Where the fabric has an orchestrator it names itself to its neighbours (fabric/neighbours/neighbour_agent.h), sends
// nothing by hash to a neighbour that is not the planned one or does not forward, and after a loss of power has no table
// until it was provisioned and checked (switch_neighbours.cc).
//
// Limits: arrivals in hand are bounded by their frame pool, effects by the fault schedule, queues
// by the topology's thresholds. Nothing is allocated per packet once the queues are warm. Not done
// yet: ICMP errors.

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/base/cache_line.h"
#include "fabric/base/event_queue.h"
#include "fabric/base/slots.h"
#include "fabric/neighbours/neighbour_agent.h"
#include "fabric/node/arrival_queue.h"
#include "fabric/node/node.h"
#include "fabric/node/port_groups.h"
#include "fabric/node/soonest_port.h"
#include "fabric/node/wire_model.h"
#include "switchd/bit_flips.h"
#include "switchd/counters.h"
#include "switchd/egress_port.h"
#include "switchd/fare_speaker.h"
#include "switchd/forwarding_table.h"
#include "switchd/pause_control.h"
#include "switchd/usid_carrier.h"
#include "switchd/usid_counts.h"

namespace mrclab::switchd {

/// Of a switch of a fabric with an orchestrator. Only in service has it a table.
enum class ServicePhase : uint8_t { kInService, kDown, kProvisioning, kChecking, kKeptOut };

class SwitchNode : public Node {
 public:
  /// `environment.self` must be a T0 or T1 of the topology.
  explicit SwitchNode(const NodeEnvironment& environment);

  void receive(PortId port, Arrival&& arrival) override;
  ArrivalQueue* arrivals() override { return &arrivals_; }
  void apply(const ScheduledEffect& effect) override;
  FabricTime next_event() const override {
    return std::min({events_.next_time(), arrivals_.next_time(), ends_.next_time()});
  }
  void fetch() const override;
  /// Flat: a hop is a dozen short steps of several classes, and their calls would be a tenth of what it costs
  /// (tests/bench/README.md). What few hops need is kept out of it by noinline.
  [[gnu::flatten]] void run_until(FabricTime committed, FrameSink& out) override;

  /// Counters as of the committed time.
  SwitchCounters counters() const;
  /// The same with names, for the control socket.
  NamedCounters named_counters() const;
  /// Null where the fabric pauses nothing.
  /// The buffer that queues share; null where each has its own.
  const IngressBuffer* shared_buffer() const { return const_cast<SwitchNode*>(this)->buffer(); }
  const PauseControl* pause_control() const { return pause_ ? &*pause_ : nullptr; }
  /// Its account of pauses, as of the committed time; empty where the fabric pauses nothing.
  std::optional<NodePauses> pauses() const;
  /// Frames trimmed so far by all ports; counters() costs more and this is asked every few ms.
  uint64_t trimmed() const;
  const ForwardingTable& table() const { return table_; }
  const Topology& topology() const { return environment_.topology; }
  NodeId self() const { return environment_.self; }
  /// Null unless switches route by themselves.
  const routing::Speaker* speaker() const { return fare_ ? &fare_->speaker() : nullptr; }
  /// Null unless their groups are protected before routing has decided.
  const FastReroute* fast_reroute() const { return fare_ ? fare_->fast_reroute() : nullptr; }
  /// Null unless the fabric has an orchestrator.
  const NeighbourAgent* neighbours() const { return neighbours_ ? &*neighbours_ : nullptr; }
  /// Counters by uSID, for uSIDs that were seen: an own one counts what it shifted, another one
  /// what was sent by its route. Packets without a route count for the uSID 0.
  const UsidCounts& usid_counts() const { return usids_; }

 private:
  /// It begins with a cache line. The first four lines hold all that is read and written of a sound port when a frame
  /// passes it.
  struct alignas(kCacheLine) PortState {
    /// When the last bit of its newest frame leaves.
    FabricTime sends_until = FabricTime::from_ps(-1);
    IngressWire in;
    PortTally tally;
    EgressPort egress;  ///< `wakes`: ends_ holds the end of that transmission
  };
  static constexpr size_t kHotPortBytes = 4 * kCacheLine;
  static_assert(sizeof(PortState) <= kHotPortBytes);

  void begin(FabricTime at, EventClass event_class, uint32_t port) {
    assert(at >= committed_);
    committed_ = at;
    running_class_ = event_class;
    running_port_ = port;
  }
  [[gnu::noinline]] void on_event(FrameSink& out);
  void on_arrival(FabricTime now, PortId port, Arrival& arrival, FrameSink& out);
  DropCause loss_inside(FabricTime arrived, Frame& frame);
  void forward(FabricTime now, PortId port, FabricTime lead, Frame&& frame, FrameSink& out);
  DropCause denied_at(PortId port, const Frame& frame) const;
  static UsidCarrier carrier_of(const Frame& frame);
  void count_usids(const UsidCarrier& carrier, DropCause drop, Bytes size);
  void enqueue(FabricTime now, const ForwardingDecision& decision, PortId ingress, Frame&& frame,
               FrameSink& out);
  [[gnu::noinline]] void store(FabricTime now, FabricTime lead, const ForwardingDecision& decision,
                               PortId ingress, Frame&& frame);
  [[gnu::noinline]] void go_on(FabricTime now, uint32_t slot, FrameSink& out);
  [[gnu::noinline]] void enqueue_paused(FabricTime now, const ForwardingDecision& decision,
                                        PortState& state, PortId ingress, Frame&& frame,
                                        FrameSink& out);
  /// Here and below `state` is that of the port where the frame leaves.
  bool admit(FabricTime now, const ForwardingDecision& decision, PortState& state, PortId ingress,
             Frame& frame);
  // Routing by itself.
  void start_speaker(FabricTime now);
  void run_speaker(FabricTime now, FrameSink& out);
  [[gnu::noinline]] void plan_speaker(FabricTime at);
  void on_wire_rate(FabricTime now, const WireRate& rate);
  // Neighbours, and being provisioned (switch_neighbours.cc).
  void start_neighbours(FabricTime now);
  void plan_neighbours(FabricTime at);
  void run_neighbours(FabricTime now, FrameSink& out);
  [[gnu::noinline]] void on_neighbour_frame(FabricTime now, PortId port, const Frame& frame);
  void after_neighbours(FabricTime now);
  void refresh_port(PortId port);
  void on_service_state(FabricTime now, SwitchWork before);
  void step_service(FabricTime now);
  void set_phase(FabricTime now, ServicePhase phase, std::string why);
  // Flow control.
  [[gnu::noinline]] void on_pause_frame(FabricTime now, PortId port, const Frame& frame,
                                        FrameSink& out);
  void on_pause_timer(FabricTime now, PortId port, FrameSink& out);
  [[gnu::noinline]] void release(FabricTime now, PortId ingress, Bytes length);
  void tell_neighbour(FabricTime now, PortId port, FrameSink& out);
  void look_again(FabricTime at, PortId port);
  void look_at_all_pauses(FabricTime now);
  bool stands_still() const { return work_ == SwitchWork::kHung || work_ == SwitchWork::kDown; }
  void drop_waiting(FabricTime now, PortId port);
  PortId least_loaded(std::span<const PortId> ports);
  void start_next(FabricTime now, PortId port, PortState& state, FrameSink& out);
  bool sends_behind(FabricTime sends_until, PortId port) const;
  void wake_when_sent(PortId port, PortState& state);
  void on_effect(FabricTime now, const Effect& effect);
  void on_port_carrier(FabricTime now, const PortCarrier& carrier);
  void on_switch_state(FabricTime now, SwitchWork work);
  void flush(FabricTime now, PortId port, DropCause cause);
  void record_flushed(FabricTime now, PortId port, DropCause cause,
                      const EgressPort::Flushed& flushed);
  void record(FabricTime t, PortId port, Direction direction, PacketEvent event, DropCause cause,
              QueueClass queue, const Frame& frame);
  [[gnu::noinline]] void record_drop(FabricTime t, PortId port, Direction direction,
                                     DropCause cause, QueueClass queue, const Frame& frame);
  /// The buffer that ports share; null where each queue has its own.
  IngressBuffer* buffer() { return pause_ ? &pause_->buffer() : unpaused_ ? &*unpaused_ : nullptr; }
  /// Is what waits there in that buffer, and dropped or trimmed where it has no room?
  bool is_pooled(QueueClass queue) const {
    return queue == QueueClass::kLossless ? pools_roce_ : pools_mrc_ && queue != QueueClass::kPause;
  }
  EgressSettings settings_of(PortId port) const;
  const QueueRules& rules_of(const EgressSettings& settings);
  PortState make_port(uint32_t port);
  PortState& at(PortId port) {
    return ports_.at(port.value, [this](uint32_t number) { return make_port(number); });
  }
  /// Null if the switch has not made the port yet: no frame has come to it or to a port beside it, and no fault.
  const PortState* find(PortId port) const { return ports_.find(port.value); }
  uint32_t port_count() const { return ports_.ports(); }
  /// In an event of kApplication, in place of a port: it is for neighbours_, not for the speaker.
  static constexpr uint32_t kForNeighbours = 1;

  NodeEnvironment environment_;
  FabricTime latency_;
  ForwardingTable table_;
  UsidCounts usids_;
  SwitchWork work_ = SwitchWork::kForwarding;
  FabricTime power_lost_;  // frames that had arrived before and were not forwarded yet are gone
  QueueFaults queue_faults_;
  BitFlips flips_;
  std::optional<FareSpeaker> fare_;
  FabricTime speaker_planned_ = FabricTime::never();  // the earliest event for it in the queue
  std::optional<NeighbourAgent> neighbours_;          ///< where the fabric has an orchestrator
  FabricTime neighbours_planned_ = FabricTime::never();
  ServicePhase phase_ = ServicePhase::kInService;
  std::string phase_why_;
  FabricTime provisioned_;  ///< when its table is there, after a loss of power
  std::optional<PauseControl> pause_;
  std::optional<IngressBuffer> unpaused_;  ///< the buffer where queues share it and none pauses
  bool pools_roce_ = false;  ///< RoCE's queues are in it, and may be dropped for want of room
  bool pools_mrc_ = false;   ///< those of all other classes are
  Bytes lossless_room_;      ///< EgressSettings::lossless_room, as built
  std::vector<FabricTime>
      pause_timers_;  // by port, where the fabric pauses: the earliest one in the queue
  uint64_t adaptive_draws_ = 0;
  std::vector<PortId> least_loaded_;                      // of one choice
  std::vector<std::unique_ptr<QueueRules>> queue_rules_;  // few: ports of one kind share theirs
  PortGroups<PortState> ports_;
  ArrivalQueue arrivals_;
  SoonestPort ends_;  // when a port that has more to send has sent its frame; never() for others
  EventQueue<uint32_t> events_;  // all others; payload: slot of an effect
  Slots<Effect> effects_;
  /// A frame that was looked at before all of it was in, and goes on faster than it came.
  struct Stored {
    FabricTime looked_at;
    ForwardingDecision decision;
    PortId ingress;
    Frame frame;
  };
  Slots<Stored> stored_;  // each has an event; as many as come in within a latency
  // run_until() handles an event of this class and port now; its instant is committed_.
  EventClass running_class_{};
  uint32_t running_port_ = 0;
  uint64_t local_sequence_ = 0;
  FabricTime committed_;
  Frame nothing_;  // stands in records for a frame whose bytes are not kept
};

}  // namespace mrclab::switchd
