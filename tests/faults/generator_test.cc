// What chaos draws: healed in time, repeatable, and survivable by a second opinion, which uses
// no holds: it replays the effects and walks every path at every instant.

#include "faults/generator.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "fabric/node/effect_fields.h"
#include "fabric/topology/path.h"
#include "faults/forwarding_limits.h"
#include "faults/schedule.h"
#include "faults/survival.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::faults;

namespace {

constexpr FabricTime kFrom = FabricTime::from_us(350);
constexpr FabricTime kHealBy = FabricTime::from_us(600);

DrawnFaults drawn(const Topology& t, uint64_t seed) {
  GeneratorOptions options;
  options.seed = seed;
  options.from = kFrom;
  options.heal_by = kHealBy;
  for (uint32_t h = 0; h < t.host_count(); ++h) options.hosts.push_back(h);
  return draw_faults(t, options);
}

/// What is broken at one instant, from the effects alone.
class Wreckage {
 public:
  explicit Wreckage(const Topology& topology) : t_(topology) {}

  void apply(const Effect& effect) {
    const bool broken = !is_as_built(effect);
    if (const auto* light = std::get_if<WireState>(&effect)) set(wires_, light->wire, 0, broken);
    if (const auto* loss = std::get_if<WireLoss>(&effect)) {
      set(wires_, loss->wire, 1 + (loss->one_ev ? loss->ev.value + 8 : 0), broken);
    }
    if (const auto* errors = std::get_if<WireErrors>(&effect)) {
      set(wires_, errors->wire, 2, broken);
    }
    if (const auto* carrier = std::get_if<PortCarrier>(&effect)) {
      set(wires_, t_.port(carrier->port).out, 3, broken);
    }
    if (const auto* work = std::get_if<SwitchState>(&effect)) set(nodes_, work->node, 0, broken);
    if (const auto* bits = std::get_if<SwitchErrors>(&effect)) set(nodes_, bits->node, 1, broken);
    if (const auto* route = std::get_if<SwitchRoute>(&effect)) {
      set(nodes_, route->node, 2 + route->usid.value, broken);
    }
    if (const auto* host = std::get_if<HostState>(&effect)) {
      if (host->work == HostWork::kDown) set(nodes_, host->host, 3, true);
    }
    if (const auto* denial = std::get_if<EvDenial>(&effect)) {
      const std::tuple key{denial->host, denial->ev, denial->toward};
      denial->denied ? void(denials_.insert(key)) : void(denials_.erase(key));
    }
  }

  bool some_path(uint32_t from, uint32_t to) const {
    const bool local = t_.host_row(from) == t_.host_row(to);
    for (uint32_t plane = 0; plane < t_.planes; ++plane) {
      for (uint32_t u = 0; u < (local ? 1 : t_.t1_per_plane); ++u) {
        if (works(from, to, {plane, local ? kT0LocalUplink : u})) return true;
      }
    }
    return false;
  }

 private:
  using Broken = std::set<std::pair<uint32_t, uint32_t>>;  // what, and which fault of it
  /// `what` of the damages that a thing can have at a time.
  template <class Id>
  static void set(Broken& of, Id id, uint32_t what, bool broken) {
    const std::pair key{id.value, what};
    broken ? void(of.insert(key)) : void(of.erase(key));
  }
  static bool any(const Broken& of, uint32_t id) {
    const auto at = of.lower_bound({id, 0});
    return at != of.end() && at->first == id;
  }
  bool crosses(NodeId a, NodeId b) const {
    for (const Port& port : t_.node(a).ports) {
      if (port.peer.node == b) return !any(wires_, port.out.value) && !any(nodes_, b.value);
    }
    return false;
  }
  bool works(uint32_t from, uint32_t to, Path path) const {
    for (const NodeId toward : {NodeId{}, t_.host(to)}) {
      if (denials_.contains({t_.host(from), ev_of(path), toward})) return false;
    }
    const NodeId first = t_.t0(path.plane, t_.host_row(from));
    const NodeId last = t_.t0(path.plane, t_.host_row(to));
    if (any(nodes_, from) || !crosses(t_.host(from), first)) return false;
    if (path.uplink != kT0LocalUplink) {
      const NodeId top = t_.t1(path.plane, path.uplink);
      if (!crosses(first, top) || !crosses(top, last)) return false;
    }
    return crosses(last, t_.host(to));
  }

  const Topology& t_;
  Broken wires_, nodes_;
  std::set<std::tuple<NodeId, EntropyValue, NodeId>> denials_;
};

/// Every two hosts have a path at every instant.
bool second_opinion(const Topology& t, const std::vector<Fault>& faults) {
  Wreckage wreckage(t);
  const std::vector<ScheduledEffect> schedule = compile(faults, t);
  for (size_t i = 0; i < schedule.size(); ++i) {
    wreckage.apply(schedule[i].effect);
    if (i + 1 < schedule.size() && schedule[i + 1].at == schedule[i].at) continue;
    for (uint32_t a = 0; a < t.host_count(); ++a) {
      for (uint32_t b = 0; b < t.host_count(); ++b) {
        if (a != b && !wreckage.some_path(a, b)) return false;
      }
    }
  }
  return true;
}

Fault fault_of(FaultKind kind, FabricTime at, FabricTime duration) {
  Fault fault;
  fault.kind = kind;
  fault.at = at;
  fault.settings.set(Parameter::kFor, duration.ps());
  return fault;
}

}  // namespace

