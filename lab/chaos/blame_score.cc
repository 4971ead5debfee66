#include "lab/chaos/blame_score.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/blame/blame.h"
#include "analysis/blame/blame_text.h"
#include "fabric/text/counted_noun.h"
#include "faults/schedule.h"
#include "lab/chaos/blame_target.h"
#include "scenario/simulation/simulation.h"

namespace mrclab::lab {
namespace {

/// Ascending: from no match to the best.
enum class BlameMatch : uint8_t { kNone, kPart, kClass, kComponent };

/// Was the fault named, alone or as one of few?
bool names_fault(BlameMatch match) {
  return match == BlameMatch::kComponent || match == BlameMatch::kClass;
}

BlameMatch match_burst(const Topology& t, const analysis::Blame& blame, const BlameTarget& target) {
  if (blame.symptom != analysis::Symptom::kBursts) return BlameMatch::kNone;
  const std::string senders = " " + blame.component + " ";
  const bool named = std::any_of(target.nodes.begin(), target.nodes.end(), [&](NodeId node) {
    return senders.find(" " + t.node(node).name + " ") != std::string::npos;
  });
  return named ? BlameMatch::kComponent : BlameMatch::kNone;
}

BlameMatch match_of(const Topology& t, const analysis::Blame& blame, const faults::Fault& fault,
                    const BlameTarget& target) {
  const faults::Interval on = faults::interval_of(fault, t);
  const bool lasting = blame.kind == "host" && loses_queue_pairs(fault.kind);
  const bool late = !lasting && blame.from > on.last_heal + kBlameSlack;
  if (late || blame.until + kBlameSlack < on.start) return BlameMatch::kNone;
  const bool bursts =
      fault.kind == faults::FaultKind::kIncast || fault.kind == faults::FaultKind::kAttack;
  if (bursts) return match_burst(t, blame, target);
  if (target.names.contains(blame.kind + " " + blame.component)) return BlameMatch::kComponent;
  if (blame.places > kBlameClassMax) return BlameMatch::kNone;
  std::set<std::string> names;
  for (const std::string& other : blame.or_else) {  // of two at once each is named
    const size_t at = other.find(analysis::kAndAtOnce);
    names.insert(other.substr(0, at));
    if (at != std::string::npos) names.insert(other.substr(at + analysis::kAndAtOnce.size()));
  }
  for (const std::string& name : target.names) {
    if (names.contains(name)) return BlameMatch::kClass;
  }
  names.insert(blame.kind + " " + blame.component);
  for (const LinkId link : target.links) {
    const Link& l = t.link(link);
    const bool named = names.contains("link " + t.link_name(link)) ||
                       names.contains("wire " + t.wire_name(l.a_to_b())) ||
                       names.contains("wire " + t.wire_name(l.b_to_a())) ||
                       names.contains("route " + t.port_name(l.a)) ||
                       names.contains("route " + t.port_name(l.b));
    if (named) return BlameMatch::kPart;
  }
  for (const BlameTarget& part : target.parts) {
    for (const std::string& name : part.names) {
      if (names.contains(name)) return BlameMatch::kPart;
    }
  }
  const auto inside = [&](const std::vector<LinkId>& links) {
    return std::all_of(links.begin(), links.end(),
                       [&](LinkId link) { return target.links.contains(link); });
  };
  for (const Optic& optic : t.optics) {  // the optic belongs to a plane or switch
    if (names.contains("optic " + optic.name) && inside(optic.links)) return BlameMatch::kPart;
  }
  return BlameMatch::kNone;
}

void count_target(BlameCases& cases, BlameMatch found, const TargetHits& hits) {
  ++cases.targets;
  const bool right = names_fault(found);
  if (hits.all < kObservableHits) {
    cases.faint += hits.all > 0 ? 1 : 0;
    cases.faint_named += hits.all > 0 && right ? 1 : 0;
    return;
  }
  ++cases.observable;
  cases.alone += hits.alone >= kObservableHits ? 1 : 0;
  cases.alone_named += hits.alone >= kObservableHits && right ? 1 : 0;
  cases.component += found == BlameMatch::kComponent ? 1 : 0;
  cases.in_class += found == BlameMatch::kClass ? 1 : 0;
  cases.part += found == BlameMatch::kPart ? 1 : 0;
}

/// All that is broken in a run but this part.
std::vector<BlameCase> rivals_of(const std::vector<faults::Fault>& faults,
                                 const std::vector<std::vector<BlameTarget>>& broken,
                                 const BlameTarget& part) {
  std::vector<BlameCase> rivals;
  for (size_t f = 0; f < broken.size(); ++f) {
    for (const BlameTarget& other : broken[f]) {
      if (!same_part(other, part)) rivals.push_back({&faults[f], &other});
    }
  }
  return rivals;
}

/// Where the fault touched one of its parts alone, nothing distinguishes that from the whole.
template <class Touched>
void add_names_of_touched_part(BlameTarget& target, const Touched& touched) {
  std::vector<const BlameTarget*> parts;
  for (const BlameTarget& part : target.parts) {
    if (touched(part).all > 0) parts.push_back(&part);
  }
  if (parts.size() != 1) return;
  target.names.insert(parts.front()->names.begin(), parts.front()->names.end());
}

void add_cases(BlameCases& into, const BlameCases& from) {
  into.targets += from.targets;
  into.faint += from.faint;
  into.observable += from.observable;
  into.component += from.component;
  into.in_class += from.in_class;
  into.part += from.part;
  into.faint_named += from.faint_named;
  into.alone += from.alone;
  into.alone_named += from.alone_named;
}

}  // namespace

void BlameScore::add_score(const BlameScore& other) {
  for (const auto& [kind, cases] : other.kinds) add_cases(kinds[kind], cases);
  runs += other.runs;
  blames += other.blames;
  right += other.right;
  parts += other.parts;
  for (const auto& [transport, shares] : other.transports) {
    BlameShares& into = transports[transport];
    into.runs += shares.runs;
    into.blames += shares.blames;
    into.named += shares.named;
    into.observable += shares.observable;
    into.found += shares.found;
    into.alone += shares.alone;
    into.alone_found += shares.alone_found;
  }
  wrong.insert(wrong.end(), other.wrong.begin(), other.wrong.end());
  delays_ns.insert(delays_ns.end(), other.delays_ns.begin(), other.delays_ns.end());
  not_found.insert(not_found.end(), other.not_found.begin(), other.not_found.end());
}

BlameCases BlameScore::all_kinds() const {
  BlameCases all;
  for (const auto& [kind, cases] : kinds) add_cases(all, cases);
  return all;
}

double BlameScore::precision() const { return share_of(right + parts, blames); }

double BlameScore::recall() const {
  const BlameCases all = all_kinds();
  return share_of(all.component + all.in_class, all.observable);
}

double BlameScore::recall_faint() const {
  const BlameCases all = all_kinds();
  return share_of(all.component + all.in_class + all.faint_named, all.observable + all.faint);
}

double BlameScore::recall_alone() const {
  const BlameCases all = all_kinds();
  return share_of(all.alone_named, all.alone);
}

double share_of(uint64_t of, uint64_t all) {
  return all == 0 ? 1 : static_cast<double>(of) / static_cast<double>(all);
}

void BlameScore::count_for(const std::string& transport) {
  const BlameCases all = all_kinds();
  transports[transport] = {
      runs,      blames,         right + parts, all.observable, all.component + all.in_class,
      all.alone, all.alone_named};
}

bool BlameScore::reaches_marks(const ScoreMarks& marks) const {
  return precision() >= marks.precision && recall() >= marks.recall;
}

BlameScore score_blame(const std::string& run, const Scenario& scenario,
                       const analysis::Evidence& evidence,
                       const std::vector<analysis::Blame>& blames) {
  const Topology& t = scenario.topology;
  const analysis::TakenWays ways(t, evidence.packets());
  return score_parts(run, scenario, blames, {},
                     [&](const BlameCase& of, std::span<const BlameCase> rivals) {
                       return hits_of(t, evidence, ways, of, rivals);
                     });
}

BlameScore score_parts(const std::string& run, const Scenario& scenario,
                       const std::vector<analysis::Blame>& blames,
                       const std::vector<FabricTime>& named, const HitsOf& hits_of_target) {
  const Topology& t = scenario.topology;
  BlameScore score;
  score.runs = 1;
  std::vector<BlameMatch> best(blames.size(), BlameMatch::kNone);
  std::vector<std::vector<BlameTarget>> broken;
  for (const faults::Fault& fault : scenario.faults) broken.push_back(blame_targets(t, fault));
  for (size_t f = 0; f < broken.size(); ++f) {
    const faults::Fault& fault = scenario.faults[f];
    for (BlameTarget& target : broken[f]) {
      const bool shows = without_evidence(fault.kind).empty();
      const std::vector<BlameCase> rivals = rivals_of(scenario.faults, broken, target);
      const auto touched = [&](const BlameTarget& of) {
        return shows ? hits_of_target({&fault, &of}, rivals) : TargetHits();
      };
      const TargetHits hits = touched(target);
      add_names_of_touched_part(target, touched);
      BlameMatch found = BlameMatch::kNone;
      FabricTime first = FabricTime::never();
      for (size_t i = 0; i < blames.size(); ++i) {
        const BlameMatch match = match_of(t, blames[i], fault, target);
        best[i] = std::max(best[i], match);
        found = std::max(found, match);
        if (!named.empty() && names_fault(match)) first = std::min(first, named[i]);
      }
      if (first != FabricTime::never()) {
        score.delays_ns.push_back((first - faults::interval_of(fault, t).start).ns());
      }
      count_target(score.kinds[std::string(faults::name_of(fault))], found, hits);
      if (hits.all < kObservableHits || names_fault(found)) continue;
      score.not_found.push_back(fmt::format("{}: {}{}, {}, {} alone", run, describe(fault, t),
                                            found == BlameMatch::kPart ? " (a part named)" : "",
                                            counted_noun(hits.all, "packet"), hits.alone));
    }
  }
  for (size_t i = 0; i < best.size(); ++i) {
    ++score.blames;
    score.right += names_fault(best[i]) ? 1 : 0;
    score.parts += best[i] == BlameMatch::kPart ? 1 : 0;
    if (best[i] != BlameMatch::kNone) continue;
    std::string text = fmt::format("{}: {}; {}", run, headline(blames[i]), blames[i].evidence);
    for (const std::string& other : blames[i].or_else) text += "; or " + other;
    score.wrong.push_back(std::move(text));
  }
  return score;
}

std::vector<bool> named_faults(const Scenario& scenario, const analysis::Evidence& evidence,
                               const std::vector<analysis::Blame>& blames) {
  const Topology& t = scenario.topology;
  const analysis::TakenWays ways(t, evidence.packets());
  std::vector<bool> named;
  for (const faults::Fault& fault : scenario.faults) {
    std::vector<BlameTarget> targets = blame_targets(t, fault);
    named.push_back(std::any_of(targets.begin(), targets.end(), [&](BlameTarget& target) {
      add_names_of_touched_part(target, [&](const BlameTarget& part) {
        return hits_of(t, evidence, ways, {&fault, &part}, {});
      });
      return std::any_of(blames.begin(), blames.end(), [&](const analysis::Blame& blame) {
        return match_of(t, blame, fault, target) != BlameMatch::kNone;
      });
    }));
  }
  return named;
}

BlameScore score_scenario(const std::string& run, const Scenario& scenario) {
  analysis::Evidence evidence(scenario.topology, scenario.schedule, scenario.stop());
  {
    Simulation simulation(scenario, 1,
                          [&](NodeId node) -> NodeObserver& { return evidence.observer(node); });
    simulation.run();
  }
  evidence.finish();
  return score_blame(
      run, scenario, evidence,
      analysis::find_blame(scenario.topology, evidence.packets(), evidence.events()));
}

}  // namespace mrclab::lab
