// What a menu offers for what somebody has chosen: kinds that the reader of faults accepts as they are offered.

#include "faults/fault_choice.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

#include "fabric/topology/fabric_file.h"
#include "faults/fault_order.h"
#include "tests/support/shipped_fabric.h"

namespace mrclab::faults {
namespace {

Topology shipped(const std::string& name) { return read_fabric_file(test::shipped_fabric(name)); }

std::set<std::string> offered(const Choice& chosen, const Topology& topology) {
  std::set<std::string> names;
  for (const FaultInfo& kind : all_faults()) {
    if (targets_for(kind, chosen, topology)) names.emplace(kind.name);
  }
  return names;
}

std::string text_of(const std::optional<BodyWords>& words) {
  if (!words) return "not offered";
  std::string text;
  for (const auto& [key, value] : *words) text += (text.empty() ? "" : " ") + key + "=" + value;
  return text;
}

std::string target(FaultKind kind, const Choice& chosen, const Topology& topology) {
  return text_of(targets_for(info(kind), chosen, topology));
}

/// Each part of a fabric alone, and pairs that hang on one switch.
std::vector<Choice> choices_of(const Topology& topology) {
  std::vector<Choice> choices;
  for (const Link& link : topology.links) {
    choices.push_back({.links = {link.id}});
    for (const Link& other : topology.links) {
      if (other.a.node == link.a.node && other.id.value > link.id.value)
        choices.push_back({.links = {link.id, other.id}});
    }
  }
  for (const NodeSite& site : topology.nodes) choices.push_back({.nodes = {site.id}});
  for (const Optic& optic : topology.optics) choices.push_back({.optics = {optic.id}});
  for (uint32_t plane = 0; plane < topology.planes; ++plane) choices.push_back({.planes = {plane}});
  return choices;
}

}  // namespace

TEST_CASE("every fault that is offered for a part of a fabric is one that can be made there") {
  for (const char* name : {"pair", "octet", "single", "ring", "ai-backend", "fare", "ecmp-octet"}) {
    const Topology topology = shipped(name);
    std::set<std::string> seen;
    for (const Choice& chosen : choices_of(topology)) {
      NameResolver names(topology, 1);
      for (const FaultInfo& kind : all_faults()) {
        const auto words = targets_for(kind, chosen, topology);
        if (!words) continue;
        seen.emplace(kind.name);
        lab::FaultOrder order{std::string(kind.name), {words->begin(), words->end()}, {}};
        for (const auto& word : usual_parameters(kind)) order.body.insert(word);
        CAPTURE(name);
        CAPTURE(order.kind + " " + text_of(words));
        CHECK_NOTHROW(lab::fault_of(order, FabricTime::from_us(1), names));
      }
    }
    if (std::string(name) == "octet") CHECK(seen.size() == kFaultKinds);
  }
}

TEST_CASE("what is offered follows from what is chosen, and of several sorts nothing is") {
  const Topology octet = shipped("octet");
  const auto node = [&](const char* name) { return *octet.find_node(name); };
  const LinkId up = octet.port(*octet.find_port("p0.t0-0:u0")).link,
               next = octet.port(*octet.find_port("p0.t0-0:u1")).link,
               elsewhere = octet.port(*octet.find_port("p1.t0-0:u1")).link,
               down = octet.port(*octet.find_port("h3:p2")).link;
  CHECK(target(FaultKind::kLinkDown, {.links = {up}}, octet) == "link=p0.t0-0:u0");
  CHECK(target(FaultKind::kBlackhole, {.links = {up, down}}, octet) ==
        R"(link=["p0.t0-0:u0", "h3:p2"] direction=both)");
  CHECK(target(FaultKind::kDelay, {.links = {up}}, octet) == "link=p0.t0-0:u0");
  CHECK(target(FaultKind::kSwitchWrongRoute, {.links = {up}}, octet) ==
        "route=p0.t0-0:u0 to=p0.t0-0:u1");
  CHECK(target(FaultKind::kStaleTable, {.links = {up, next}}, octet) ==
        R"(route=["p0.t0-0:u0", "p0.t0-0:u1"])");
  CHECK(target(FaultKind::kStaleTable, {.links = {up, elsewhere}}, octet) == "not offered");
  CHECK(target(FaultKind::kIncast, {.nodes = {node("h1")}}, octet) ==
        R"(from=["h0", "h2", "h3", "h4", "h5", "h6", "h7"] to=h1)");
  CHECK(target(FaultKind::kLossyEv, {.nodes = {node("h1")}}, octet) == "host=h1 path=p1/u2");
  CHECK(target(FaultKind::kLossyEv, {.nodes = {NodeId{1}}}, shipped("pair")) ==
        "host=h1 path=p0/u0");
  CHECK(target(FaultKind::kBitErrors, {.nodes = {node("p0.t1-0")}}, octet) == "switch=p0.t1-0");
  CHECK(offered({.planes = {3}}, octet) == std::set<std::string>{"plane_down"});
  CHECK(offered({.links = {up}, .nodes = {node("h1")}}, octet).empty());
  CHECK(offered({.nodes = {node("h1"), node("p0.t1-0")}}, octet).empty());
  CHECK(offered({}, octet).empty());
}

TEST_CASE("parameters begin with those of the table's example, in the table's order") {
  CHECK(text_of(usual_parameters(info(FaultKind::kWireLoss))) == "loss=20% for=50us");
  CHECK(text_of(usual_parameters(info(FaultKind::kFlap))) ==
        "count=3 down=20us up=40us up_to=10us");
  CHECK(text_of(usual_parameters(info(FaultKind::kBitErrors))) == "rate=1e-6 for=50us");
}

}  // namespace mrclab::faults
