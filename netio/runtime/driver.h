#pragma once
// Runs the nodes of one process: reads clock and gate, drains every ring, runs its
// nodes, sends, publishes. A tick never blocks; the caller sleeps between ticks.
//
// Threading: one thread. Bounds: a drain reads at most what a ring holds; missing sequence numbers
// are remembered up to kMaxMissing per wire, after which the wire counts as broken.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fabric/node.h"
#include "fabric/trailer.h"
#include "netio/kernel/packet_port.h"
#include "netio/runtime/effect_feed.h"
#include "netio/runtime/gate.h"
#include "netio/runtime/untaken_time.h"

namespace mrclab::netio {

/// Which process runs which nodes. The same in every process of a lab.
struct ProcessMap {
  uint32_t self = 0;
  std::vector<uint32_t> process_of_node;  ///< by NodeId; kNoProcess: not ours (kernel, OVS)
};

/// A frame that the kernel lost, as far as the receiver can tell.
struct WireGap {
  WireId wire;
  uint64_t sequence = 0;
};

/// Why a run was not faithful, and how much margin it had.
struct DriverReport {
  uint64_t frames_received = 0;
  uint64_t frames_sent = 0;
  uint64_t late_frames = 0;
  uint64_t foreign_frames = 0;
  uint64_t unknown_frames = 0;  ///< a trailer that is not this wire's: counted, dropped
  uint64_t failed_sends = 0;
  uint64_t ring_drops = 0;
  uint64_t late_effects = 0;  ///< effects that reached this process after their time
  std::vector<WireGap> gaps;  ///< at most kMaxReportedGaps
  uint64_t gap_count = 0;
  std::vector<std::string> failed_send_reasons;  ///< at most kMaxReportedGaps
  int64_t min_slack_ns = INT64_MAX;
};

class Driver {
 public:
  static constexpr size_t kMaxReportedGaps = 16;
  static constexpr size_t kMaxMissing = 4096;
  /// A tick runs its nodes in slices of the shortest lookahead divided by this, and looks after
  /// each slice at how long the tick has taken (kHandOverNs).
  static constexpr int64_t kSlices = 8;
  /// How long a frame that was sent may stay unseen before it counts as lost by the kernel.
  static constexpr int64_t kGapPatienceNs = 500'000'000;

  /// A tick that takes longer than this publishes what it has done so far, so that the neighbours
  /// can go on.
  static constexpr int64_t kHandOverNs = 300'000;

  Driver(GatePage& page, const Topology& topology, ProcessMap processes, uint32_t incarnation,
         FramePool& frames);
  ~Driver();

  /// `node` and `socket` must outlive the driver.
  void add_node(NodeId id, Node& node, PacketSocket& socket);
  /// Stops committing at `end`; what starts up to there is sent.
  void set_end(FabricTime end) { end_ = end; }
  /// Publishes the next event of this node as the one that a single step waits for; never() if
  /// another process runs the node. Empty: of all nodes.
  void watch(std::optional<NodeId> node);

  using ReadSchedule = std::function<Schedule()>;
  /// Reads the lab's schedule now, and again whenever the page announces a newer version. To be
  /// called when all nodes have been added.
  void follow_schedule(ReadSchedule read);

  /// Takes the place of a process that ended when it had committed `committed`, had received all
  /// frames sent to its nodes, and had nothing queued. The nodes are new; the effects of the
  /// schedule up to `committed` bring them to their predecessors' state. To be called after
  /// follow_schedule().
  void resume(FabricTime committed);

  struct Tick {
    bool advanced = false;     ///< fabric time was committed, or frames were moved
    bool clock_ahead = false;  ///< the gate, not the clock, holds this process back
    bool finished = false;     ///< committed up to the end and every wire accounted for
  };
  Tick tick();

  FabricTime committed() const { return committed_; }
  DriverReport report() const;

