#include "analysis/blame/blame_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "analysis/blame/blame_track.h"

namespace mrclab::analysis {
namespace {

/// There are about 500 components x 1000 intervals: what one of them needs to be no chance, in nats.
constexpr double kReason = 12;
/// Components whose gains differ by less explain the samples equally well: a likelihood ratio of 20.
constexpr double kAlike = 3;
constexpr size_t kAlikeMax = 32;  // a path of six wires has 24, and narrow_class() needs them all
constexpr size_t kPairsOf = 8;    // the best so many are tried in pairs
constexpr double kWhole = 0.9;
/// What has parts loses this share, or more; what comes through came at another time than was computed.
constexpr double kAll = 0.998;

class Search {
  using Entry = std::pair<const Component, Track>;

 public:
  Search(const Topology& topology, std::span<const BlameSample> samples,
         const SearchOptions& options)
      : topology_(topology),
        samples_(samples),
        options_(options),
        zones_(zones_of_nodes(topology)),
        open_(samples.size(), true) {
    fill();
  }

  std::vector<Suspicion> run() {
    std::vector<Suspicion> found;
    while (found.size() < kMaxSuspicions) {
      for (Entry& entry : tracks_) gain_of(entry);
      const auto best = std::max_element(tracks_.begin(), tracks_.end(), [](auto& a, auto& b) {
        return a.second.gain < b.second.gain;
      });
      if (best == tracks_.end() || best->second.gain < options_.least_gain) break;
      Entry& part = *best_part(*best);
      if (!stands_for_want(part.first) && refuted(part)) {
        part.second.gain = 0;
      } else {
        found.push_back(take(part.first, part.second));
      }
    }
    return found;
  }

 private:
  /// Tracks of those components only that a bad sample suspects.
  void fill() {
    Concerned concerned;
    for (const BlameSample& sample : samples_) {
      if (!sample.bad) continue;
      concerned_by(topology_, zones_, sample, options_.question, concerned);
      for (const auto& [component, wires] : concerned) {
        if (explains(sample, component, wires)) tracks_.try_emplace(component);
      }
    }
    if (tracks_.empty()) return;
    for (uint32_t i = 0; i < samples_.size(); ++i) {
      if (!samples_[i].counts) continue;
      concerned_by(topology_, zones_, samples_[i], options_.question, concerned);
      for (const auto& [component, wires] : concerned) {
        const auto track = tracks_.find(component);
        if (track == tracks_.end()) continue;
        track->second.samples.push_back({when_at(component, samples_[i], wires), i, wires});
      }
    }
    for (auto& [component, track] : tracks_) std::sort(track.samples.begin(), track.samples.end());
  }

  /// When the sample came to a component: to its first wire there; to a switch or a host, to the end of that wire.
  FabricTime when_at(const Component& component, const BlameSample& sample, uint8_t wires) const {
    const auto first = static_cast<size_t>(std::countr_zero(wires));
    const bool node =
        component.kind == ComponentKind::kSwitch || component.kind == ComponentKind::kHost;
    const bool arrives =
        node && topology_.wire(sample.wires[first]).to.node == NodeId{component.index};
    if (!arrives && first == 0) return sample.t;
    return sample.t + FabricTime::from_ps(sample.reach[arrives ? first : first - 1]);
  }

  /// May it be named though it is refuted, for want of anything better? Of probes, agents report the light of every port.
  bool stands_for_want(const Component& component) const {
    return options_.probed_every == FabricTime() && component.kind != ComponentKind::kCard &&
           component.kind != ComponentKind::kZone &&
           (component.kind != ComponentKind::kPlane || topology_.has_planes());
  }

  bool refuted(const Entry& entry) const {
    if (!options_.refuted) return false;
    const std::vector<uint32_t> bad = bad_of(entry.first, entry.second);
    return options_.refuted(entry.first, bad, samples_[bad.front()].t, samples_[bad.back()].t);
  }

  /// A host of a zone without power reports nothing, and a switch that discards for want of light has power.
  bool can_explain(const BlameSample& sample, const Component& component, uint8_t wires) const {
    if (component.kind == ComponentKind::kZone) {
      const auto inside = [&](NodeId node) {
        const std::vector<uint32_t>& zones = zones_[node.value];
        return std::find(zones.begin(), zones.end(), component.index) != zones.end();
      };
      if (is_word(sample) && inside(topology_.host(sample.source))) return false;
      if (sample.clue == Clue::kAstray)
        return (sample.suspects & wires) != 0 && inside(sample.about);
      if (sample.clue == Clue::kDark && sample.about.valid() && inside(sample.about)) return false;
    }
    return explains(sample, component, wires);
  }