TEST_CASE("what is drawn is survivable by a second opinion, unless it says that it is not") {
  const Topology t = test::octet();
  uint32_t survivable = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const DrawnFaults draw = drawn(t, seed);
    survivable += draw.survivable ? 1 : 0;
    if (draw.survivable) CHECK_MESSAGE(second_opinion(t, draw.faults), "seed " << seed);
  }
  CHECK(survivable > 240);
  CHECK(survivable < 300);  // some may break everything
}

TEST_CASE("what is drawn starts no earlier than it may and is healed in time") {
  const Topology t = test::octet();
  for (uint64_t seed = 0; seed < 300; ++seed) {
    for (const Fault& fault : drawn(t, seed).faults) {
      const Interval interval = interval_of(fault, t);
      CHECK(interval.start >= kFrom);
      if (fault.kind != FaultKind::kHostRestart) {
        CHECK_MESSAGE(interval.last_heal <= kHealBy, describe(fault, t));
      }
    }
  }
}

TEST_CASE("every kind of fault is drawn, and each as a file could say it") {
  Topology t = test::octet();
  t.lossless.pfc = true;
  std::set<FaultKind> seen;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const DrawnFaults draw = drawn(t, seed);
    std::string text;
    for (const Fault& fault : draw.faults) text += "- " + to_yaml(fault, t) + "\n";
    for (const Fault& fault : draw.faults) seen.insert(fault.kind);
    if (draw.faults.empty()) continue;
    NameResolver names(t, 1);
    CHECK_MESSAGE(parse_faults(read_yaml_text(text, "drawn"), names) == draw.faults, text);
  }
  for (const FaultInfo& kind : all_faults()) {
    const bool for_scenarios = kind.kind == FaultKind::kAttack || kind.kind == FaultKind::kVerbs;
    CHECK_MESSAGE(seen.contains(kind.kind) != for_scenarios, kind.name);
  }
}

TEST_CASE("a pause storm is drawn only where there are pauses") {
  const Topology t = test::octet();
  for (uint64_t seed = 0; seed < 300; ++seed) {
    for (const Fault& fault : drawn(t, seed).faults) CHECK(fault.kind != FaultKind::kPauseStorm);
  }
}

TEST_CASE("a seed is the same faults every time, and another seed other ones") {
  const Topology t = test::octet();
  CHECK(drawn(t, 7).faults == drawn(t, 7).faults);
  CHECK(drawn(t, 7).faults != drawn(t, 8).faults);
}

TEST_CASE("each seed switches some kinds off and draws only of the others") {
  const Topology t = test::octet();
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const DrawnFaults draw = drawn(t, seed);
    CHECK(draw.kinds.size() < all_faults().size());
    for (const Fault& fault : draw.faults) {
      CHECK(std::count(draw.kinds.begin(), draw.kinds.end(), fault.kind) == 1);
    }
  }
}

TEST_CASE("all planes but one may go, not all at once nor one after the other") {
  const Topology t = test::two_rows();  // 2 planes
  const std::vector<uint32_t> hosts{0, 1};
  Fault first = fault_of(FaultKind::kPlaneDown, kFrom, FabricTime::from_us(10));
  first.targets.planes = {0};
  Outages outages(t);
  outages.add_holds(holds_of(first, t));
  CHECK(outages.survivable(hosts));
  // Plane 0 has only just come back: hosts may not have the report yet.
  Fault second =
      fault_of(FaultKind::kPlaneDown, kFrom + FabricTime::from_us(11), FabricTime::from_us(10));
  second.targets.planes = {1};
  Outages both = outages;
  both.add_holds(holds_of(second, t));
  CHECK_FALSE(both.survivable(hosts));
  // Long after that it counts again.
  second.at = kFrom + FabricTime::from_us(20) + t.base_rtt * (Outages::kSettleRtts + 1);
  both = outages;
  both.add_holds(holds_of(second, t));
  CHECK(both.survivable(hosts));
}

TEST_CASE("a host that restarts is not survivable, one that pauses is") {
  const Topology t = test::two_rows();
  Fault pause = fault_of(FaultKind::kHostPause, kFrom, FabricTime::from_us(10));
  pause.targets.nodes = {t.host(0)};
  Outages outages(t);
  outages.add_holds(holds_of(pause, t));
  CHECK(outages.survivable({0, 1}));
  Fault restart;
  restart.kind = FaultKind::kHostRestart;
  restart.at = kFrom;
  restart.targets.nodes = {t.host(0)};
  restart.settings.set(Parameter::kDown, FabricTime::from_us(1).ps());
  outages.add_holds(holds_of(restart, t));
  CHECK_FALSE(outages.survivable({0, 1}));
  // Also not for a host that only waits for it: its work does not come back.
  CHECK_FALSE(outages.survivable({1}));
}

TEST_CASE("where others forward, only what they can be made to do is drawn") {
  FabricShape shape = test::shape_of("mixed", 4, 2, 2, 2);
  shape.forwarding.exceptions = {{"p1", Forwarding::kKernel}, {"p2", Forwarding::kOvs}};
  const Topology t = build_topology(shape);
  size_t faults = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    for (const Fault& fault : drawn(t, seed).faults) {
      ++faults;
      for (const Hold& hold : holds_of(fault, t)) CHECK_FALSE(refusal(t, hold.effect));
    }
  }
  CHECK(faults > 200);
}