 private:
  class Egress;
  /// A frame for a neighbour that is not ours (a kernel, Open vSwitch): it does not read the
  /// trailer, so the frame leaves physically when its last bit does, not when its first bit does.
  struct HeldFrame {
    FabricTime end;
    uint32_t ifindex = 0;
    Frame frame;
  };
  struct HostedNode {
    NodeId id;
    Node* node = nullptr;
    PacketSocket* socket = nullptr;
    std::vector<PortId> port_of_ifindex;
    std::vector<uint32_t> ifindex_of_port;
    std::vector<HeldFrame> held;  ///< in the order of queuing; bounded by the frame pool
    std::vector<Frame> unsent;    ///< queued at the socket until the flush of this tick
  };
  /// The receiving process's account of one incoming wire.
  struct IngressWireState {
    WireId wire;
    NodeId node;
    PortId port;
    uint32_t sender = kNoProcess;
    FabricTime lookahead;
    uint64_t received = 0;  ///< frames that our nodes sent, each counted once
    uint64_t next_sequence = 0;
    std::set<uint64_t> missing;  ///< sequence numbers below next_sequence that were not seen
    uint64_t forgiven = 0;       ///< missing frames that were declared lost
    FabricTime bound;            ///< nothing earlier than this can still arrive
    LabTime unsatisfied_since{0};
    uint64_t seen_when_unsatisfied = 0;
  };

  void take_schedule(uint64_t version);
  /// How far this tick may commit: `target`, or only committed() if the lab has lowered the limit
  /// or replaced the schedule since this tick read them (see gate.h).
  FabricTime claim(FabricTime target);
  void hand_out_effects(FabricTime until);
  void drain(LabTime now);
  void take_frame(HostedNode& hosted, uint32_t ifindex, std::span<const uint8_t> bytes,
                  LabTime received, LabTime now);
  void take_carried(HostedNode& hosted, IngressWireState& wire, const TimeTrailer& trailer,
                    std::span<const uint8_t> bytes, size_t length);
  void take_foreign(HostedNode& hosted, PortId port, std::span<const uint8_t> bytes,
                    LabTime received, LabTime now);
  /// False for a sequence number that has been seen before.
  bool note_sequence(IngressWireState& wire, uint64_t sequence);
  void note_slack(LabTime now);
  void update_bounds(LabTime now);
  void declare_gap(IngressWireState& wire, uint64_t sent);
  FabricTime gate_bound() const;
  void advance(FabricTime target, FabricTime clock, LabTime since);
  void run_nodes(FabricTime target);
  void send(FabricTime clock);
  void release_held(HostedNode& hosted, FabricTime clock);
  void flush(HostedNode& hosted);
  bool is_fast(const Port& port) const;
  bool is_fast_ingress(const IngressWireState& wire) const;
  void deliver_fast(const Port& port, Transmission&& transmission);
  void publish(LabTime now);
  void publish_next_events();
  bool all_accounted_for() const;

  GatePage& page_;
  const Topology& topology_;
  ProcessMap processes_;
  uint32_t incarnation_;
  FramePool& frames_;
  std::vector<HostedNode> nodes_;
  std::vector<uint32_t> hosted_index_;  ///< by NodeId; kNoProcess if not here
  std::vector<IngressWireState> ingress_;
  std::vector<uint32_t> ingress_index_;  ///< by WireId
  std::vector<uint64_t> sent_;           ///< by WireId: next sequence number
  std::vector<WireId> dirty_wires_;
  std::vector<bool> upstream_;  ///< by process
  std::vector<int64_t> done_snapshot_;
  std::vector<uint64_t> sent_snapshot_;
  FabricTime committed_ = FabricTime::from_ps(-1);
  FabricTime end_ = FabricTime::never();
  FabricTime earliest_need_ = FabricTime::never();  ///< among frames drained in this tick
  FabricTime shortest_lookahead_ = FabricTime::never();
  /// Shortest lookahead of a wire inside this process.
  FabricTime fast_lookahead_ = FabricTime::never();
  EffectFeed effects_;
  ReadSchedule read_schedule_;
  uint64_t schedule_ = 0;  ///< version of the schedule that this process has read
  std::optional<NodeId> watched_;
  uint32_t waits_for_ = kNoProcess;
  uint64_t foreign_sequence_ = 0;
  UntakenTime untaken_time_;
  uint64_t sent_to_processes_ = 0;
  uint64_t taken_from_processes_ = 0;
  bool moved_ = false;
  DriverReport report_;
};

}  // namespace mrclab::netio
