#include "analysis/blame/blamer.h"

#include <algorithm>
#include <set>

#include "analysis/blame/blame_draft.h"
#include "fabric/text/counted_noun.h"
#include "fabric/topology/path.h"

namespace mrclab::analysis {
namespace {

/// Stretches of one component with less between them are one blame: how long a path is left alone
/// before it is tried again, and more (our choice).
constexpr int64_t kJoinRtts = 20;
/// The links of an optic go one after the other, no further apart than this (our choice)...
constexpr int64_t kTogetherRtts = 10;
/// ...those of all else at once: as soon as a packet comes by (our choice).
constexpr int64_t kAtOnceRtts = 3;
constexpr int64_t kNoticeRtts = 8;

class Blamer {
 public:
  Blamer(const Topology& topology, const EventHistory& events, const PortLight& light,
         std::span<const BlameSample> samples)
      : topology_(topology), events_(events), light_(light), samples_(samples) {
    for (const BlameSample& sample : samples) {
      if (!sample.counts) continue;
      for (uint8_t i = 0; i < sample.wire_count; ++i) {
        used_links_.insert(topology.wire(sample.wires[i]).link);
      }
    }
  }

  /// `symptom`: what the bad samples show; empty: derived from their clues.
  void blame(const SearchOptions& options, std::optional<Symptom> symptom,
             std::vector<Blame>& blames) {
    explained_.assign(samples_.size(), false);
    probed_every_ = options.probed_every;
    noun_ = options.noun;
    SearchOptions search = options;
    search.refuted = [&](const Component& component, const std::vector<uint32_t>& bad,
                         FabricTime from, FabricTime until) {
      // Only where a host has reported a port of its own is the silence of others light.
      const DarkWords dark = dark_words(samples_, bad);
      return !dark.speakers.empty() && ruled_out(topology_, light_, dark, component, from, until);
    };
    for (Suspicion& found : search_blame(topology_, samples_, search)) {
      narrow_class(topology_, light_, samples_, found);
      for (const uint32_t index : found.bad) explained_[index] = true;
      Draft draft;
      draft.symptom = symptom.value_or(symptom_of(samples_, found.bad));
      draft.component = found.component;
      draft.or_else = std::move(found.or_else);
      // Where a single one explains as much, two at once are far less likely.
      if (draft.or_else.empty()) draft.both = std::move(found.both);
      draft.from = found.from;
      draft.until = found.until;
      draft.named = found.named;
      draft.of = found.of;
      draft.bad = std::move(found.bad);
      drafts_.push_back(std::move(draft));
    }
    join_in_time();
    if (options.question == Question::kWhoLoses) {  // nothing larger than a link copies
      for (const Component& parent : parents_of(topology_, drafts_)) join_upwards(parent);
    }
    for (Draft& draft : drafts_) {
      add_parts(draft);
      if (options.question == Question::kWhoLoses) add_zones(draft);
      join_wires(topology_, draft.component, draft.or_else);
      blames.push_back(in_words(draft));
    }
  }

 private:
  static void absorb(Draft& into, const Draft& other) {
    into.from = std::min(into.from, other.from);
    into.until = std::max(into.until, other.until);
    into.named = std::min(into.named, other.named);
    into.of += other.of;
    into.bad.insert(into.bad.end(), other.bad.begin(), other.bad.end());
  }

  static bool may_be(const Draft& draft, const Component& component) {
    return draft.component == component ||
           std::find(draft.or_else.begin(), draft.or_else.end(), component) != draft.or_else.end();
  }

  void join_in_time() {
    std::stable_sort(drafts_.begin(), drafts_.end(),
                     [](const Draft& a, const Draft& b) { return a.from < b.from; });
    std::vector<Draft> joined;
    for (Draft& draft : drafts_) {
      const auto before = std::find_if(joined.begin(), joined.end(), [&](const Draft& d) {
        return may_be(d, draft.component) && may_be(draft, d.component) &&
               draft.from <= d.until + topology_.base_rtt * kJoinRtts;
      });
      if (before == joined.end()) {
        joined.push_back(std::move(draft));
        continue;
      }
      absorb(*before, draft);
      ++before->times;
      if (before->symptom == Symptom::kLoses) before->symptom = draft.symptom;
    }
    drafts_ = std::move(joined);
  }