  /// What a sample adds to the gain, or takes from it, if the component loses this share. A sample that another
  /// component explains, or that cannot have gone bad here, adds nothing.
  double weight(const Component& component, uint32_t index, uint8_t wires, double for_it,
                double against_it) const {
    const BlameSample& sample = samples_[index];
    if (!sample.bad) return against_it;
    if (!open_[index] || !can_explain(sample, component, wires)) return 0;
    return for_it * sample.weight;
  }

  /// A transceiver, switch, host or plane fails whole: part of what it carries is lost only where it
  /// flips bits inside.
  static bool fails_in_part(const Component& component, const BlameSample& sample) {
    return !has_parts(component.kind) || !sample.bad || sample.clue == Clue::kInside;
  }

  /// The interval of the greatest sum (Kadane), over the severities.
  double gain_of(Entry& entry) { return gain_of(entry.first, entry.second); }
  double gain_of(const Component& component, Track& track) {
    if (track.fresh) return track.gain;
    track.fresh = true;
    track.gain = 0;
    for (const double tried : options_.severities) {
      const bool whole = tried > kWhole;
      // What came through counts more against what has parts; what was lost counts as much for all.
      const double share = whole && has_parts(component.kind) ? std::max(tried, kAll) : tried;
      const double for_it = std::log(tried / options_.chance);
      const double against_it = std::log((1 - share) / (1 - options_.chance));
      double sum = 0, peak = 0;
      size_t begin = 0, named = SIZE_MAX;
      Shown shown;
      for (size_t i = 0; i < track.samples.size(); ++i) {
        const auto [t, index, wires] = track.samples[i];
        if (!whole && !fails_in_part(component, samples_[index])) continue;
        if (!same_event(component, samples_[index], shown)) continue;
        sum += weight(component, index, wires, for_it, against_it);
        peak = std::max(peak, sum);
        if (sum <= 0 ||
            sum < peak - kReason) {  // what follows is as well explained by another reason
          sum = peak = 0;
          begin = i + 1;
          named = SIZE_MAX;
          shown = {};
          continue;
        }
        if (sum >= options_.least_gain) named = std::min(named, i);
        if (sum > track.gain) {
          track.gain = sum;
          track.named = std::min(named, i);
          track.begin = begin;
          track.end = i + 1;
        }
      }
    }
    if (!more_than_a_part(component, track)) track.gain = 0;
    return track.gain;
  }

  /// A line card is suspected only where two of its links went dark, a power zone where no one node of it is at all
  /// the links that did: else the link or the node is the simpler reason. A probe shows no light; that it was lost counts.
  bool more_than_a_part(const Component& component, const Track& track) const {
    const bool card = component.kind == ComponentKind::kCard;
    if ((!card && component.kind != ComponentKind::kZone) || track.gain < options_.least_gain)
      return true;
    std::set<uint32_t> of_card;
    if (card) {
      const PortRef first = topology_.wire(WireId{component.index}).from;
      for (const PortRef port : topology_.line_card_of(first)) {
        of_card.insert(topology_.port(port).link.value);
      }
    }
    std::optional<std::set<uint32_t>> common;  // links of a card, nodes of a zone
    for (const uint32_t index : bad_of(component, track)) {
      const BlameSample& sample = samples_[index];
      const bool astray = !card && sample.clue == Clue::kAstray;
      if (sample.clue != Clue::kDark && !astray && !sample.probe) continue;
      std::set<uint32_t> parts;
      for (uint8_t i = 0; i < sample.wire_count; ++i) {
        if ((sample.suspects >> i & 1) == 0) continue;
        const Wire& wire = topology_.wire(sample.wires[i]);
        if (card) {
          if (of_card.contains(wire.link.value)) parts.insert(wire.link.value);
          continue;
        }
        for (const NodeId node : {wire.from.node, wire.to.node}) {
          const std::vector<uint32_t>& zones = zones_[node.value];
          if (std::count(zones.begin(), zones.end(), component.index) > 0) parts.insert(node.value);
        }
      }
      if (parts.empty()) continue;
      if (!common) common = parts;
      std::erase_if(*common, [&](uint32_t part) { return !parts.contains(part); });
      if (common->empty()) return true;
    }
    return false;
  }

