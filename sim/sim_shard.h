#pragma once
// The nodes of the simulated world that one thread runs, and what it needs for that alone: a frame
// pool, the order in which nodes are due, and cross-shard frames, which hold what these nodes send until it is handed over.

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "fabric/base/event_queue.h"
#include "fabric/node/arrival_queue.h"
#include "fabric/node/node.h"
#include "fabric/topology/topology.h"
#include "sim/cross_shard_frame.h"

namespace mrclab::lab {

class SimShard : private FrameSink {
 public:
  /// The port at the other end of a wire, the shard that it is of, and how many frames the wire has carried. It is 16
  /// bytes long, because every frame needs one and few of them are in a cache.
  struct Hop {
    NodeId to;
    uint32_t shard = 0;
    uint64_t port : 16 = 0;
    uint64_t sequence : 48 = 0;
  };
  static_assert(sizeof(Hop) == 16);
  /// What all shards share. A hop belongs to the shard of its sender, as everything else of a node does.
  struct World {
    const Topology& topology;
    std::vector<std::unique_ptr<Node>> nodes;  ///< null: of another rank, or waits to be made
    std::vector<ArrivalQueue::Door> doors;     ///< by node: of what its Node::arrivals() returned
    std::function<std::unique_ptr<Node>(NodeId)> make_node;
    uint32_t first_shard = 0, last_shard = 0;  ///< of this rank
    std::vector<uint32_t> shard_of;            ///< by node; shards are numbered through all ranks
    std::vector<uint8_t> side_of;              ///< by node (bipartition.h)
    std::vector<std::unique_ptr<Hop[]>> hops;  ///< by node and port; null: the node waits, as above
    std::vector<FabricTime> planned;           ///< by node: the entry that stands for it, or never
  };

  SimShard(World& world, uint32_t index, uint32_t shards, size_t frame_limit, FrameRoom room)
      : frames_(frame_limit, room),
        world_(world),
        index_(index),
        fetches_(world.topology.nodes.size() >= kManyNodes),
        letters_(shards) {}

  FramePool& frames() { return frames_; }
  /// The node, made now if it has waited for something to do.
  Node& node(NodeId id);
  /// A node has, or may have, an earlier event than before.
  void plan(NodeId node);
  /// The earliest event of its nodes of one side.
  FabricTime earliest(uint8_t side);
  /// Runs the nodes of one side that have an event up to `until`, in the order of their numbers; what they
  /// send to other shards lies in cross-shard frames.
  void run(uint8_t side, FabricTime until);
  /// Frames that its nodes started to send in the last run().
  uint64_t sent() const { return sent_; }
  /// Takes the cross-shard frames of another shard, which must not run meanwhile.
  void collect(SimShard& from);
  /// Writes its cross-shard frames for a shard of another rank behind what `out` holds; then they are gone from here.
  void write_letters(uint32_t shard, std::vector<uint8_t>& out);
  /// Hands a frame to one of its nodes.
  void deliver(NodeId node, PortId port, Arrival&& arrival);

 private:
  void transmit(Transmission&& transmission) override;
  void deliver_all(std::vector<CrossShardFrame>& crossings);
  /// A node has an event at this instant.
  void plan_at(NodeId node, FabricTime at);

  /// A shard loads nothing into the cache ahead in a world with fewer nodes than these: there the cache still holds most of
  /// what a node reads when the shard runs that node again (tests/bench/README.md).
  static constexpr size_t kManyNodes = 200;

  FramePool frames_;
  World& world_;
  uint32_t index_;
  bool fetches_;  ///< it loads into the cache what its nodes will read
  /// By side. Entries whose time is not the planned one are stale.
  std::array<EventQueue<uint32_t>, 2> due_;
  std::vector<uint32_t> now_;  // the nodes of this window
  NodeId sender_;
  uint64_t sent_ = 0;
  std::vector<std::vector<CrossShardFrame>>
      letters_;              // by the shard that they are for: this one, too
  CrossShardFrame in_hand_;  // one that is delivered at once
};

}  // namespace mrclab::lab
