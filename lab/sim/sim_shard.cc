#include "lab/sim/sim_shard.h"

#include <algorithm>
#include <utility>

#include "fabric/packet/trailer.h"

namespace mrclab::lab {

void SimShard::plan(NodeId node) {
  const FabricTime at = world_.nodes[node.value]->next_event();
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
    world_.nodes[node]->run_until(until, *this);
    world_.planned[node] = FabricTime::never();  // what stood for it, or came in before it ran
    plan(sender_);
  }
}

/// Hands what a node starts to send to the node at the other end, at once: receive() may be called
/// ahead of time.
void SimShard::transmit(Transmission&& transmission) {
  ++sent_;
  Hop& hop = world_.hops[world_.first_hop[sender_.value] + transmission.port.value];
  Arrival arrival{std::move(transmission.frame), transmission.start,
                  transmission.end + transmission.flight, hop.sequence, transmission.lost};
  ++hop.sequence;
  if (arrival.lost != DropCause::kNone) cut_to_void(arrival.frame);
  if (hop.shard != index_) return send_letter(hop, std::move(arrival));
  deliver(hop.to, PortId{static_cast<uint32_t>(hop.port)}, std::move(arrival));
}

void SimShard::send_letter(const Hop& hop, Arrival&& arrival) {
  // What goes to another rank is copied, and its buffer comes back.
  const bool stays = world_.nodes[hop.to.value] != nullptr;
  if (stays && arrival.frame) frames_.let_go();
  letters_[hop.shard].push_back(
      {hop.to, PortId{static_cast<uint32_t>(hop.port)}, std::move(arrival)});
}

void SimShard::deliver(NodeId node, PortId port, Arrival&& arrival) {
  // A node takes a frame in when it has arrived, or later: then that is not its next event.
  const bool may_be_next = arrival.arrival < world_.planned[node.value];
  world_.nodes[node.value]->receive(port, std::move(arrival));
  if (may_be_next) plan(node);
}

void SimShard::write_letters(uint32_t shard, std::vector<uint8_t>& out) {
  for (const Letter& letter : letters_[shard]) append_letter(letter, out);
  letters_[shard].clear();
}

void SimShard::collect(SimShard& from) {
  for (Letter& letter : from.letters_[index_]) {
    if (letter.arrival.frame) frames_.adopt(letter.arrival.frame);
    deliver(letter.node, letter.port, std::move(letter.arrival));
  }
  from.letters_[index_].clear();
}

}  // namespace mrclab::lab
