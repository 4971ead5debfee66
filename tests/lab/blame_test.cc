// Blame: every kind of fault alone, and seeds of chaos. The judge sees packets and hosts' words; the
// schedule is looked at here only, to score what was blamed.
//
// A fault is *observable* if at least kObservable data packets were lost on its wires or in its
// nodes while it lasted (duplicate: arrived twice; ecn_always: were marked), as the nodes' own drop
// records say, which blame does not use where a device could not know. A blame is *right* if the
// component or one of its stated alternatives is a target of a fault that was on at that time, or a
// part of it: a link of the switch that died.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/blame.h"
#include "analysis/blame_text.h"
#include "analysis/evidence.h"
#include "analysis/path_wires.h"
#include "fabric/path.h"
#include "faults/schedule.h"
#include "lab/chaos_scenario.h"
#include "lab/scenario.h"
#include "lab/simulation.h"
#include "tests/support/nightly.h"

using namespace mrclab;
using namespace mrclab::lab;
using faults::FaultKind;

namespace {

constexpr uint64_t kObservable = 5;
constexpr FabricTime kSlack = FabricTime::from_us(20);  // from start to loss, and on the way

struct Judged {
  analysis::Evidence evidence;
  std::vector<analysis::Blame> blames;
  explicit Judged(const Scenario& scenario)
      : evidence(scenario.topology, scenario.schedule, scenario.stop()) {
    Simulation simulation(scenario, 1,
                          [&](NodeId node) -> NodeObserver& { return evidence.observer(node); });
    simulation.run([](FabricTime) { return true; });
    evidence.finish();
    blames = analysis::find_blame(scenario.topology, evidence.packets(), evidence.events());
  }
};

/// One target of a fault: how blame would call it, and the links that are its parts.
struct Target {
  std::set<std::string> names;
  std::set<LinkId> links;
  std::set<WireId> wires;  // where its losses are recorded
  std::set<NodeId> nodes;
};

Target target_of_links(const Topology& t, const std::vector<LinkId>& links) {
  Target target;
  for (const LinkId id : links) {
    target.links.insert(id);
    target.wires.insert({t.link(id).a_to_b, t.link(id).b_to_a});
  }
  return target;
}

Target target_of_node(const Topology& t, NodeId node) {
  std::vector<LinkId> links;
  for (const Port& port : t.node(node).ports) links.push_back(port.link);
  Target target = target_of_links(t, links);
  target.nodes.insert(node);
  const bool host = t.node(node).role == NodeRole::kHost;
  target.names.insert((host ? "host " : "switch ") + t.node(node).name);
  return target;
}

std::vector<Target> targets_of(const Topology& t, const faults::Fault& fault) {
  std::vector<Target> targets;
  const faults::Targets& aimed = fault.targets;
  for (const LinkId link : aimed.links) {
    targets.push_back(target_of_links(t, {link}));
    targets.back().names = {"link " + t.link_name(link)};
  }
  for (const WireId wire : aimed.wires) {
    Target target;
    target.names = {"wire " + t.wire_name(wire), "link " + t.link_name(t.wire(wire).link)};
    target.wires = {wire};
    target.links = {t.wire(wire).link};
    targets.push_back(target);
  }
  for (const OpticId optic : aimed.optics) {
    targets.push_back(target_of_links(t, t.optic(optic).links));
    targets.back().names = {"optic " + t.optic(optic).name};
  }
  const bool routes = fault.kind == FaultKind::kSwitchMissingRoute;
  if (routes && aimed.ports.size() == t.node(aimed.ports.front().node).ports.size()) {
    Target all = target_of_node(t, aimed.ports.front().node);  // it has none left
    all.wires.clear();
    for (const PortRef port : aimed.ports) {
      all.wires.insert(t.port(port).out);
      all.names.insert("route " + t.port_name(port));
    }
    return {all};
  }
  for (const PortRef port : aimed.ports) {
    const Port& p = t.port(port);
    Target target = target_of_links(t, {p.link});
    target.names = {"link " + t.link_name(p.link), "route " + t.port_name(port)};
    target.names.insert("wire " + t.wire_name(p.out));
    target.nodes = {port.node, p.peer.node};
    target.wires = {p.out};
    if (fault.kind == FaultKind::kPortDown) target.wires.insert(p.in);
    targets.push_back(target);
  }
  const bool paths = fault.kind == FaultKind::kLossyEv;
  for (const NodeId node : aimed.nodes) {
    Target target = target_of_node(t, node);
    if (paths) {
      target.names.clear();
      for (const EntropyValue ev : aimed.evs) {
        target.names.insert("path " + t.node(node).name + " " + to_string(*path_of(ev)));
      }
    }
    targets.push_back(target);
  }
  for (const uint32_t plane : aimed.planes) {
    std::vector<LinkId> links;
    for (const Link& link : t.links) {
      if (t.port(link.a).plane == plane) links.push_back(link.id);
    }
    targets.push_back(target_of_links(t, links));
    targets.back().names = {"plane p" + std::to_string(plane)};
  }
  return targets;
}

bool is_congestion(DropCause cause) {
  return cause == DropCause::kQueueFull || cause == DropCause::kControlQueueFull;
}

/// How many packets a fault hit, by the records of those who dropped them.
uint64_t hits(const Topology& t, const Judged& run, const faults::Fault& fault,
              const Target& target) {
  const faults::Interval on = faults::interval_of(fault, t);
  const auto& packets = run.evidence.packets();
  if (fault.kind == FaultKind::kIncast) {  // so many datagrams and no less are a burst
    const auto size = static_cast<uint64_t>(fault.settings.count(faults::Parameter::kSize));
    return size >= 17 * t.pmtu ? kObservable : 0;
  }
  uint64_t count = 0;
  for (const analysis::Attempt& a : packets.transmissions()) {
    if (a.start + kSlack < on.start || a.start > on.last_heal) continue;
    const auto& flow = packets.flows()[packets.packets()[a.packet].flow];
    const auto path = path_of(a.ev);
    if (!path || !analysis::has_path(t, flow.source, flow.destination, *path)) continue;
    if (fault.kind == FaultKind::kDuplicate || fault.kind == FaultKind::kEcnAlways) {
      if (a.start < on.start) continue;
      bool through = false;
      for (const WireId w : analysis::wires_of(t, flow.source, flow.destination, *path)) {
        const bool from_it = target.nodes.contains(t.wire(w).from.node) &&
                             t.node(t.wire(w).to.node).role != NodeRole::kHost;
        const bool here = fault.kind == FaultKind::kDuplicate ? target.wires.contains(w) : from_it;
        through = through || here;
      }
      count += through && (fault.kind == FaultKind::kDuplicate ? a.copies > 0 : a.marked) ? 1 : 0;
      continue;
    }
    if (a.fate != analysis::Fate::kDropped || is_congestion(a.cause)) continue;
    if (a.ended < on.start || a.ended > on.last_heal + kSlack) continue;
    if (fault.kind == FaultKind::kLossyEv) {
      const bool ours = std::count(fault.targets.evs.begin(), fault.targets.evs.end(), a.ev) > 0;
      const bool from = target.nodes.contains(t.host(flow.source));
      count += ours && from && a.cause == DropCause::kWireLoss ? 1 : 0;
      continue;
    }
    if (fault.kind == FaultKind::kBitErrors && !target.nodes.empty()) {
      bool through = false;
      for (const WireId w : analysis::wires_of(t, flow.source, flow.destination, *path)) {
        through = through || target.nodes.contains(t.wire(w).to.node);
      }
      count += through && a.cause == DropCause::kBadIcrc ? 1 : 0;
      continue;
    }
    if (a.where.port.value >= t.node(a.where.node).ports.size()) continue;
    const Port& port = t.port(a.where);
    if (fault.kind == FaultKind::kSwitchWrongRoute || fault.kind == FaultKind::kStaleTable ||
        fault.kind == FaultKind::kSwitchMissingRoute) {
      const bool astray = a.cause == DropCause::kUnknownUsid || a.cause == DropCause::kNoReceiver;
      bool through = false;
      for (const WireId w : analysis::wires_of(t, flow.source, flow.destination, *path)) {
        through = through || target.wires.contains(w);
      }
      count += astray && through ? 1 : 0;
      continue;
    }
    const bool there = target.wires.contains(port.in) || target.wires.contains(port.out) ||
                       target.nodes.contains(a.where.node);
    count += there ? 1 : 0;
  }
  return count;
}

/// Faults that leave nothing that packets or hosts' words show, and why.
std::string without_evidence(FaultKind kind) {
  switch (kind) {
    case FaultKind::kTrimOff:
    case FaultKind::kBuffer: return "shows under congestion only, as discards of full queues";
    case FaultKind::kEcnOff: return "what is not marked cannot be told from what need not be";
    case FaultKind::kHostPause: return "a host without work looks the same";
    case FaultKind::kDenylist: return "nothing is broken: an operator's act";
    case FaultKind::kDelay:
    case FaultKind::kJitter:
    case FaultKind::kReorder:
    case FaultKind::kRate: return "looks like a queue: nothing is lost";
    default: return "";
  }
}

/// In place of the examples of the table, which hit too few packets.
const std::map<FaultKind, std::string_view> kStronger{
    {FaultKind::kBitErrors, R"({link: "p0.t0-0:u0", rate: 1e-5, for: 50us})"},
    {FaultKind::kLossyEv, R"({host: h0, path: p1/u2, loss: 90%, for: 50us})"},
};

enum class Match { kNone, kPart, kExact };

std::set<std::string> all_names(const analysis::Blame& blame) {
  std::set<std::string> names(blame.or_else.begin(), blame.or_else.end());
  names.insert(blame.kind + " " + blame.component);
  return names;
}

Match match(const Topology& t, const analysis::Blame& blame, const faults::Fault& fault,
            const Target& target) {
  const faults::Interval on = faults::interval_of(fault, t);
  if (blame.until + kSlack < on.start || blame.from > on.last_heal + kSlack) return Match::kNone;
  const std::set<std::string> names = all_names(blame);
  if (fault.kind == FaultKind::kIncast) {
    if (blame.symptom != analysis::Symptom::kBursts) return Match::kNone;
    for (const NodeId node : target.nodes) {
      if ((" " + blame.component + " ").find(" " + t.node(node).name + " ") != std::string::npos) {
        return Match::kExact;
      }
    }
    return Match::kNone;
  }
  for (const std::string& name : target.names) {
    if (names.contains(name)) return Match::kExact;
  }
  for (const LinkId link : target.links) {
    const Link& l = t.link(link);
    const bool named = names.contains("link " + t.link_name(link)) ||
                       names.contains("wire " + t.wire_name(l.a_to_b)) ||
                       names.contains("wire " + t.wire_name(l.b_to_a));
    if (named) return Match::kPart;
  }
  return Match::kNone;
}

struct KindRow {
  uint64_t injected = 0, observable = 0, exact = 0, part = 0, unobservable_named = 0;
};
struct Score {
  std::map<std::string, KindRow> rows;  // by kind
  uint64_t blames = 0, right = 0, parts = 0;
  std::vector<std::string> wrong, missed;