  /// The link of `parent`, whose links these are in ascending order, that a draft is about; of several that it may be,
  /// the first. Of a power zone that may be all links of a switch or host.
  std::vector<LinkId> children_of(const Draft& draft, const Component& parent,
                                  const std::vector<LinkId>& links) const {
    std::vector<Component> any = draft.or_else;
    any.insert(any.begin(), draft.component);
    for (const Component& component : any) {
      const bool one =
          component.kind == ComponentKind::kWire || component.kind == ComponentKind::kLink;
      const bool node =
          component.kind == ComponentKind::kSwitch || component.kind == ComponentKind::kHost;
      if (!one && !(node && parent.kind == ComponentKind::kZone)) continue;
      std::vector<LinkId> own = links_of(topology_, component);
      const bool inside = std::all_of(own.begin(), own.end(), [&](LinkId link) {
        return std::binary_search(links.begin(), links.end(), link);
      });
      if (inside) return own;
    }
    return {};
  }

  bool of_probes() const { return probed_every_ > FabricTime::zero(); }

  /// May both have the same reason, in this parent? Wrong routes and dead links do not, and a switch
  /// that reports a dark port of its own is not dead.
  bool fits(const Draft& draft, const Draft& first, const Component& parent) const {
    const bool shared = parent.kind == ComponentKind::kCard || parent.kind == ComponentKind::kZone;
    if (shared && draft.symptom != Symptom::kNoLight && !of_probes()) return false;
    const bool astray = draft.symptom == Symptom::kMisroutes;
    if (astray != (first.symptom == Symptom::kMisroutes)) return false;
    return std::none_of(draft.bad.begin(), draft.bad.end(), [&](uint32_t index) {
      const BlameSample& sample = samples_[index];
      if (sample.clue != Clue::kDark) return false;
      if (parent.kind != ComponentKind::kZone) {
        return parent.kind == ComponentKind::kSwitch && sample.about == NodeId{parent.index};
      }
      const std::vector<NodeId>& nodes = topology_.power_zones[parent.index].nodes;
      return std::find(nodes.begin(), nodes.end(), sample.about) != nodes.end();
    });
  }

  /// A larger component of which one link only was in use: it may have been this alone. (Two that went
  /// together need one reason, not two.)
  void add_parts(Draft& draft) const {
    constexpr size_t kFewLinks = 1;
    if (!has_parts(draft.component.kind)) return;
    const std::vector<LinkId> links = links_of(topology_, draft.component);
    std::set<LinkId> bad;
    for (const uint32_t index : draft.bad) {
      const BlameSample& sample = samples_[index];
      const bool located = sample.clue == Clue::kDark || sample.clue == Clue::kBitFlip;
      for (uint8_t i = 0; located && i < sample.wire_count; ++i) {
        const LinkId link = topology_.wire(sample.wires[i]).link;
        const bool inside = std::find(links.begin(), links.end(), link) != links.end();
        if (inside && (sample.suspects >> i & 1) != 0) bad.insert(link);
      }
    }
    if (bad.size() > kFewLinks) return;
    for (const LinkId link : bad) {
      const Component part{ComponentKind::kLink, link.value, {}};
      if (!may_be(draft, part)) draft.or_else.push_back(part);
    }
  }

  /// A node that may have been without power, and nothing else of its power zone is known to have had any meanwhile: it
  /// may have been the zone.
  void add_zones(Draft& draft) const {
    std::vector<Component> any = draft.or_else;
    any.insert(any.begin(), draft.component);
    const DarkWords dark = dark_words(samples_, draft.bad);
    for (uint32_t zone = 0; zone < topology_.power_zones.size(); ++zone) {
      const std::vector<NodeId>& nodes = topology_.power_zones[zone].nodes;
      const auto inside = [&](NodeId node) {
        return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
      };
      const bool of_node = std::any_of(any.begin(), any.end(), [&](const Component& one) {
        return (one.kind == ComponentKind::kSwitch || one.kind == ComponentKind::kHost) &&
               inside(NodeId{one.index});
      });
      const Component whole{ComponentKind::kZone, zone, {}};
      if (!of_node || nodes.size() < 2 || may_be(draft, whole)) continue;
      if (ruled_out(topology_, light_, dark, whole, draft.from, draft.until)) continue;
      const auto powered = [&](const BlameSample& sample) {
        if (is_word(sample)) return inside(topology_.host(sample.source));
        if (sample.bad && sample.about.valid()) return inside(sample.about);
        if (sample.bad || !sample.counts) return false;
        const auto end = sample.wires.begin() + sample.wire_count;
        return std::any_of(sample.wires.begin(), end, [&](WireId wire) {
          return inside(topology_.wire(wire).from.node) || inside(topology_.wire(wire).to.node);
        });
      };
      const auto first =
          std::lower_bound(samples_.begin(), samples_.end(), draft.from,
                           [](const BlameSample& sample, FabricTime t) { return sample.t < t; });
      const auto last = std::find_if(
          first, samples_.end(), [&](const BlameSample& sample) { return sample.t > draft.until; });
      if (std::none_of(first, last, powered)) draft.or_else.push_back(whole);
    }
  }

