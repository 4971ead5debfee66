// line_card, power_loss, drain: what they hold, and that it heals.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "fabric/node/effect_text.h"
#include "fabric/paths/path_list.h"
#include "faults/out_of_use.h"
#include "faults/schedule.h"
#include "tests/faults/read_fault.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::faults;
using mrclab::test::fault_error;
using mrclab::test::read_fault;

namespace {

std::set<std::string> targets_of(const Fault& fault, const Topology& t) {
  std::set<std::string> names;
  for (const Hold& hold : holds_of(fault, t)) names.insert(target_name(t, hold.effect));
  return names;
}

bool denied(const std::vector<EvDenial>& denials, uint32_t from, uint32_t to, Path path) {
  return std::any_of(denials.begin(), denials.end(), [&](const EvDenial& denial) {
    const bool toward = !denial.toward.valid() || denial.toward.value == to;
    return denial.host.value == from && denial.ev == ev_of(path) && toward;
  });
}

}  // namespace

TEST_CASE("a line card takes the links of all its ports, and no other") {
  const Topology t = test::octet();
  const Fault fault = read_fault(t, "{at: 10us, line_card: {card: \"p0.t0-0:c1\", for: 5us}}");
  const std::set<std::string> hit = targets_of(fault, t);
  CHECK(hit.contains("p0.t0-0:u0"));
  CHECK(hit.contains("p0.t1-3:d0"));
  CHECK_FALSE(hit.contains("p0.t0-0:d0"));
  CHECK(describe(fault, t) == "line_card p0.t0-0:c1 at 10us for 5us");
  CHECK(fault_error(t, "{at: 10us, line_card: {card: \"p0.t0-0:c7\"}}").find("line card") !=
        std::string::npos);
}

TEST_CASE("a power zone takes its switches and hosts; switches load their table, then all is up") {
  const Topology t = test::octet();
  const Fault fault =
      read_fault(t, "{at: 10us, power_loss: {zone: rack-1, down: 5us, reload: 2us}}");
  size_t hosts = 0, switches = 0;
  for (const Hold& hold : holds_of(fault, t)) {
    hosts += std::holds_alternative<HostState>(hold.effect) ? 1 : 0;
    const auto* state = std::get_if<SwitchState>(&hold.effect);
    switches += state != nullptr && state->work == SwitchWork::kNoTable ? 1 : 0;
  }
  CHECK(hosts == 4);
  CHECK(switches == 8);
  CHECK(interval_of(fault, t).last_heal == FabricTime::from_us(17));
  CHECK(replay(compile({fault}, t)).degraded_targets().empty());
}

TEST_CASE("a drain denies exactly the paths over what is taken out of use") {
  const Topology t = test::octet();
  for (const char* target : {"switch: p0.t1-2", "switch: p1.t0-0", "link: \"p2.t0-1:u3\"",
                             "link: \"h3:p5\"", "switch: [p0.t1-2, p4.t1-0]"}) {
    CAPTURE(target);
    const Fault fault = read_fault(t, "{at: 10us, drain: {" + std::string(target) + "}}");
    const std::vector<EvDenial> denials = denials_around(fault.targets, t);
    const std::set<NodeId> nodes(fault.targets.nodes.begin(), fault.targets.nodes.end());
    const std::set<LinkId> links(fault.targets.links.begin(), fault.targets.links.end());
    size_t wrong = 0;
    for (uint32_t from = 0; from < t.host_count(); ++from) {
      for (uint32_t to = 0; to < t.host_count(); ++to) {
        if (from == to) continue;
        for (const Path path : paths_between(t, from, to)) {
          bool over = false;
          for (const PortRef exit : exits_of(t, from, to, path)) {
            over = over || nodes.contains(exit.node) || links.contains(t.port(exit).link);
          }
          wrong += denied(denials, from, to, path) == over ? 0 : 1;
        }
      }
    }
    CHECK(wrong == 0);
    CHECK_FALSE(denials.empty());
  }
  // Every host has the path towards everybody, so a T1 takes one denial of each.
  const Fault spine = read_fault(t, "{at: 10us, drain: {switch: p0.t1-2, for: 9us}}");
  CHECK(denials_around(spine.targets, t).size() == 8);
  CHECK(replay(compile({spine}, t)).degraded_targets().empty());
  CHECK(fault_error(t, "{at: 1us, drain: {for: 2us}}").find("no target") != std::string::npos);
}

TEST_CASE("all that is wrong with a list of faults is reported at once") {
  const Topology t = test::octet();
  NameResolver names(t, 1);
  const YamlValue list = read_yaml_text(
      "- {at: 1us, link_down: {lnk: \"h0:p0\", for: 5}}\n"
      "- {at: 1us, optic_ded: {optic: \"p0.t0-0:o0\"}}\n"
      "- {at: 1us, buffer: {switch: p9.t0-0, lost: 0%}}\n",
      "f");
  CHECK(test::error_of([&] { parse_faults(list, names); }) ==
        "f:1:25: found the key \"lnk\": expected \"link\"\n"
        "f:1:44: found \"5\": expected a duration such as 300us (ps, ns, us, ms, s)\n"
        "f:2:13: found the fault \"optic_ded\": expected \"optic_dead\"\n"
        "f:3:30: found \"p9.t0-0\", which names no switch: expected a name such as \"p0.t0-0\"\n"
        "f:3:45: found \"0%\": expected at least a share above 0%");
}