  void add(const std::string& run, const Scenario& scenario, const Judged& judged) {
    const Topology& t = scenario.topology;
    std::vector<Match> best(judged.blames.size(), Match::kNone);
    for (const faults::Fault& fault : scenario.faults) {
      KindRow& row = rows[std::string(faults::name_of(fault))];
      for (const Target& target : targets_of(t, fault)) {
        ++row.injected;
        Match found = Match::kNone;
        for (size_t i = 0; i < judged.blames.size(); ++i) {
          const Match m = match(t, judged.blames[i], fault, target);
          best[i] = std::max(best[i], m);
          found = std::max(found, m);
        }
        const bool observable =
            without_evidence(fault.kind).empty() && hits(t, judged, fault, target) >= kObservable;
        if (!observable) {
          row.unobservable_named += found == Match::kNone ? 0 : 1;
          continue;
        }
        ++row.observable;
        row.exact += found == Match::kExact ? 1 : 0;
        row.part += found == Match::kPart ? 1 : 0;
        if (found != Match::kExact) {
          missed.push_back(run + (found == Match::kPart ? " PART " : " ") + describe(fault, t) +
                           " hits " + std::to_string(hits(t, judged, fault, target)));
        }
      }
    }
    for (size_t i = 0; i < best.size(); ++i) {
      ++blames;
      right += best[i] == Match::kExact ? 1 : 0;
      parts += best[i] == Match::kPart ? 1 : 0;
      if (best[i] != Match::kNone) continue;
      std::string text = run + " " + headline(judged.blames[i]) + ": " + judged.blames[i].evidence;
      for (const std::string& other : judged.blames[i].or_else) text += " | " + other;
      wrong.push_back(text);
    }
  }

