#include "live/bringup/onlookers.h"

#include <algorithm>

namespace mrclab::lab {

Onlookers::Onlookers(const LiveFabric& fabric, netio::GatePage& gate)
    : topology_(fabric.topology()), gate_(gate), place_of_(topology_.nodes.size()) {
  std::vector<std::vector<NodeId>> together;
  size_t shared = SIZE_MAX;
  for (const NodeSite& site : topology_.nodes) {
    const bool joins = site.role != NodeRole::kHost && shares_namespace(site);
    if (!joins || shared == SIZE_MAX) {
      if (joins) shared = together.size();
      place_of_[site.id.value] = together.size();
      together.push_back({site.id});
    } else {
      place_of_[site.id.value] = shared;
      together[shared].push_back(site.id);
    }
  }
  for (std::vector<NodeId>& nodes : together) {
    netio::PacketListeners listeners(fabric.network_namespace(nodes.front()), nodes.size());
    places_.push_back({std::move(nodes), std::move(listeners)});
  }
}

void Onlookers::look() {
  const netio::LabTime now = netio::LabTime::now();
  const int64_t passed = std::min(now - last_, kLongestNs);
  const auto due = static_cast<size_t>(static_cast<int64_t>(places_.size()) * passed / kLongestNs);
  if (due == 0) return;
  last_ = now;
  for (size_t i = 0; i < due; ++i) {
    next_ = (next_ + 1) % places_.size();
    look_at_place(places_[next_]);
  }
}

void Onlookers::look_at_all() {
  for (Place& place : places_) look_at_place(place);
}

void Onlookers::look_at(NodeId node) { look_at_place(places_[place_of_[node.value]]); }

void Onlookers::note_filter(NodeId node) {
  places_[place_of_[node.value]].filtered = true;
  look_at(node);
}

void Onlookers::look_at_place(Place& place) {
  const bool watched = place.filtered || place.listeners.others();
  if (watched == place.watched) return;
  place.watched = watched;
  publish(place);
}

void Onlookers::publish(const Place& place) {
  for (const NodeId node : place.nodes) {
    for (const Port& port : topology_.node(node).ports) {
      const uint8_t alone = place.watched || watched_at(port.peer.node);
      for (const WireId wire : {port.in, port.out}) {
        gate_.alone[wire.value].store(alone, std::memory_order_relaxed);
      }
    }
  }
}

}  // namespace mrclab::lab
