#pragma once
// The simulated world: the same nodes, wires and faults in one process and virtual time. No root,
// no namespaces, no clock.
//
// Time goes in windows: nothing that starts in a window needs an event of a node that runs in it, so within a
// window nodes do not depend on each other. They run one after the other, or split over threads and processes
// that meet at the end of each window; the history is the same (tested). Only nodes that have an event in a
// window are touched. The two sides of a fabric (bipartition.h) run in turns, each for two lookaheads, because
// the effect of a node's own frames returns to it over two wires. Where very much happens in that time, windows
// are shorter: the caller is asked after each of them whether to go on.

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "fabric/node/effect.h"
#include "fabric/node/node.h"
#include "fabric/topology/topology.h"
#include "sim/bipartition.h"
#include "sim/rank_link.h"
#include "sim/sim_shard.h"

namespace mrclab::lab {

class SimWorld {
 public:
  static constexpr uint32_t kMaxThreads = 64;

  struct Options {
    uint64_t seed = 0;
    std::vector<ScheduledEffect> schedule = {};
    FrameRoom room = {};   ///< kHeaderRoom if no host sends payload
    uint32_t threads = 1;  ///< 1 to kMaxThreads; hosts are split evenly, switches by plane
    /// Nodes that have nothing to do until a frame or an effect comes: they are made then, so that they take no memory
    /// before. Null: all are made at once. Called by the constructor.
    std::function<bool(NodeId)> waits = {};
    /// The processes that have a part of the nodes each, with so many threads each; null: this one has
    /// all. It outlives the world, which then holds the nodes of this rank only (is_here).
    RankLink* ranks = nullptr;
    /// In one window the nodes of all ranks together start about so many frames at most. 0: the world takes
    /// frames_at_once() of its nodes.
    uint64_t frames_at_once = 0;
  };
  using MakeNode = std::function<std::unique_ptr<Node>(const NodeEnvironment&)>;
  using ObserverOf = std::function<NodeObserver&(NodeId)>;

  /// How many frames a window of so many nodes has at most, about: a quarter of a second of a laptop, or 64 of each node,
  /// which are four seconds in a fabric of 131,072 hosts (our choice; between windows a run can be interrupted). Each node
  /// runs once in a window, and loads then all that it keeps of its ports: in windows of two frames of each node that was
  /// most of what such a fabric took (tests/bench/README.md). Ranks have less where one message between two of them could
  /// not hold the frames of `room`.
  static uint64_t frames_at_once(uint64_t nodes, uint32_t ranks, const FrameRoom& room);
  /// `topology` and the observers outlive the world. With several threads, nodes of different
  /// shards (shard_of) run at once, so their observers share nothing. `make_node` is called later as well, for nodes
  /// that wait, by the thread of their shard.
  SimWorld(const Topology& topology, const Options& options, const MakeNode& make_node,
           const ObserverOf& observer_of);
  ~SimWorld();

  /// Called after each window with the instant that the world has reached; false stops it there.
  using GoOn = std::function<bool(FabricTime now)>;
  /// Processes every event up to `until`. Returns false when nothing is left to happen. What a node
  /// or an observer throws comes out here; then the world is only good for being destroyed. All ranks
  /// call it with the same `until`, and end together where `go_on` of one returns false, or with
  /// OtherRankFailed where another one threw.
  bool run_until(FabricTime until, const GoOn& go_on = {});
  FabricTime now() const { return now_; }
  /// Null: it waits for something to do, or is of another rank.
  const Node* made_node(NodeId id) const { return world_.nodes[id.value].get(); }
  /// A node of this rank. One that waits is made.
  const Node& node(NodeId id) const { return shard_here(id).node(id); }
  /// For what lives on a node, between its events or in them.
  Node& node(NodeId id) { return shard_here(id).node(id); }
  /// A node got an event from another node past the wires, at least one window ahead (longest_window). From a world of
  /// one thread and one rank alone.
  void plan(NodeId id) { shard_here(id).plan(id); }
  /// The most that one node can be ahead of another.
  FabricTime longest_window() const { return sides_.longest_window(); }
  /// Has this rank the node?
  bool is_here(NodeId id) const {
    const uint32_t shard = world_.shard_of[id.value];
    return shard >= world_.first_shard && shard <= world_.last_shard;
  }
  /// The shard, from 0, that a node belongs to: one for each thread of each rank.
  static uint32_t shard_of(const Topology& topology, NodeId node, uint32_t shards);
  /// How evenly the threads of this process were busy; nothing for a single one.
  struct Balance {
    uint64_t windows = 0;
    double busy = 0;     ///< CPU seconds of all threads, without waiting for each other
    double longest = 0;  ///< the sum over windows of those of the thread that took longest
  };
  const Balance& balance() const { return balance_; }

 private:
  SimShard& shard_here(NodeId node) const;
  bool next_window(FabricTime until);
  void take_turn(uint8_t side, FabricTime until, const WindowVote& vote);
  bool catch_up();
  void fit_windows(uint64_t frames);
  void ask(const GoOn& go_on);
  void try_step(const std::function<void()>& step) noexcept;
  void run_alone(FabricTime until, const GoOn& go_on);
  void run_together(FabricTime until, const GoOn& go_on);
  void exchange_letters();
  void share_buffers();

  SimShard::World world_;
  std::vector<std::unique_ptr<SimShard>> shards_;  // of this rank
  RankLink* ranks_;
  uint32_t first_shard_ = 0;
  std::vector<std::vector<uint8_t>> letters_;  // by rank
  bool stopped_ = false;                       // go_on returned false
  std::exception_ptr failure_;                 // of this rank
  Balance balance_;
  Bipartition sides_;
  uint64_t frames_at_once_;
  FabricTime window_ = FabricTime::from_ns(1);  ///< length of the next: at most two lookaheads
  FabricTime now_ = FabricTime::from_ps(-1);    ///< all events up to here are done
  uint8_t turn_ = 0;                            ///< the side that the window is of
  FabricTime window_end_;
  std::array<FabricTime, 2> reached_{now_, now_};  ///< by side
  bool alive_ = true;
};

}  // namespace mrclab::lab
