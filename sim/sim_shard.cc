#include "sim/sim_shard.h"

#include <algorithm>
#include <utility>

#include "fabric/base/cache_line.h"
#include "fabric/packet/trailer.h"

namespace mrclab::lab {

Node& SimShard::node(NodeId id) {
  std::unique_ptr<Node>& node = world_.nodes[id.value];
  if (!node) {
    const Ports ports = world_.topology.node(id).ports;
    std::unique_ptr<Hop[]>& hops = world_.hops[id.value];
    hops = std::make_unique<Hop[]>(ports.size());
    for (size_t i = 0; i < ports.size(); ++i) {
      const PortRef peer = ports[i].peer;
      hops[i].to = peer.node;
      hops[i].shard = world_.shard_of[peer.node.value];
      hops[i].port = static_cast<uint16_t>(peer.port.value);
    }
    node = world_.make_node(id);
    if (ArrivalQueue* const arrivals = node->arrivals()) world_.doors[id.value] = arrivals->door();
  }
  return *node;
}

/// A node that waits has nothing to do.
void SimShard::plan(NodeId node) {
  if (world_.nodes[node.value]) plan_at(node, world_.nodes[node.value]->next_event());
}

void SimShard::plan_at(NodeId node, FabricTime at) {
  if (at >= world_.planned[node.value]) return;
  world_.planned[node.value] = at;
  due_[world_.side_of[node.value]].push({at, EventClass::kTimer, node.value, 0}, node.value);
}

FabricTime SimShard::earliest(uint8_t side) {
  EventQueue<uint32_t>& due = due_[side];
  while (!due.empty() && due.top().at != world_.planned[due.top().port]) due.pop();
  return due.next_time();
}

void SimShard::run(uint8_t side, FabricTime until) {
  now_.clear();
  sent_ = 0;
  while (earliest(side) <= until && !due_[side].empty()) {
    const uint32_t node = due_[side].pop().second;
    world_.planned[node] = FabricTime::never();  // so that its other entries are stale
    now_.push_back(node);
  }
  std::sort(now_.begin(), now_.end());
  for (const uint32_t node : now_) {
    sender_ = NodeId{node};
    if (fetches_) world_.nodes[node]->fetch();
    world_.nodes[node]->run_until(until, *this);
    world_.planned[node] = FabricTime::never();  // its entry until now, or an arrival before it ran
    plan(sender_);
    deliver_all(letters_[index_]);
  }
}

/// What a node starts to send goes to the node at the other end, since receive() may be called ahead of time: at once or in
/// deliver_all(), and where that node is of another shard when the shard collects it.
void SimShard::transmit(Transmission&& transmission) {
  ++sent_;
  Hop& hop = world_.hops[sender_.value][transmission.port.value];
  const bool stays = hop.shard == index_;
  const bool waits = fetches_ || !stays;
  CrossShardFrame& crossing = waits ? letters_[hop.shard].emplace_back() : in_hand_;
  crossing.node = hop.to;
  crossing.port = PortId{static_cast<uint32_t>(hop.port)};
  crossing.arrival.frame = std::move(transmission.frame);
  crossing.arrival.start = transmission.start;
  crossing.arrival.arrival = transmission.end + transmission.flight;
  crossing.arrival.sequence = hop.sequence;
  crossing.arrival.lost = transmission.lost;
  ++hop.sequence;
  if (crossing.arrival.lost != DropCause::kNone) cut_to_void(crossing.arrival.frame);
  if (!waits) return deliver(crossing.node, crossing.port, std::move(crossing.arrival));
  // What goes to another rank is copied, and its buffer comes back.
  const bool leaves = !stays && hop.shard >= world_.first_shard && hop.shard <= world_.last_shard;
  if (leaves && crossing.arrival.frame) frames_.let_go();
}

void SimShard::deliver(NodeId node, PortId port, Arrival&& arrival) {
  if (const ArrivalQueue::Door& door = world_.doors[node.value]) {
    const FabricTime due = door.push(port, std::move(arrival));
    if (due != FabricTime::never()) plan_at(node, due);
    return;
  }
  if (arrival.frame) frames_.adopt(arrival.frame);
  SimShard::node(node).receive(port, std::move(arrival));
  plan(node);
}

/// Where there are many nodes, the receiver of a cross-shard frame is in no cache. What the delivery reads there is
/// fetched in two steps, each some frames ahead of the next one.
void SimShard::deliver_all(std::vector<CrossShardFrame>& crossings) {
  constexpr size_t kAhead = 4;  // cross-shard frames
  const size_t count = crossings.size();
  if (count == 0) return;
  CrossShardFrame* const first = crossings.data();
  const ArrivalQueue::Door* const doors = world_.doors.data();
  const auto fetch = [=, this](size_t number, auto&& part) {
    if (number >= count || !fetches_) return;  // also a number before the first, which has wrapped
    const ArrivalQueue::Door& door = doors[first[number].node.value];
    if (door) part(door, first[number].port);
  };
  for (size_t i = 0; i < count + 2 * kAhead; ++i) {
    fetch(i, [](const ArrivalQueue::Door& door, PortId port) { door.fetch_line_of(port); });
    fetch(i - kAhead,
          [](const ArrivalQueue::Door& door, PortId port) { door.fetch_place_of(port); });
    if (i < 2 * kAhead) continue;
    CrossShardFrame& crossing = first[i - 2 * kAhead];
    deliver(crossing.node, crossing.port, std::move(crossing.arrival));
  }
  crossings.clear();
}

void SimShard::write_letters(uint32_t shard, std::vector<uint8_t>& out) {
  for (const CrossShardFrame& crossing : letters_[shard]) append_cross_shard(crossing, out);
  letters_[shard].clear();
}

void SimShard::collect(SimShard& from) { deliver_all(from.letters_[index_]); }

}  // namespace mrclab::lab
