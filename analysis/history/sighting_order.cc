#include "analysis/history/sighting_order.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "analysis/capture/flat_index.h"
#include "analysis/capture/time_sort.h"
#include "analysis/history/flow_keys.h"

namespace mrclab::analysis {
namespace {

/// Pairs of hosts fall into so many groups; whole groups go to one part.
constexpr size_t kGroups = 1024;

/// A quarter as long as the sighting itself, so that sorting moves less.
struct Place {
  FabricTime t;
  uint16_t kind;
  uint16_t group;
  uint32_t sighting;
  bool operator<(const Place& other) const {
    if (t != other.t) return t < other.t;
    return kind != other.kind ? kind < other.kind : sighting < other.sighting;
  }
};

struct GroupSize {
  size_t turns = 0, leaving = 0;
};
using GroupSizes = std::array<GroupSize, kGroups>;

uint16_t group_of(const Sighting& s) {
  const auto [low, high] = std::minmax(s.source, s.destination);
  return static_cast<uint16_t>(mixed(pair_key(low, high)) % kGroups);
}

/// One stretch of the sightings, sorted in itself.
void sort_stretch(const std::vector<Sighting>& frames, size_t begin, size_t end, bool one_group,
                  std::vector<Place>& places, GroupSizes& sizes) {
  for (size_t i = begin; i < end; ++i) {
    const Sighting& s = frames[i];
    const uint16_t group = one_group ? uint16_t{0} : group_of(s);
    ++sizes[group].turns;
    sizes[group].leaving += s.kind == Sighting::Kind::kEgress ? 1 : 0;
    places[i] = {s.t, static_cast<uint16_t>(s.kind), group, static_cast<uint32_t>(i)};
  }
  SortRoom<Place> room;
  sort_by_time(std::span(places).subspan(begin, end - begin), room,
               [](const Place& place) { return place.t.ps(); });
}

/// Two sorted neighbours become one. Of one file they hardly overlap.
void merge_stretches(std::vector<Place>& places, size_t begin, size_t middle, size_t end) {
  if (begin == middle || middle == end) return;
  const auto at = [&places](size_t i) { return places.begin() + static_cast<std::ptrdiff_t>(i); };
  const auto from = std::upper_bound(at(begin), at(middle), places[middle]);
  const auto to = std::lower_bound(at(middle), at(end), places[middle - 1]);
  std::inplace_merge(from, at(middle), to);
}

/// The part of each group: the largest group first, always to the part that has least.
std::array<uint8_t, kGroups> dealt(const GroupSizes& sizes, std::vector<SightingPart>& parts) {
  std::array<uint16_t, kGroups> order{};
  std::iota(order.begin(), order.end(), uint16_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](uint16_t a, uint16_t b) { return sizes[a].turns > sizes[b].turns; });
  std::array<uint8_t, kGroups> part_of{};
  std::vector<size_t> load(parts.size());
  for (const uint16_t group : order) {
    const auto least =
        static_cast<size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    part_of[group] = static_cast<uint8_t>(least);
    load[least] += sizes[group].turns;
    parts[least].leaving += sizes[group].leaving;
  }
  for (size_t i = 0; i < parts.size(); ++i) parts[i].turns.reserve(load[i]);
  return part_of;
}

}  // namespace

std::vector<SightingPart> parts_by_time(const std::vector<Sighting>& frames,
                                        const SideBySide& side_by_side) {
  const size_t count = side_by_side ? kJoinedParts : 1;
  const auto begin_of = [&](size_t stretch) { return frames.size() * stretch / count; };
  std::vector<Place> places(frames.size());
  std::vector<GroupSizes> sizes(count);
  run_all(side_by_side, count, [&](size_t i) {
    sort_stretch(frames, begin_of(i), begin_of(i + 1), count == 1, places, sizes[i]);
  });
  for (size_t merged = 1; merged < count; merged *= 2) {
    run_all(side_by_side, count / (2 * merged), [&](size_t i) {
      const size_t first = 2 * merged * i;
      merge_stretches(places, begin_of(first), begin_of(first + merged),
                      begin_of(first + 2 * merged));
    });
  }
  for (size_t i = 1; i < count; ++i) {
    for (size_t group = 0; group < kGroups; ++group) {
      sizes[0][group].turns += sizes[i][group].turns;
      sizes[0][group].leaving += sizes[i][group].leaving;
    }
  }
  std::vector<SightingPart> parts(count);
  const std::array<uint8_t, kGroups> part_of = dealt(sizes[0], parts);
  for (size_t i = 0; i < places.size(); ++i) {
    parts[part_of[places[i].group]].turns.push_back({static_cast<uint32_t>(i), places[i].sighting});
  }
  return parts;
}

}  // namespace mrclab::analysis
