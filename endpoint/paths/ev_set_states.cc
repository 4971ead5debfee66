// What becomes of a value by feedback about it, and which values have the places of their plane then (ev_set.h).

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "endpoint/paths/ev_set.h"

namespace mrclab::endpoint {

void EvSet::set_state(uint32_t index, EvState state, FabricTime now) {
  Entry& entry = entries_[index];
  const EvState before = entry.state;
  entry.state = state;
  if (state == EvState::kSkip && before != EvState::kSkip) {
    if (skip_since_.empty()) skip_since_.resize(entries_.size());
    skip_since_[index] = now;
  }
  if (is_usable(state) == is_usable(before)) return;
  if (is_usable(state)) begin_good(index, now);
  fill_places(entry.plane);
}

void EvSet::begin_good(uint32_t index, FabricTime now) {
  if (good_since_.empty()) good_since_.resize(entries_.size());
  good_since_[index] = now;
  // A share does not grow while its value is out of use.
  if (entries_[index].slowed) turns_of(index).grown = now;
}

/// Usable backups take the places of active values that are not usable, the longest waiting first.
void EvSet::fill_places(uint32_t number) {
  Plane& plane = planes_[number];
  const auto usable = [this](uint32_t i) { return offers(i); };
  for (Index& place : plane.rotation) {
    if (offers(place)) continue;
    const auto backup = std::find_if(plane.backups.begin(), plane.backups.end(), usable);
    if (backup == plane.backups.end()) break;
    change_places(plane, place, *backup);
  }
  const bool some = std::any_of(plane.rotation.begin(), plane.rotation.end(), usable);
  offering_ = some ? offering_ | 1u << number : offering_ & ~(1u << number);
}

void EvSet::change_places(Plane& plane, Index& place, Index backup) {
  const Index leaves = std::exchange(place, backup);
  plane.backups.erase(std::find(plane.backups.begin(), plane.backups.end(), backup));
  plane.backups.push_back(leaves);
  entries_[leaves].active = false;
  entries_[place].active = true;
  swaps_.push_back({place, leaves});
}

/// Gives the peer's ports that usable values lead to equally many places, as far as backups allow.
void EvSet::share_places(uint32_t number) {
  Plane& plane = planes_[number];
  if (std::popcount(plane.peer_ports & peer_ports_) < 2) return;
  std::array<uint32_t, 32> places{};
  for (const uint32_t i : plane.rotation) places[entries_[i].peer_port] += offers(i) ? 1 : 0;
  const auto fewer = [&](uint32_t a, uint32_t b) {
    return places[entries_[a].peer_port] < places[entries_[b].peer_port];
  };
  // Each change brings two ports closer, so there are at most as many as places.
  for (size_t changes = 0; changes < plane.rotation.size(); ++changes) {
    std::optional<Index> backup;  // the longest waiting one of the port with the fewest places
    for (const Index i : plane.backups) {
      if (offers(i) && (!backup || fewer(i, *backup))) backup = i;
    }
    Index* place = nullptr;
    for (Index& i : plane.rotation) {
      if (offers(i) && (place == nullptr || fewer(*place, i))) place = &i;
    }
    if (!backup || place == nullptr) return;
    uint32_t& few = places[entries_[*backup].peer_port];
    uint32_t& many = places[entries_[*place].peer_port];
    if (many <= few + 1) return;
    --many, ++few;
    change_places(plane, *place, *backup);
  }
}

void EvSet::congested(uint32_t index, FabricTime now, std::optional<FabricTime> sent) {
  if (!limits_.skip) return;
  if (has_turn_shares()) return cut_turns(index, now, sent);
  set_state(index, after_congestion(entries_[index].state), now);
}

/// Would its loss leave too few active values?
bool EvSet::must_keep(uint32_t index) const {
  const Entry& lost = entries_[index];
  if (!lost.active || !connected(index)) return false;
  const auto& backups = planes_[lost.plane].backups;
  if (std::any_of(backups.begin(), backups.end(), [this](uint32_t i) { return offers(i); })) {
    return false;
  }
  uint64_t places = 0, usable = 0;
  for (uint32_t p = 0; p < planes_.size(); ++p) {
    if ((usable_ports_ & 1u << p) == 0) continue;
    for (const uint32_t i : planes_[p].rotation) {
      if (!arrives(entries_[i])) continue;
      ++places;
      if (offers(i)) ++usable;
    }
  }
  const uint64_t share = places * limits_.min_active_share.ppb / Probability::kOne;
  return usable <= std::max<uint64_t>(1, limits_.min_active != 0 ? limits_.min_active : share);
}

EvSet::LossVerdict EvSet::lost(uint32_t index, FabricTime now) {
  if (!limits_.avoid_lost || !is_usable(entries_[index].state)) return LossVerdict::kUnchanged;
  if (must_keep(index)) {
    if (!has_turn_shares()) congested(index, now);
    return LossVerdict::kSkipped;
  }
  set_state(index, after_loss(entries_[index].state), now);
  return LossVerdict::kAssumedBad;
}

void EvSet::revived(uint32_t index, bool marked, FabricTime now) {
  set_state(index, after_revival(entries_[index].state, marked && limits_.skip), now);
}

void EvSet::deny(uint32_t index, FabricTime now) { set_state(index, EvState::kDenied, now); }

void EvSet::allow(uint32_t index, FabricTime now) {
  set_state(index, after_allow(entries_[index].state), now);
}

void EvSet::set_live_ports(LivePorts live, FabricTime now) {
  std::vector<uint32_t> back;
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    const bool will_be =
        (live.own & 1u << entries_[i].plane) != 0 && (live.peer & 1u << entries_[i].peer_port) != 0;
    if (will_be && !connected(i)) back.push_back(i);
  }
  peer_ports_ = live.peer;
  usable_ports_ = 0;
  for (uint32_t p = 0; p < planes_.size(); ++p) {
    const bool leads_somewhere = (planes_[p].peer_ports & live.peer) != 0;
    if ((live.own & 1u << p) != 0 && leads_somewhere) usable_ports_ |= 1u << p;
  }
  for (const uint32_t index : back) {
    if (entries_[index].state != EvState::kDenied) set_state(index, EvState::kGood, now);
    begin_good(index, now);
  }
  for (uint32_t p = 0; p < planes_.size(); ++p) {
    fill_places(p);
    if (!back.empty()) share_places(p);
  }
}

}  // namespace mrclab::endpoint
