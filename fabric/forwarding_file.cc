#include "fabric/forwarding_file.h"

#include <algorithm>
#include <vector>

#include "fabric/pattern.h"
#include "fabric/yaml_write.h"

namespace mrclab {
namespace {

/// Is there a switch for which fn(plane, name, has hosts) holds? The switches of a listed fabric
/// belong to no plane.
template <class Fn>
bool any_switch(const FabricShape& shape, Fn&& fn) {
  const GraphShape& graph = shape.graph;
  for (uint32_t i = 0; i < graph.switches.size(); ++i) {
    if (fn(std::string(), graph.switches[i].name, graph.has_hosts(i))) return true;
  }
  for (uint32_t p = 0; graph.empty() && p < shape.planes; ++p) {
    const std::string plane = plane_name(p);
    for (uint32_t i = 0; i < shape.t0; ++i) {
      if (fn(plane, plane + ".t0-" + std::to_string(i), true)) return true;
    }
    for (uint32_t i = 0; i < shape.t1; ++i) {
      if (fn(plane, plane + ".t1-" + std::to_string(i), false)) return true;
    }
  }
  return false;
}

/// Is there a plane or switch that `pattern` names?
bool names_switches(const FabricShape& shape, const std::string& pattern) {
  return any_switch(shape, [&](const std::string& plane, const std::string& name, bool) {
    return matches_pattern(pattern, name) || (!plane.empty() && matches_pattern(pattern, plane));
  });
}

/// Is there a switch that `by` forwards for?
bool has_forwarding(const FabricShape& shape, Forwarding by) {
  return any_switch(shape, [&](const std::string& plane, const std::string& name, bool) {
    return shape.forwarding.of(plane, name) == by;
  });
}

Forwarding read_forwarding_word(const YamlValue& value) {
  return kForwardings[value.as_word({"switchd", "kernel", "ovs"})];
}

/// A switch with hosts that Open vSwitch forwards for; empty if there is none.
std::string leaf_of_ovs(const FabricShape& shape) {
  std::string leaf;
  any_switch(shape, [&](const std::string& plane, const std::string& name, bool has_hosts) {
    const bool found = has_hosts && shape.forwarding.of(plane, name) == Forwarding::kOvs;
    if (found) leaf = name;
    return found;
  });
  return leaf;
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
    text += ", " + yaml_string(e.pattern) + ": " + std::string(name_of(e.forwarding));
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
    if (has_forwarding(shape, Forwarding::kKernel)) {
      return {{"routing", "ecmp, beside \"forwarding: kernel\"",
               "srv6: switches of the kernel get routes for carriers only"}};
    }
    if (!shape.graph.empty()) {
      return {{"routing", "ecmp", "srv6: only switches of regular planes hash"}};
    }
  }
  const std::string leaf = shape.decap == Decap::kLeaf ? leaf_of_ovs(shape) : "";
  if (!leaf.empty()) {
    return {
        {"decap",
         "decap: leaf, where " + leaf + " is of Open vSwitch, which cannot strip IPv6 from IPv6",
         "decap: nic, or forwarding: switchd or kernel for the T0s"}};
  }
  const bool foreign =
      has_forwarding(shape, Forwarding::kKernel) || has_forwarding(shape, Forwarding::kOvs);
  if (shape.wires == WireMode::kFast && foreign) {
    return {{"wires", in_quotes("fast"),
             "veth: the kernel and Open vSwitch forward over nothing else"}};
  }
  return std::nullopt;
}

}  // namespace mrclab