  double precision() const {
    return blames == 0 ? 1 : static_cast<double>(right + parts) / static_cast<double>(blames);
  }
  double recall() const {
    uint64_t observable = 0, found = 0;
    for (const auto& [kind, row] : rows) {
      observable += row.observable;
      found += row.exact;
    }
    return observable == 0 ? 1 : static_cast<double>(found) / static_cast<double>(observable);
  }
  std::string table() const {
    std::string text = "kind                  injected observable  named  part missed\n";
    for (const auto& [kind, row] : rows) {
      char line[96];
      std::snprintf(line, sizeof line, "%-22s %7lu %10lu %6lu %5lu %6lu\n", kind.c_str(),
                    row.injected, row.observable, row.exact, row.part,
                    row.observable - row.exact - row.part);
      text += line;
    }
    char line[160];
    std::snprintf(line, sizeof line,
                  "blames %lu: right %lu, a part %lu, wrong %zu; precision %.3f, recall %.3f\n",
                  blames, right, parts, wrong.size(), precision(), recall());
    return text + line;
  }
};

Scenario one_fault(const std::string& kind, const std::string& body) {
  const std::string text =
      "name: one\nfabric: octet\nseed: 1\nworkload:\n"
      "  - all_to_all: {hosts: all, size: 1MiB, until: end}\n"
      "faults:\n  - {at: 60us, " +
      kind + ": " + body + "}\nend: 160us\n";
  return parse_scenario(read_yaml_text(text, "one_fault"));
}

}  // namespace

