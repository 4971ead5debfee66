#include "sim/sim_shard.h"

#include <algorithm>
#include <utility>

#include "fabric/base/cache_line.h"
#include "fabric/node/arrival_queue.h"
#include "fabric/packet/trailer.h"

namespace mrclab::lab {

void SimShard::plan(NodeId node) { plan_at(node, world_.nodes[node.value]->next_event()); }

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
    deliver_all(letters_[index_], false);
  }
}

/// What a node starts to send goes to the node at the other end, since receive() may be called ahead of time: at once or in
/// deliver_all(), and where that node is of another shard when the shard collects it.
void SimShard::transmit(Transmission&& transmission) {
  ++sent_;
  Hop& hop = world_.hops[world_.first_hop[sender_.value] + transmission.port.value];
  const bool stays = hop.shard == index_;
  const bool waits = fetches_ || !stays;
  Letter& letter = waits ? letters_[hop.shard].emplace_back() : in_hand_;
  letter.node = hop.to;
  letter.port = PortId{static_cast<uint32_t>(hop.port)};
  letter.arrival.frame = std::move(transmission.frame);
  letter.arrival.start = transmission.start;
  letter.arrival.arrival = transmission.end + transmission.flight;
  letter.arrival.sequence = hop.sequence;
  letter.arrival.lost = transmission.lost;
  ++hop.sequence;
  if (letter.arrival.lost != DropCause::kNone) cut_to_void(letter.arrival.frame);
  if (!waits) return deliver(letter.node, letter.port, std::move(letter.arrival));
  // What goes to another rank is copied, and its buffer comes back.
  const bool leaves = !stays && world_.nodes[hop.to.value] != nullptr;
  if (leaves && letter.arrival.frame) frames_.let_go();
}

void SimShard::deliver(NodeId node, PortId port, Arrival&& arrival) {
  if (ArrivalQueue* const arrivals = world_.arrivals[node.value]) {
    return plan_at(node, arrivals->push(port, std::move(arrival)));
  }
  world_.nodes[node.value]->receive(port, std::move(arrival));
  plan(node);
}

/// Where there are many nodes, the one that a letter goes to is in no cache. What the delivery asks for there is fetched in
/// three steps, each some letters ahead of the next one.
void SimShard::deliver_all(std::vector<Letter>& letters, bool adopts) {
  constexpr size_t kAhead = 4;  // letters
  const size_t count = letters.size();
  if (count == 0) return;
  Letter* const first = letters.data();
  ArrivalQueue* const* const queues = world_.arrivals.data();
  const auto fetch = [=, this](size_t number, auto&& part) {
    if (number >= count || !fetches_) return;  // also a number before the first, which has wrapped
    const ArrivalQueue* const queue = queues[first[number].node.value];
    if (queue != nullptr) part(*queue, first[number].port);
  };
  for (size_t i = 0; i < count + 3 * kAhead; ++i) {
    if (adopts && i < count) first[i].arrival.frame.fetch(kCacheLine);
    fetch(i, [](const ArrivalQueue& queue, PortId) { queue.fetch_queue(); });
    fetch(i - kAhead, [](const ArrivalQueue& queue, PortId port) { queue.fetch_line_of(port); });
    fetch(i - 2 * kAhead,
          [](const ArrivalQueue& queue, PortId port) { queue.fetch_place_of(port); });
    if (i < 3 * kAhead) continue;
    Letter& letter = first[i - 3 * kAhead];
    if (adopts && letter.arrival.frame) frames_.adopt(letter.arrival.frame);
    deliver(letter.node, letter.port, std::move(letter.arrival));
  }
  letters.clear();
}

void SimShard::write_letters(uint32_t shard, std::vector<uint8_t>& out) {
  for (const Letter& letter : letters_[shard]) append_letter(letter, out);
  letters_[shard].clear();
}

void SimShard::collect(SimShard& from) { deliver_all(from.letters_[index_], true); }

}  // namespace mrclab::lab