  /// Did hosts report ports dark at one instant for both, if for both?
  bool at_once(const Draft& draft, const Draft& first) const {
    const auto word = [&](const Draft& of) {
      FabricTime t = FabricTime::never();
      for (const uint32_t index : of.bad) {
        if (is_word(samples_[index])) t = std::min(t, samples_[index].t);
      }
      return t;
    };
    const FabricTime a = word(first), b = word(draft);
    if (a == FabricTime::never() || b == FabricTime::never()) return true;
    return std::max(a, b) <= std::min(a, b) + std::max(kAtOnce, probed_every_);
  }

  /// Links that went together, and nothing else of their parent is in use: it was the parent.
  void join_upwards(const Component& parent) {
    if (drafts_.size() < 2) return;  // a parent joins two drafts or more
    std::vector<LinkId> links = links_of(topology_, parent);
    std::sort(links.begin(), links.end());
    /// What a draft has in common with the parent, which is asked for each pair of them.
    struct Share {
      std::vector<LinkId> children;
      bool covers_all = false;
      bool is_none() const { return children.empty() && !covers_all; }
    };
    std::vector<Share> shares;
    for (const Draft& draft : drafts_) {
      shares.push_back({children_of(draft, parent, links), may_be(draft, parent)});
    }
    const auto used = static_cast<size_t>(std::count_if(
        links.begin(), links.end(), [&](LinkId link) { return used_links_.contains(link); }));
    const bool optic = parent.kind == ComponentKind::kOptic;
    const FabricTime apart =
        std::max(topology_.base_rtt * (optic ? kTogetherRtts : kAtOnceRtts), probed_every_);
    for (size_t first = 0; first < drafts_.size(); ++first) {
      std::set<LinkId> gone;
      std::vector<size_t> members;
      FabricTime last = drafts_[first].from;  // that of the first, but for an optic
      for (size_t i = first; i < drafts_.size(); ++i) {
        const Draft& draft = drafts_[i];
        const Share& share = shares[i];
        if (draft.from > last + apart) break;
        if (share.is_none() || (!optic && !at_once(draft, drafts_[first]))) continue;
        if (!fits(draft, drafts_[first], parent)) continue;
        if (optic) last = draft.from;
        members.push_back(i);
        gone.insert(share.children.begin(), share.children.end());
        if (share.covers_all) gone.insert(links.begin(), links.end());
      }
      const size_t gone_used = static_cast<size_t>(std::count_if(
          gone.begin(), gone.end(), [&](LinkId l) { return used_links_.contains(l); }));
      if (members.size() < 2 || gone_used < 2 || gone_used < used) continue;
      if (refuted(parent, members)) continue;
      Draft joined = drafts_[members.front()];
      for (size_t m = 1; m < members.size(); ++m) {
        const Draft& draft = drafts_[members[m]];
        absorb(joined, draft);
        if (joined.symptom == Symptom::kLoses) joined.symptom = draft.symptom;
      }
      joined.component = parent;
      joined.or_else.clear();
      joined.both.clear();
      drafts_[members.front()] = std::move(joined);
      shares[members.front()] = {{}, true};
      for (size_t m = members.size(); m-- > 1;) {
        drafts_.erase(drafts_.begin() + static_cast<ptrdiff_t>(members[m]));
        shares.erase(shares.begin() + static_cast<ptrdiff_t>(members[m]));
      }
    }
  }

  bool refuted(const Component& parent, const std::vector<size_t>& members) const {
    std::vector<uint32_t> bad;
    FabricTime from = FabricTime::never(), until;
    for (const size_t m : members) {
      const Draft& draft = drafts_[m];
      bad.insert(bad.end(), draft.bad.begin(), draft.bad.end());
      from = std::min(from, draft.from);
      until = std::max(until, draft.until);
    }
    return ruled_out(topology_, light_, dark_words(samples_, bad), parent, from, until);
  }