TEST_CASE("each kind of fault alone is blamed on its target, or leaves no evidence" *
          doctest::test_suite(test::kWholeRun)) {
  Score score;
  for (const faults::FaultInfo& info : faults::all_faults()) {
    CAPTURE(info.name);
    const auto stronger = kStronger.find(info.kind);
    const Scenario scenario =
        one_fault(std::string(info.name),
                  std::string(stronger == kStronger.end() ? info.example : stronger->second));
    const Judged judged(scenario);
    Score one;
    one.add(std::string(info.name), scenario, judged);
    score.add(std::string(info.name), scenario, judged);
    for (const std::string& wrong : one.wrong) FAIL_CHECK("wrong: " << wrong);
    for (const std::string& missed : one.missed) FAIL_CHECK("missed: " << missed);
    if (!without_evidence(info.kind).empty()) continue;
    CHECK_MESSAGE(one.recall() == 1, info.name);
  }
  MESSAGE(score.table());
}

TEST_CASE("over seeds of chaos what is blamed was broken, and what was broken is blamed" *
          doctest::test_suite(test::kWholeRun)) {
  const uint64_t seeds = test::nightly() ? 200 : 16;
  const ChaosBase base = load_chaos_base("octet");
  Score score;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const ChaosScenario drawn = chaos_scenario(base, seed);
    const Judged judged(drawn.scenario);
    score.add("seed " + std::to_string(seed), drawn.scenario, judged);
  }
  for (const std::string& wrong : score.wrong) MESSAGE("wrong: " << wrong);
  for (const std::string& missed : score.missed) MESSAGE("missed: " << missed);
  MESSAGE(score.table());
  CHECK(score.precision() >= 0.95);
  CHECK(score.recall() >= 0.9);
}