  /// Does a large component explain more than its parts, each with a reason of its own? If not,
  /// returns the best of the parts.
  Entry* best_part(Entry& whole) {
    if (!has_parts(whole.first.kind)) return &whole;
    const std::vector<uint32_t> all = bad_of(whole.first, whole.second);
    const std::vector<Entry*> smaller = smaller_than(whole.first);
    // What explains all of it is no part and would hide the parts, and so would a part of each of them.
    std::pair<Entry*, double> best = cover(smaller, all, {});
    Entry* any = best.first;
    for (size_t kind = 0; kind < static_cast<size_t>(whole.first.kind); ++kind) {
      const auto parts = cover(smaller, all, static_cast<ComponentKind>(kind));
      if (parts.first != nullptr && parts.second > best.second) best = parts;
    }
    if (best.first != nullptr && best.second > whole.second.gain - kReason) return best.first;
    return any != nullptr && refuted(whole) ? any : &whole;
  }

  /// Components of smaller kinds that explain enough for a reason of their own, the best first.
  std::vector<Entry*> smaller_than(const Component& component) {
    std::vector<Entry*> smaller;
    for (auto& entry : tracks_) {
      if (entry.first.kind < component.kind && gain_of(entry) >= options_.least_gain) {
        smaller.push_back(&entry);
      }
    }
    std::stable_sort(smaller.begin(), smaller.end(), [](const Entry* a, const Entry* b) {
      return a->second.gain > b->second.gain;
    });
    return smaller;
  }

  /// Takes entries of `smaller`, the best first, as long as each explains samples of `all` that those taken before do not;
  /// with a `kind`, entries of that kind alone, which explain part of `all` each. Returns the first that it took, and the
  /// gain of all that it took together, less the cost of one reason for each.
  std::pair<Entry*, double> cover(const std::vector<Entry*>& smaller,
                                  const std::vector<uint32_t>& all,
                                  std::optional<ComponentKind> kind) const {
    std::vector<uint32_t> covered;
    std::pair<Entry*, double> result{nullptr, 0};
    for (Entry* entry : smaller) {
      if (kind && entry->first.kind != *kind) continue;
      const std::vector<uint32_t> bad = bad_of(entry->first, entry->second);
      std::vector<uint32_t> common, fresh, together;
      std::set_intersection(bad.begin(), bad.end(), all.begin(), all.end(),
                            std::back_inserter(common));
      if (kind && common.size() * 10 >= all.size() * 9) continue;
      std::set_difference(common.begin(), common.end(), covered.begin(), covered.end(),
                          std::back_inserter(fresh));
      if (fresh.empty() || fresh.size() * 10 < common.size() * 9) continue;  // another explains it
      std::set_union(covered.begin(), covered.end(), fresh.begin(), fresh.end(),
                     std::back_inserter(together));
      covered.swap(together);
      // What it explains beyond the whole does not count.
      const double share = static_cast<double>(fresh.size()) / static_cast<double>(bad.size());
      result.second += entry->second.gain * share - kReason;
      if (result.first == nullptr) result.first = entry;
    }
    return result;
  }

  std::vector<uint32_t> bad_of(const Component& component, const Track& track) const {
    std::vector<uint32_t> bad;
    Shown shown;
    for (size_t i = track.begin; i < track.end; ++i) {
      const auto [t, index, wires] = track.samples[i];
      const BlameSample& sample = samples_[index];
      if (!same_event(component, sample, shown)) continue;
      if (sample.bad && open_[index] && can_explain(sample, component, wires)) bad.push_back(index);
    }
    std::sort(bad.begin(), bad.end());
    return bad;
  }

  Suspicion take(const Component& component, Track& track) {
    Suspicion suspicion;
    suspicion.component = component;
    suspicion.gain = track.gain;
    suspicion.bad = bad_of(component, track);
    suspicion.from = samples_[suspicion.bad.front()].t;
    suspicion.until = samples_[suspicion.bad.back()].t;
    suspicion.named = samples_[track.samples[track.named].index].t;
    for (size_t i = track.begin; i < track.end; ++i) {
      const BlameSample& sample = samples_[track.samples[i].index];
      if (sample.t >= suspicion.from && sample.t <= suspicion.until) ++suspicion.of;
    }
    find_alike(suspicion);
    find_both(suspicion);
    close(suspicion.bad);
    close(under_way(component, track, suspicion.from));
    return suspicion;
  }

