#pragma once
// The account of the frames on a process's incoming wires: which ones it has received, which
// ones the kernel has lost, and how early the next one can be.
//
// The driver calls it in each tick: read_gate(), then note() for every frame that it takes from its
// rings, then update_bounds(). The gate must be read before the rings are: a frame that
// was counted as sent by then is in a ring, so that the bound of its wire holds (gate.h).
//
// Bounds: missing sequence numbers are remembered up to kMaxMissing per wire; a frame beyond them
// that comes late all the same counts as a duplicate, and is refused.

#include <cstdint>
#include <set>
#include <vector>

#include "fabric/topology/topology.h"
#include "netio/runtime/gate.h"
#include "netio/runtime/process_map.h"

namespace mrclab::netio {

/// A frame that the kernel lost, by the numbers of those that came.
struct WireGap {
  WireId wire;
  uint64_t sequence = 0;
};

/// How many frames the kernel lost, and which ones the first of them were.
struct GapList {
  static constexpr size_t kMaxListed = 16;
  uint64_t count = 0;
  std::vector<WireGap> listed;  ///< at most kMaxListed
};

class IngressLedger {
 public:
  static constexpr size_t kMaxMissing = 4096;
  /// How long a frame that was sent may stay unseen before it counts as lost by the kernel.
  static constexpr int64_t kGapPatienceNs = 500'000'000;

  /// All three outlive the ledger.
  IngressLedger(GatePage& page, const Topology& topology, const ProcessMap& processes);
  /// The wires that lead to `node` are this process's from now on. Before the first tick.
  void add_node(NodeId node);
  /// For a successor: everything that was ever sent to its nodes has been received.
  void resume();

  /// Reads how far the neighbours are done, and then how much they have sent.
  void read_gate();
  /// Which process puts frames on this incoming wire; kNoProcess: none of ours does.
  uint32_t sender(WireId wire) const { return wires_[index_[wire.value]].sender; }
  /// Counts a frame. False if the same one has been counted before.
  bool count_frame(WireId wire, uint64_t sequence);
  /// Computes anew how early each wire's next frame can be, and gives up frames that stay away.
  void update_bounds(LabTime now);

  /// No frame that comes over a veth from now on is earlier than this.
  FabricTime bound() const;
  /// The process whose wire has the lowest bound; kNoProcess if no wire has any.
  uint32_t waits_for() const { return waits_for_; }
  /// Are the neighbours done up to `end`, and is everything here that they have sent?
  bool complete_until(FabricTime end) const;
  /// Frames from processes that were received, or given up.
  uint64_t taken() const { return taken_; }
  const GapList& gaps() const { return gaps_; }

  /// The shortest lookahead of all incoming wires; never() without a wire.
  FabricTime shortest_lookahead() const { return shortest_lookahead_; }
  /// The same of the wires that stay inside this process.
  FabricTime shortest_lookahead_inside() const { return shortest_lookahead_inside_; }

 private:
  struct IncomingWire {
    WireId id;
    uint32_t sender = kNoProcess;
    bool inside = false;  ///< stays_inside()
    FabricTime lookahead;
    uint64_t sent = 0;      ///< as read_gate() has read it
    uint64_t received = 0;  ///< frames of ours seen, each counted once
    uint64_t next_sequence = 0;
    std::set<uint64_t> missing;  ///< below next_sequence, not seen
    uint64_t forgiven = 0;       ///< given up
    FabricTime bound;            ///< nothing earlier than this can still arrive
    LabTime unsatisfied_since{0};
    uint64_t seen_when_unsatisfied = 0;

    bool complete() const { return received + forgiven >= sent; }
  };

  /// A process is there that could still send over this wire in carried time.
  bool is_live(const IncomingWire& wire) const {
    return wire.sender != kNoProcess && in_gate(page_.state(wire.sender));
  }
  void update_bound(IncomingWire& wire, LabTime now);
  void give_up_missing(IncomingWire& wire);

  GatePage& page_;
  const Topology& topology_;
  const ProcessMap& processes_;
  std::vector<IncomingWire> wires_;
  std::vector<uint32_t> index_;   ///< by WireId; kNoProcess if it does not lead to this process
  std::vector<bool> upstream_;    ///< by process
  std::vector<int64_t> done_ps_;  ///< by process, as read_gate() has read it
  FabricTime shortest_lookahead_ = FabricTime::never();
  FabricTime shortest_lookahead_inside_ = FabricTime::never();
  uint32_t waits_for_ = kNoProcess;
  uint64_t taken_ = 0;
  GapList gaps_;
};

}  // namespace mrclab::netio
