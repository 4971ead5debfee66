#include "fabric/forwarding_file.h"

#include <algorithm>
#include <vector>

#include "fabric/pattern.h"

namespace mrclab {
namespace {

/// Is there a plane or switch that `pattern` names?
bool names_switches(const FabricShape& shape, const std::string& pattern) {
  if (!shape.graph.empty()) {
    const auto& switches = shape.graph.switches;
    return std::any_of(switches.begin(), switches.end(),
                       [&](const auto& site) { return matches_pattern(pattern, site.name); });
  }
  for (uint32_t p = 0; p < shape.planes; ++p) {
    if (matches_pattern(pattern, plane_name(p))) return true;
    for (uint32_t i = 0; i < shape.t0; ++i) {
      if (matches_pattern(pattern, plane_name(p) + ".t0-" + std::to_string(i))) return true;
    }
    for (uint32_t i = 0; i < shape.t1; ++i) {
      if (matches_pattern(pattern, plane_name(p) + ".t1-" + std::to_string(i))) return true;
    }
  }
  return false;
}

Forwarding read_forwarding_word(const YamlValue& value) {
  return kForwardings[value.as_word({"switchd", "kernel", "ovs"})];
}

bool names(const ForwardingChoice& choice, Forwarding by) {
  return choice.all == by ||
         std::any_of(choice.exceptions.begin(), choice.exceptions.end(),
                     [by](const ForwardingChoice::Exception& e) { return e.forwarding == by; });
}

/// A T0 that Open vSwitch forwards for; empty if there is none.
std::optional<std::string> leaf_of_ovs(const FabricShape& shape) {
  for (const auto& host : shape.graph.hosts) {
    for (const uint32_t number : host) {
      const std::string& name = shape.graph.switches[number].name;
      if (shape.forwarding.of({}, name) == Forwarding::kOvs) return name;
    }
  }
  if (!shape.graph.empty()) return std::nullopt;
  for (uint32_t p = 0; p < shape.planes; ++p) {
    for (uint32_t i = 0; i < shape.t0; ++i) {
      const std::string name = plane_name(p) + ".t0-" + std::to_string(i);
      if (shape.forwarding.of(plane_name(p), name) == Forwarding::kOvs) return name;
    }
  }
  return std::nullopt;
}

}  // namespace

ForwardingChoice read_forwarding(const YamlValue& value, const FabricShape& shape) {
  if (!value.is_map()) return read_forwarding_word(value);
  ForwardingChoice choice;
  for (const auto& [pattern, word] : value.members()) {
    if (choice.exceptions.size() == ForwardingChoice::kMaxExceptions) {
      value.fail_expecting("at most " + std::to_string(ForwardingChoice::kMaxExceptions) +
                           " planes and switches");
    }
    if (pattern == "all") {
      choice.all = read_forwarding_word(word);
    } else if (names_switches(shape, pattern)) {
      choice.exceptions.push_back({pattern, read_forwarding_word(word)});
    } else {
      word.fail(in_quotes(pattern) + ", which names no plane or switch of this fabric",
                "all, a plane such as p2, or a switch such as p2.t0-1, or a pattern of these");
    }
  }
  return choice;
}

RoutingChoice read_routing(const YamlValue& value) {
  RoutingChoice choice;
  const std::vector<std::string> words{"srv6", "ecmp"};
  if (!value.is_map()) {
    choice.by_default = static_cast<Routing>(value.as_word(words));
    return choice;
  }
  value.only_keys({"default", "underlay", "hash_seed", "resilient"});
  if (const auto word = value.get("default")) {
    choice.by_default = static_cast<Routing>(word->as_word(words));
  }
  if (const auto word = value.get("underlay")) {
    choice.underlay = static_cast<Underlay>(word->as_word({"ipv6", "ipv4"}));
  }
  if (const auto word = value.get("hash_seed")) {
    choice.same_seed = word->as_word({"per_switch", "same"}) == 1;
  }
  if (const auto word = value.get("resilient")) choice.resilient = word->as_bool();
  return choice;
}

std::string forwarding_text(const ForwardingChoice& choice) {
  if (choice.exceptions.empty()) return std::string(name_of(choice.all));
  std::string text = "{all: " + std::string(name_of(choice.all));
  for (const ForwardingChoice::Exception& e : choice.exceptions) {
    text += ", \"" + e.pattern + "\": " + std::string(name_of(e.forwarding));
  }
  return text + "}";
}

std::string routing_text(const RoutingChoice& choice) {
  std::string word(name_of(choice.by_default));
  if (choice == RoutingChoice{choice.by_default}) return word;
  return "{default: " + word + ", underlay: " + std::string(name_of(choice.underlay)) +
         ", hash_seed: " + (choice.same_seed ? "same" : "per_switch") +
         ", resilient: " + (choice.resilient ? "on" : "off") + "}";
}

std::optional<ForwardingMisfit> forwarding_misfit(const FabricShape& shape) {
  if (shape.routing.by_default == Routing::kEcmp) {
    if (names(shape.forwarding, Forwarding::kKernel)) {
      return {{"routing", "ecmp, beside \"forwarding: kernel\"",
               "srv6: switches of the kernel get routes for carriers only"}};
    }
    if (!shape.graph.empty()) {
      return {{"routing", "ecmp", "srv6: only switches of regular planes hash"}};
    }
  }
  if (const auto leaf = shape.decap == Decap::kLeaf ? leaf_of_ovs(shape) : std::nullopt) {
    return {
        {"decap",
         "decap: leaf, where " + *leaf + " is of Open vSwitch, which cannot strip IPv6 from IPv6",
         "decap: nic, or forwarding: switchd or kernel for the T0s"}};
  }
  if (shape.wires == WireMode::kFast && shape.forwarding != ForwardingChoice()) {
    return {{"wires", in_quotes("fast"),
             "veth: the kernel and Open vSwitch forward over nothing else"}};
  }
  return std::nullopt;
}

}  // namespace mrclab