  /// What the component explains of the packets that were on their way when it began: samples are in the
  /// order of sending, and one that waited in a queue was there later than one that was sent after it.
  std::vector<uint32_t> under_way(const Component& component, const Track& track,
                                  FabricTime from) const {
    std::vector<uint32_t> bad;
    for (size_t i = track.begin; i > 0; --i) {
      const auto [t, index, wires] = track.samples[i - 1];
      const BlameSample& sample = samples_[index];
      if (sample.t + topology_.base_rtt < from) break;
      if (sample.bad && open_[index] && can_explain(sample, component, wires)) bad.push_back(index);
    }
    return bad;
  }

  /// The same samples, as well explained.
  void find_alike(Suspicion& suspicion) {
    for (auto& [component, track] : tracks_) {
      const double gain = gain_of(component, track);
      if (component == suspicion.component || std::abs(gain - suspicion.gain) > kAlike) {
        continue;
      }
      const std::vector<uint32_t> bad = bad_of(component, track);
      std::vector<uint32_t> both;
      std::set_intersection(bad.begin(), bad.end(), suspicion.bad.begin(), suspicion.bad.end(),
                            std::back_inserter(both));
      const bool same = both.size() * 10 >= suspicion.bad.size() * 9;
      if (same && suspicion.or_else.size() < kAlikeMax) suspicion.or_else.push_back(component);
    }
    // The smallest is named: a larger one needs a reason of its own.
    if (!suspicion.or_else.empty() && suspicion.or_else.front() < suspicion.component) {
      std::swap(suspicion.or_else.front(), suspicion.component);
      std::sort(suspicion.or_else.begin(), suspicion.or_else.end());
    }
  }

  /// Two switches, or two links, that explain nine tenths of it if both failed at once, and none of them all of it.
  void find_both(Suspicion& suspicion) {
    if (!has_parts(suspicion.component.kind)) return;
    const std::vector<uint32_t>& all = suspicion.bad;
    for (const ComponentKind kind : {ComponentKind::kSwitch, ComponentKind::kLink}) {
      std::vector<std::pair<Entry*, std::vector<uint32_t>>> parts;
      for (Entry* entry : smaller_than(suspicion.component)) {
        if (entry->first.kind != kind || parts.size() == kPairsOf || refuted(*entry)) continue;
        const std::vector<uint32_t> bad = bad_of(entry->first, entry->second);
        std::vector<uint32_t> common;
        std::set_intersection(bad.begin(), bad.end(), all.begin(), all.end(),
                              std::back_inserter(common));
        if (!common.empty() && common.size() < all.size()) parts.emplace_back(entry, common);
      }
      for (size_t a = 0; a < parts.size(); ++a) {
        for (size_t b = a + 1; b < parts.size(); ++b) {
          std::vector<uint32_t> either;
          std::set_union(parts[a].second.begin(), parts[a].second.end(), parts[b].second.begin(),
                         parts[b].second.end(), std::back_inserter(either));
          const size_t larger = std::max(parts[a].second.size(), parts[b].second.size());
          if (either.size() * 10 < all.size() * 9 || either.size() == larger) continue;
          suspicion.both = {parts[a].first->first, parts[b].first->first};
          return;
        }
      }
    }
  }

  void close(const std::vector<uint32_t>& bad) {
    Concerned concerned;
    for (const uint32_t index : bad) {
      open_[index] = false;
      concerned_by(topology_, zones_, samples_[index], options_.question, concerned);
      for (const auto& [component, wires] : concerned) {
        const auto track = tracks_.find(component);
        if (track != tracks_.end()) track->second.fresh = false;
      }
    }
  }

  const Topology& topology_;
  std::span<const BlameSample> samples_;
  const SearchOptions& options_;
  ZonesOfNodes zones_;
  std::vector<bool> open_;
  std::map<Component, Track> tracks_;
};

}  // namespace

std::vector<Suspicion> search_blame(const Topology& topology, std::span<const BlameSample> samples,
                                    const SearchOptions& options) {
  return Search(topology, samples, options).run();
}

}  // namespace mrclab::analysis