  std::string noticed(const Draft& draft) const {
    std::set<uint32_t> planes, hosts;
    for (const uint32_t index : draft.bad) {
      const BlameSample& sample = samples_[index];
      hosts.insert({sample.source, sample.destination});
      planes.insert(topology_.port(topology_.wire(sample.wires[0]).from).plane);
    }
    const FabricTime until = draft.until + topology_.base_rtt * kNoticeRtts;
    for (const PathNews& news : events_.paths()) {
      if (news.t < draft.from || news.usable || news.denied) continue;
      if (news.t > until) break;
      if (!planes.contains(news.plane) || !hosts.contains(news.host)) continue;
      const auto path = news.ev ? path_of(*news.ev) : std::nullopt;
      return topology_.node(topology_.host(news.host)).name + " left " +
             (path ? to_string(*path) : "p" + std::to_string(news.plane)) + " after " +
             to_string(news.t - draft.from);
    }
    return {};
  }

  Blame in_words(const Draft& draft) const {
    Blame blame;
    blame.kind = name_of(draft.component.kind);
    blame.component = name_of(topology_, draft.component);
    blame.symptom = draft.symptom;
    for (const Component& other : draft.or_else) {
      blame.or_else.push_back(std::string(name_of(other.kind)) + " " + name_of(topology_, other));
    }
    if (draft.symptom == Symptom::kMisroutes && draft.component.kind == ComponentKind::kWire) {
      blame.kind = "route";
      blame.component = topology_.port_name(topology_.wire(WireId{draft.component.index}).from);
    }
    if (!draft.both.empty()) {
      std::string both;
      for (const Component& one : draft.both) {
        both += both.empty() ? "" : std::string(kAndAtOnce);
        both += std::string(name_of(one.kind)) + " " + name_of(topology_, one);
      }
      blame.or_else.push_back(both);
    }
    std::vector<Component> others = draft.or_else;
    others.insert(others.end(), draft.both.begin(), draft.both.end());
    blame.places = places_of(topology_, draft.component, others);
    blame.from = draft.from;
    blame.until = draft.until;
    blame.times = draft.times;
    uint64_t words = 0;
    for (const uint32_t index : draft.bad) {
      const bool word = is_word(samples_[index]);
      words += word ? 1 : 0;
      blame.bad += word ? 0 : 1;
    }
    blame.of = std::max(draft.of - std::min(draft.of, words), blame.bad);
    for (size_t i = 0; i < samples_.size(); ++i) {
      const BlameSample& s = samples_[i];
      if (s.bad && !explained_[i] && s.t >= draft.from && s.t <= draft.until) ++blame.bad_elsewhere;
    }
    blame.noticed = noticed(draft);
    blame.named = draft.named;
    blame.evidence = evidence(blame, words);
    return blame;
  }

  std::string evidence(const Blame& blame, uint64_t words) const {
    const auto what = [&](bool one) -> std::string {
      switch (blame.symptom) {
        case Symptom::kDuplicates: return "arrived twice";
        case Symptom::kMarks:
          return std::string(one ? "was" : "were") + " marked without having waited";
        case Symptom::kFlipsBits: return "had wrong bits";
        default: return one ? "was lost" : "were lost";
      }
    };
    std::string text;
    if (blame.bad > 0) {
      text = std::to_string(blame.bad) + " of " + counted_noun(blame.of, noun_) + " over it " +
             what(blame.bad == 1) + ", " +
             (blame.bad_elsewhere == 0 ? "no other" : counted_noun(blame.bad_elsewhere, "other")) +
             " at that time";
    }
    if (words == 0) return text;
    return text + (text.empty() ? "" : "; ") + "a host saw a port of its own dark " +
           (words == 1 ? "once" : std::to_string(words) + " times");
  }

  const Topology& topology_;
  const EventHistory& events_;
  const PortLight& light_;
  std::span<const BlameSample> samples_;
  std::set<LinkId> used_links_;
  std::vector<bool> explained_;
  std::vector<Draft> drafts_;
  FabricTime probed_every_;
  std::string noun_;
};

}  // namespace

void blame_by_samples(const Topology& topology, const EventHistory& events, const PortLight& light,
                      std::span<const BlameSample> samples, const SearchOptions& options,
                      std::optional<Symptom> symptom, std::vector<Blame>& blames) {
  Blamer(topology, events, light, samples).blame(options, symptom, blames);
}

}  // namespace mrclab::analysis
