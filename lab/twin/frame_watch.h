#pragma once
// What a run's frames show beside lost data, at the nodes where they are seen:
//
//   lost answers   control frames (SACK, NACK, ACK, probe) that were lost. Their sender has the data; the other end waits
//                  for its timers all the same.
//   held messages  A NIC acknowledges packets by SACK as they arrive, and a message by ACK when it is in memory
//                  (endpoint/queue_pair/receive_buffer.h, MRC specification §7.5). The time from the first SACK that
//                  covers a message to its ACK is how long the host held it; less where that SACK goes out with
//                  the next message, and nothing where it is behind the ACK. RC has no such pair.
//   late frames    a frame was on a wire for longer than light takes, or between its arrival at a switch and its end on
//                  the way out for longer than pipeline and wire take; looked for at some wires alone.

#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "fabric/node/node.h"
#include "fabric/topology/topology.h"

namespace mrclab::lab {

struct LostAnswer {
  FabricTime t;
  uint32_t source = 0, destination = 0;  ///< host numbers
  EntropyValue ev;
  Qpn qp;              ///< of the destination
  bool probe = false;  ///< a question of the sender of data, and no answer to it
  WireId wire;         ///< on which it was, or into which it did not get
  DropCause cause = DropCause::kNone;
};

struct HeldMessage {
  FabricTime from, until;
  uint32_t host = 0, peer = 0;  ///< numbers of the hosts that held it, and that sent it
};

struct LateFrame {
  FabricTime t;  ///< when it had arrived, or left
  WireId wire;
  uint32_t source = 0, destination = 0;  ///< host numbers
};

/// Observers of all nodes of one simulation in one thread. `topology` outlives it.
class FrameWatch {
 public:
  /// Frames may be late on `wires`.
  FrameWatch(const Topology& topology, std::set<WireId> wires);
  FrameWatch(const FrameWatch&) = delete;
  FrameWatch& operator=(const FrameWatch&) = delete;

  NodeObserver& observer(NodeId node) { return nodes_[node.value]; }

  /// Each in the order in which the simulation came to it, the first kMaxSeen.
  const std::vector<LostAnswer>& lost_answers() const { return lost_; }
  const std::vector<HeldMessage>& held() const { return held_; }
  const std::vector<LateFrame>& late() const { return late_; }
  static constexpr size_t kMaxSeen = 1 << 18;

 private:
  class AtNode : public NodeObserver {
   public:
    AtNode(FrameWatch& watch, NodeId node) : watch_(watch), node_(node) {}
    void packet(const PacketRecord& record) override { watch_.packet(node_, record); }
    void event(const EventRecord&) override {}

   private:
    FrameWatch& watch_;
    NodeId node_;
  };
  struct SentSack {
    Psn cumulative;
    FabricTime t;
  };
  /// What a queue pair was sent by its receiver.
  struct Answered {
    std::deque<SentSack> sacks;  ///< ascending; at most kMaxSacks, those that no ACK has covered
    std::optional<Psn> acknowledged;
  };
  static constexpr size_t kMaxSacks = 1 << 15;
  using QueuePairKey = std::tuple<uint32_t, uint32_t, uint32_t>;  // host, peer, the peer's QP
  using FrameKey = std::pair<uint32_t, uint64_t>;                 // wire or node, content
  struct FrameKeyHash {
    size_t operator()(const FrameKey& key) const {
      return static_cast<size_t>(key.second ^ (uint64_t{key.first} * 0x9E37'79B9'7F4A'7C15));
    }
  };
  using Instants = std::unordered_map<FrameKey, FabricTime, FrameKeyHash>;

  void packet(NodeId node, const PacketRecord& record);
  void answer(NodeId node, const PacketRecord& record);
  void sent_answer(NodeId node, const PacketRecord& record, uint32_t peer);
  void follow(NodeId node, const PacketRecord& record);
  void keep_late(WireId wire, const PacketRecord& record);

  const Topology& topology_;
  const std::set<WireId> wires_;
  std::set<NodeId> switches_;  ///< from which one of the wires leads away
  std::deque<AtNode> nodes_;
  std::map<QueuePairKey, Answered> answered_;
  Instants left_;  ///< by wire, when a frame that is on it had left
  Instants
      inside_;  ///< by switch, when a frame that is in it had arrived; never iterated, as left_
  std::vector<LostAnswer> lost_;
  std::vector<HeldMessage> held_;
  std::vector<LateFrame> late_;
};

}  // namespace mrclab::lab
