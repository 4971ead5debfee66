#include "endpoint/ev_set.h"

#include <algorithm>
#include <utility>

#include "fabric/path.h"

namespace mrclab::endpoint {

std::vector<EntropyValue> entropy_values(const Topology& topology, uint32_t source,
                                         uint32_t destination, uint32_t limit, uint64_t seed) {
  std::vector<EntropyValue> values;
  const bool local = topology.host_row(source) == topology.host_row(destination);
  for (uint32_t plane = 0; plane < topology.planes; ++plane) {
    if (local) {
      values.push_back(ev_of({plane, kT0LocalUplink}));
      continue;
    }
    std::vector<uint32_t> uplinks(topology.t1_per_plane);
    for (uint32_t u = 0; u < uplinks.size(); ++u) uplinks[u] = u;
    const size_t take = std::min<size_t>(uplinks.size(), std::max(1u, limit / topology.planes));
    for (size_t i = 0; take < uplinks.size() && i < take; ++i) {
      const uint64_t random = draw(seed, topology.host(source), PortId{plane},
                                   DrawPurpose::kEvChoice, uint64_t{destination} << 32 | i);
      std::swap(uplinks[i], uplinks[i + below(random, uplinks.size() - i)]);
    }
    std::sort(uplinks.begin(), uplinks.begin() + static_cast<std::ptrdiff_t>(take));
    for (size_t i = 0; i < take; ++i) values.push_back(ev_of({plane, uplinks[i]}));
  }
  return values;
}

EvSet::EvSet(const std::vector<EntropyValue>& values, uint32_t planes, uint32_t min_active_divisor,
             Shuffle shuffle_by)
    : planes_(planes),
      divisor_(std::max(1u, min_active_divisor)),
      shuffle_(shuffle_by),
      usable_ports_(planes >= 32 ? ~0u : (1u << planes) - 1) {
  for (const EntropyValue value : values) {
    const std::optional<Path> path = path_of(value);
    if (!path || path->plane >= planes) continue;
    const auto index = static_cast<uint32_t>(entries_.size());
    entries_.push_back({value, path->plane, EvState::kGood, FabricTime::zero()});
    planes_[path->plane].rotation.push_back(index);
    offering_ |= 1u << path->plane;
  }
  for (uint32_t p = 0; p < planes; ++p) shuffle(planes_[p], p);
  if (planes > 0) {
    next_plane_ = static_cast<uint32_t>(
        below(draw(shuffle_.seed, shuffle_.node, PortId{}, DrawPurpose::kEvShuffle, shuffle_.qp),
              planes));
  }
}

std::optional<uint32_t> EvSet::find(EntropyValue value) const {
  const std::optional<Path> path = path_of(value);
  if (!path || path->plane >= planes_.size()) return std::nullopt;
  for (const uint32_t index : planes_[path->plane].rotation) {
    if (entries_[index].value == value) return index;
  }
  return std::nullopt;
}

std::optional<uint32_t> EvSet::choose(uint32_t free_ports, std::optional<uint32_t> avoid) {
  uint32_t ports = free_ports & ports_with_choice();
  if (ports == 0) return std::nullopt;
  Scan state{avoid, std::nullopt};
  const auto planes = static_cast<uint32_t>(planes_.size());
  for (uint32_t i = 0; i < planes; ++i) {
    const uint32_t plane = next_plane_ + i < planes ? next_plane_ + i : next_plane_ + i - planes;
    if ((ports & 1u << plane) == 0) continue;
    if (const auto found = scan(planes_[plane], plane, state)) {
      next_plane_ = plane + 1 == planes ? 0 : plane + 1;
      return found;
    }
  }
  if (state.restored) return state.restored;
  // `avoid` is all that is active on a free port: better there than not at all.
  if (avoid && (ports & 1u << entries_[*avoid].plane) != 0 &&
      entries_[*avoid].state == EvState::kGood) {
    return avoid;
  }
  return std::nullopt;
}

std::optional<uint32_t> EvSet::scan(Plane& plane, uint32_t number, Scan& state) {
  // A wrap in mid-scan reshuffles, so one round more than the size sees every value.
  for (size_t steps = 2 * plane.rotation.size(); steps > 0; --steps) {
    if (plane.cursor == plane.rotation.size()) shuffle(plane, number);
    const uint32_t index = plane.rotation[plane.cursor++];
    Entry& entry = entries_[index];
    if (entry.state == EvState::kSkip && !state.restored) {
      entry.state = after_scan(entry.state);
      state.restored = index;
    } else if (entry.state == EvState::kGood && state.restored != index && state.avoid != index) {
      return index;
    }
  }
  return std::nullopt;
}

void EvSet::shuffle(Plane& plane, uint32_t number) {
  plane.cursor = 0;
  for (size_t i = plane.rotation.size(); i > 1; --i) {
    const uint64_t random = draw(shuffle_.seed, shuffle_.node, PortId{number},
                                 DrawPurpose::kEvShuffle, uint64_t{shuffle_.qp} << 40 | draws_++);
    std::swap(plane.rotation[i - 1], plane.rotation[below(random, i)]);
  }
}

void EvSet::set_state(uint32_t index, EvState state) {
  Entry& entry = entries_[index];
  entry.state = state;
  const auto& rotation = planes_[entry.plane].rotation;
  const bool offers = std::any_of(rotation.begin(), rotation.end(),
                                  [&](uint32_t i) { return is_active(entries_[i].state); });
  offering_ = offers ? offering_ | 1u << entry.plane : offering_ & ~(1u << entry.plane);
}

void EvSet::congested(uint32_t index) {
  entries_[index].state = after_congestion(entries_[index].state);
}

EvSet::LossVerdict EvSet::lost(uint32_t index) {
  if (!is_active(entries_[index].state)) return LossVerdict::kUnchanged;
  uint32_t usable = 0, active = 0;
  for (const Entry& entry : entries_) {
    if ((usable_ports_ & 1u << entry.plane) == 0) continue;
    ++usable;
    if (is_active(entry.state)) ++active;
  }
  const bool counts = (usable_ports_ & 1u << entries_[index].plane) != 0;
  if (counts && active <= std::max(1u, usable / divisor_)) {
    congested(index);
    return LossVerdict::kSkipped;
  }
  set_state(index, after_loss(entries_[index].state));
  return LossVerdict::kAssumedBad;
}

void EvSet::revived(uint32_t index, bool marked, FabricTime now) {
  set_state(index, after_revival(entries_[index].state, marked));
  entries_[index].good_since = now;
}

void EvSet::deny(uint32_t index) { set_state(index, EvState::kDenied); }

void EvSet::allow(uint32_t index, FabricTime now) {
  set_state(index, after_allow(entries_[index].state));
  entries_[index].good_since = now;
}

void EvSet::set_usable_ports(uint32_t ports, FabricTime now) {
  const uint32_t back = ports & ~usable_ports_;
  usable_ports_ = ports;
  for (uint32_t index = 0; index < entries_.size(); ++index) {
    if ((back & 1u << entries_[index].plane) == 0) continue;
    if (entries_[index].state != EvState::kDenied) set_state(index, EvState::kGood);
    entries_[index].good_since = now;
  }
}

uint32_t EvSet::unusable() const {
  return static_cast<uint32_t>(
      std::count_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        return !is_active(entry.state) || (usable_ports_ & 1u << entry.plane) == 0;
      }));
}

}  // namespace mrclab::endpoint
