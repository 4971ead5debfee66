#include "endpoint/paths/ev_set.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>
#include <numeric>
#include <utility>

#include "fabric/paths/path_list.h"

namespace mrclab::endpoint {

std::vector<EntropyValue> entropy_values(const Topology& topology, uint32_t source,
                                         uint32_t destination, uint32_t limit, uint64_t seed,
                                         Chosen chosen, Qpn qp) {
  std::vector<EntropyValue> values;
  const bool named = chosen == Chosen::kByName;
  std::vector<uint32_t> numbers;
  for (uint32_t plane = 0; plane < topology.planes; ++plane) {
    uplinks_between(topology, source, destination, plane, numbers);
    if (!named) {
      const bool local = numbers == std::vector<uint32_t>{kT0LocalUplink};
      numbers.resize(local ? 1 : kHashNumbers);
      for (uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
    }
    const size_t take = std::min<size_t>(numbers.size(), std::max(1u, limit / topology.planes));
    for (size_t i = 0; take < numbers.size() && i < take; ++i) {
      const uint64_t random =
          draw(seed, topology.host(source), PortId{plane}, DrawPurpose::kEvChoice,
               uint64_t{destination} << 40 | uint64_t{qp.value} << 16 | i);
      std::swap(numbers[i], numbers[i + below(random, numbers.size() - i)]);
    }
    if (values.empty()) values.reserve(take * topology.planes);
    std::sort(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(take));
    for (size_t i = 0; i < take; ++i) values.push_back(ev_of({plane, numbers[i], chosen}));
  }
  return values;
}

EvSet::EvSet(const std::vector<EntropyValue>& values, uint32_t planes, EvSetLimits limits,
             Shuffle shuffle_by, const PeerPortOf& peer_port)
    : planes_(planes), limits_(limits), shuffle_(shuffle_by) {
  assert(values.size() <= std::numeric_limits<Index>::max());
  entries_.reserve(values.size());
  for (const EntropyValue value : values) {
    const std::optional<Path> path = path_of(value);
    if (!path || path->plane >= planes) continue;
    const auto index = static_cast<Index>(entries_.size());
    Entry entry;
    entry.value = value;
    entry.plane = static_cast<uint16_t>(path->plane & 31u);
    entry.peer_port = static_cast<uint16_t>(peer_port(*path) & 31u);
    entries_.push_back(entry);
    planes_[path->plane].rotation.push_back(index);
    planes_[path->plane].peer_ports |= 1u << entry.peer_port;
    by_route_ |= !path->named();
    offering_ |= 1u << path->plane;
  }
  const auto lower = [](const Entry& a, const Entry& b) { return a.value < b.value; };
  if (!std::is_sorted(entries_.begin(), entries_.end(), lower)) {
    by_value_.resize(entries_.size());
    std::iota(by_value_.begin(), by_value_.end(), Index{0});
    std::sort(by_value_.begin(), by_value_.end(),
              [&](Index a, Index b) { return lower(entries_[a], entries_[b]); });
  }
  for (uint32_t p = 0; p < planes; ++p) {
    Plane& plane = planes_[p];
    shuffle(plane.rotation, p);
    const size_t share = std::max(1u, limits_.active / planes);
    for (size_t i = share; i < plane.rotation.size(); ++i) {
      entries_[plane.rotation[i]].active = false;
      plane.backups.push_back(plane.rotation[i]);
    }
    plane.rotation.resize(std::min(share, plane.rotation.size()));
    plane.rotation.shrink_to_fit();
    share_places(p);
  }
  swaps_ = {};  // the first places are no changes
  if (limits_.choice == PathChoice::kReps) recycled_.resize(planes);
  usable_ports_ = offering_;
  // The queue pairs of a host begin on one plane after the other. Otherwise queue pairs that by
  // chance began on one plane would, taking turns within a window of few packets, send in a row to
  // that plane.
  if (planes > 0) {
    const uint64_t first = draw(shuffle_.seed, shuffle_.node, PortId{}, DrawPurpose::kEvShuffle, 0);
    first_plane_ = static_cast<uint32_t>((below(first, planes) + shuffle_.qp) % planes);
  }
}

std::optional<uint32_t> EvSet::find(EntropyValue value) const {
  if (by_value_.empty()) {
    const auto entry =
        std::lower_bound(entries_.begin(), entries_.end(), value,
                         [](const Entry& e, EntropyValue wanted) { return e.value < wanted; });
    if (entry == entries_.end() || entry->value != value) return std::nullopt;
    return static_cast<uint32_t>(entry - entries_.begin());
  }
  const auto index =
      std::lower_bound(by_value_.begin(), by_value_.end(), value,
                       [this](Index i, EntropyValue wanted) { return entries_[i].value < wanted; });
  if (index == by_value_.end() || entries_[*index].value != value) return std::nullopt;
  return *index;
}

uint32_t EvSet::choose_index(uint32_t free_ports, FabricTime now, PlaneTurn& turn, uint32_t avoid) {
  const uint32_t ports = free_ports & ports_with_choice();
  if (ports == 0) return kNoIndex;
  Scan state{now, avoid};
  const bool weighed = by_route_ && !turn.weights.empty();
  const uint32_t found =
      weighed ? choose_by_weight(ports, turn, state) : choose_in_turn(ports, turn, state);
  if (found != kNoIndex) return found;
  if (state.restored != kNoIndex && state.restored != avoid) return state.restored;
  // `avoid` is the only value left: using it is better than sending nothing.
  if (avoid != kNoIndex && (ports & 1u << entries_[avoid].plane) != 0 &&
      entries_[avoid].state == EvState::kGood && arrives(entries_[avoid]) &&
      !has_other_than(avoid)) {
    return avoid;
  }
  return kNoIndex;
}

inline uint32_t EvSet::choose_in_turn(uint32_t ports, PlaneTurn& turn, Scan& state) {
  const auto planes = static_cast<uint32_t>(planes_.size());
  const uint32_t from_first = ~0u << turn.next.value_or(first_plane_);
  for (uint32_t left = ports; left != 0;) {
    const uint32_t later = left & from_first;
    const auto plane = static_cast<uint32_t>(std::countr_zero(later != 0 ? later : left));
    left &= ~(1u << plane);
    if (const uint32_t found = next_of_plane(plane, state); found != kNoIndex) {
      turn.next = plane + 1 == planes ? 0 : plane + 1;
      return found;
    }
  }
  return kNoIndex;
}

uint32_t EvSet::choose_by_weight(uint32_t ports, PlaneTurn& turn, Scan& state) {
  const uint32_t busy = ports_with_choice() & ~ports;
  // Each round finds a value or leaves a plane out.
  for (uint32_t left = ports; left != 0;) {
    const std::optional<uint32_t> plane = turn.weights.due(left, busy | (ports & ~left));
    if (!plane) return kNoIndex;
    if (const uint32_t found = next_of_plane(*plane, state); found != kNoIndex) {
      turn.weights.took(*plane);
      return found;
    }
    left &= ~(1u << *plane);
  }
  return kNoIndex;
}

inline uint32_t EvSet::next_of_plane(uint32_t number, Scan& state) {
  Plane& plane = planes_[number];
  uint32_t found = next_recycled(number, state);
  if (found == kNoIndex) found = scan(plane, number, state);
  if (found == kNoIndex && !turns_.empty()) found = slowed_value(plane, state);
  if (found == kNoIndex) return kNoIndex;
  fetch_next_of(plane);
  note_use(plane, found);
  return found;
}

bool EvSet::has_other_than(uint32_t index) const {
  const uint32_t plane = entries_[index].plane;
  if ((ports_with_choice() & ~(1u << plane)) != 0) return true;
  const auto& rotation = planes_[plane].rotation;
  return std::any_of(rotation.begin(), rotation.end(),
                     [&](uint32_t other) { return other != index && offers(other); });
}

/// The cached value of the plane that is to be used next, if it is of use.
uint32_t EvSet::next_recycled(uint32_t number, const Scan& state) {
  if (recycled_.empty()) return kNoIndex;
  const std::optional<uint32_t> index = recycled_[number].next(state.now);
  const bool usable = index && offers(*index) && *index != state.avoid;
  return usable ? *index : kNoIndex;
}

void EvSet::answered_unmarked(uint32_t index) {
  if (!recycled_.empty()) recycled_[entries_[index].plane].recycle(index);
}

void EvSet::note_loss(uint32_t index, FabricTime now) {
  if (recycled_.empty()) return;
  recycled_[entries_[index].plane].freeze(now, now + limits_.frozen);
}

uint32_t EvSet::scan(Plane& plane, uint32_t number, Scan& state) {
  // A wrap in mid-scan reshuffles, so one round more than the size sees every value.
  for (size_t steps = 2 * plane.rotation.size(); steps > 0; --steps) {
    if (plane.cursor == plane.rotation.size()) {
      shuffle(plane.rotation, number);
      plane.cursor = 0;
    }
    const uint32_t index = plane.rotation[plane.cursor++];
    Entry& entry = entries_[index];
    if (!arrives(entry)) continue;
    if (entry.state == EvState::kSkip && state.now - skip_since_[index] > limits_.skip_age_out) {
      entry.state = after_scan(entry.state);
    }
    if (entry.state == EvState::kSkip && state.restored == kNoIndex) {
      entry.state = after_scan(entry.state);
      state.restored = index;
    } else if (entry.state == EvState::kGood && state.restored != index && state.avoid != index &&
               (!entry.slowed || takes_turn(index, state.now))) {
      return index;
    }
  }
  return kNoIndex;
}

void EvSet::shuffle(std::vector<Index>& values, uint32_t plane) {
  for (size_t i = values.size(); i > 1; --i) {
    const uint64_t random = draw(shuffle_.seed, shuffle_.node, PortId{plane},
                                 DrawPurpose::kEvShuffle, uint64_t{shuffle_.qp} << 40 | draws_++);
    std::swap(values[i - 1], values[below(random, i)]);
  }
}

bool EvSet::is_last_of_plane(uint32_t index) const {
  const Plane& plane = planes_[entries_[index].plane];
  const auto other = [&](uint32_t i) { return i != index && offers(i); };
  return std::none_of(plane.rotation.begin(), plane.rotation.end(), other) &&
         std::none_of(plane.backups.begin(), plane.backups.end(), other);
}

uint32_t EvSet::unusable() const {
  uint32_t count = 0;
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    if (!is_usable(entries_[i].state) || !connected(i)) ++count;
  }
  return count;
}

}  // namespace mrclab::endpoint
