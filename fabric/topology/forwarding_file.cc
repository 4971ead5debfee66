#include "fabric/topology/forwarding_file.h"

#include <algorithm>
#include <vector>

#include "fabric/text/yaml_write.h"
#include "fabric/topology/fabric_form.h"
#include "fabric/topology/pattern.h"

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

/// The pattern of an exception, of which every plane and switch that it names must be there.
std::string read_exception(const FabricShape& shape, const std::string& pattern,
                           const YamlValue& word) {
  std::vector<std::string> names;
  std::string last;
  any_switch(shape, [&](const std::string& plane, const std::string& name, bool) {
    if (plane != last) names.push_back(plane);
    last = plane;
    names.push_back(name);
    return false;
  });
  const auto mistake =
      mistake_in(find_named(pattern, names), pattern, "plane or switch of this fabric",
                 "all, a plane such as p2, or a switch such as p2.t0-1, or a pattern of these");
  if (mistake) word.fail(mistake->found, mistake->expected);
  if (std::find(names.begin(), names.end(), pattern) == names.end()) return pattern;
  const auto means_others = [&](const std::string& name) {
    return name != pattern && matches_pattern(pattern, name);
  };
  if (std::none_of(names.begin(), names.end(), means_others)) return pattern;
  std::string name;  // "r1-r2" is a switch here, so it is no range
  for (const char c : pattern) name += c == '-' ? "\\-" : std::string(1, c);
  return name;
}

/// Is there a switch that `by` forwards for?
bool has_forwarding(const FabricShape& shape, Forwarding by) {
  return any_switch(shape, [&](const std::string& plane, const std::string& name, bool) {
    return shape.forwarding.of(plane, name) == by;
  });
}

Forwarding read_forwarding_word(const YamlValue& value) {
  return kForwardings[read_word(value, fabric_form().at("forwarding").parts[0])];
}

/// A switch with hosts that `by` forwards for; empty if there is none.
std::string leaf_of(const FabricShape& shape, Forwarding by) {
  std::string leaf;
  any_switch(shape, [&](const std::string& plane, const std::string& name, bool has_hosts) {
    const bool found = has_hosts && shape.forwarding.of(plane, name) == by;
    if (found) leaf = name;
    return found;
  });
  return leaf;
}

/// A switch without hosts whose speaker is ExaBGP; empty if there is none.
std::string spine_of_exabgp(const FabricShape& shape) {
  std::string spine;
  any_switch(shape, [&](const std::string& plane, const std::string& name, bool has_hosts) {
    const bool found = !has_hosts && shape.forwarding.of(plane, name) == Forwarding::kKernel &&
                       shape.speaker.of(plane, name) == SpeakerProgram::kExabgp;
    if (found) spine = name;
    return found;
  });
  return spine;
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
    } else {
      choice.exceptions.push_back(
          {read_exception(shape, pattern, word), read_forwarding_word(word)});
    }
  }
  return choice;
}

void read_speaker(const YamlValue& value, FabricShape& shape) {
  const auto program_of = [](const YamlValue& word) {
    return kSpeakerPrograms[read_word(word, fabric_form().at("speaker").parts[0])];
  };
  if (!value.is_map()) {
    shape.speaker.all = program_of(value);
    shape.forwarding = Forwarding::kKernel;
    return;
  }
  for (const auto& [pattern, word] : value.members()) {
    if (shape.speaker.exceptions.size() == ForwardingChoice::kMaxExceptions) {
      value.fail_expecting("at most " + std::to_string(ForwardingChoice::kMaxExceptions) +
                           " planes and switches");
    }
    if (pattern == "all") {
      shape.speaker.all = program_of(word);
      shape.forwarding = Forwarding::kKernel;
      continue;
    }
    const std::string exact = read_exception(shape, pattern, word);
    shape.speaker.exceptions.push_back({exact, program_of(word)});
    const ForwardingChoice::Exception kernel{exact, Forwarding::kKernel};
    std::vector<ForwardingChoice::Exception>& known = shape.forwarding.exceptions;
    if (std::find(known.begin(), known.end(), kernel) == known.end()) known.push_back(kernel);
  }
}

namespace {

/// Packets at this pace are noise beside data; our choice.
constexpr FabricTime kLeastBfd = FabricTime::from_us(10);

/// What only FARE has, and what it lacks.
void read_fare(const YamlValue& value, RoutingChoice& choice) {
  for (const char* key : {"spray", "delays", "bfd", "nics", "ready"}) {
    if (value.get(key) && !choice.is_fare()) {
      value.fail_at_key(key, in_quotes(key), "\"default: fare\" beside it");
    }
  }
  for (const char* key : {"underlay", "resilient"}) {
    if (value.get(key) && choice.is_fare()) {
      value.fail_at_key(key, in_quotes(key) + ", beside \"default: fare\"",
                        "nothing: FARE's packets are IPv6, and its groups are lists of members");
    }
  }
  FareChoice& fare = choice.fare;
  const ValueForm& form = fabric_form().at("routing");
  if (const auto word = value.get("spray")) {
    fare.spray = static_cast<Spray>(read_word(*word, form.at("spray")));
  }
  if (const auto word = value.get("delays")) {
    fare.delays = static_cast<FareDelays>(read_word(*word, form.at("delays")));
  }
  if (const auto bfd = value.get("bfd"); bfd && bfd->as_string() != "off") {
    fare.bfd = bfd->as_time();
    const bool whole = fare.bfd.ps() % FabricTime::from_us(1).ps() == 0;
    if (!whole || fare.bfd < kLeastBfd) {
      bfd->fail_expecting("off, or whole microseconds, at least " + exact(kLeastBfd));
    }
  }
  if (const auto word = value.get("nics")) {
    fare.nics = static_cast<NicRoutes>(read_word(*word, form.at("nics")));
  }
  if (const auto ready = value.get("ready")) {
    fare.ready = ready->as_time();
    if (fare.ready == FabricTime::zero()) ready->fail_expecting("a time above 0");
  }
}

std::string fare_text(const FareChoice& fare) {
  std::string text = "{default: fare, spray: " + std::string(name_of(fare.spray)) +
                     ", delays: " + std::string(name_of(fare.delays)) +
                     ", bfd: " + (fare.bfd == FabricTime::zero() ? "off" : exact(fare.bfd));
  if (fare.nics) text += ", nics: " + std::string(name_of(*fare.nics));
  if (fare.ready != FabricTime::zero()) text += ", ready: " + exact(fare.ready);
  return text;
}

}  // namespace

RoutingChoice read_routing(const YamlValue& value) {
  RoutingChoice choice;
  const ValueForm& form = fabric_form().at("routing");
  if (!value.is_map()) {
    choice.by_default = static_cast<Routing>(read_word(value, form.at("default")));
    return choice;
  }
  if (const auto word = value.get("default")) {
    choice.by_default = static_cast<Routing>(read_word(*word, form.at("default")));
  }
  if (const auto word = value.get("underlay")) {
    choice.underlay = static_cast<Underlay>(read_word(*word, form.at("underlay")));
  }
  if (const auto word = value.get("hash_seed")) {
    choice.same_seed = read_word(*word, form.at("hash_seed")) == 1;
  }
  if (const auto word = value.get("resilient")) choice.resilient = word->as_bool();
  read_fare(value, choice);
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

std::string speaker_text(const SpeakerChoice& choice) {
  std::string text;
  if (choice.all != SpeakerProgram::kBgpd) text = "all: " + std::string(name_of(choice.all));
  for (const SpeakerChoice::Exception& e : choice.exceptions) {
    text += (text.empty() ? "" : ", ") + yaml_string(e.pattern) + ": " +
            std::string(name_of(e.program));
  }
  return "{" + text + "}";
}

std::string routing_text(const RoutingChoice& choice) {
  std::string word(name_of(choice.by_default));
  if (choice == RoutingChoice{choice.by_default}) return word;
  if (choice.is_fare()) {
    return fare_text(choice.fare) + (choice.same_seed ? ", hash_seed: same}" : "}");
  }
  return "{default: " + word + ", underlay: " + std::string(name_of(choice.underlay)) +
         ", hash_seed: " + (choice.same_seed ? "same" : "per_switch") +
         ", resilient: " + (choice.resilient ? "on" : "off") + "}";
}

std::optional<ForwardingMisfit> forwarding_misfit(const FabricShape& shape) {
  if (shape.routing.is_fare()) {
    for (const Forwarding by : {Forwarding::kOvs, Forwarding::kBpf}) {
      if (!has_forwarding(shape, by)) continue;
      return {{"routing", "fare, beside \"forwarding: " + std::string(name_of(by)) + "\"",
               "\"forwarding: switchd\" or kernel: only for those is there a speaker"}};
    }
    if (const std::string spine = spine_of_exabgp(shape); !spine.empty()) {
      return {{"speaker", "exabgp for " + spine + ", which has no hosts",
               "bgpd, frr or bird: ExaBGP announces routes, but passes none on"}};
    }
    const GraphShape& graph = shape.graph;
    if (!graph.empty() && graph.hosts.front().size() > 1) {
      return {{"routing", "fare, and hosts with several ports",
               "one port each, or regular planes: a packet to a host's address could come to any "
               "of its ports"}};
    }
    if (!graph.empty() && shape.routing.fare.nics == NicRoutes::kAggregates) {
      return {{"routing", "nics: aggregates, in a listed fabric",
               "regular planes, whose racks have a prefix each; or all, wanted, off"}};
    }
    for (const GraphShape::Link& link : graph.links) {
      if (graph.has_hosts(link.lower) || graph.has_hosts(link.upper)) continue;
      return {{"routing",
               "fare, and a link between " + graph.switches[link.lower].name + " and " +
                   graph.switches[link.upper].name + ", on which no hosts hang",
               "links to switches with hosts: all others are one AS, whose members do not speak "
               "to each other"}};
    }
    if (shape.lossless.adaptive) {
      return {{"roce", "adaptive_routing, beside \"routing: fare\"",
               "off: such switches choose by weight"}};
    }
  }
  if (!shape.routing.is_fare() && shape.speaker != SpeakerChoice{}) {
    return {{"speaker", "a speaker in a fabric whose switches do not route by themselves",
             "\"routing: fare\" beside it"}};
  }
  if (shape.routing.by_default == Routing::kEcmp) {
    for (const Forwarding by : {Forwarding::kKernel, Forwarding::kBpf}) {
      if (!has_forwarding(shape, by)) continue;
      return {{"routing", "ecmp, beside \"forwarding: " + std::string(name_of(by)) + "\"",
               "srv6: such switches get routes for carriers only"}};
    }
    if (!shape.graph.empty()) {
      return {{"routing", "ecmp", "srv6: only switches of regular planes hash"}};
    }
  }
  for (const Forwarding by : {Forwarding::kOvs, Forwarding::kBpf}) {
    const std::string leaf = shape.decap == Decap::kLeaf ? leaf_of(shape, by) : "";
    if (leaf.empty()) continue;
    return {{"decap",
             "decap: leaf, where " + leaf + " has \"forwarding: " + std::string(name_of(by)) +
                 "\", which does not strip IPv6 from IPv6",
             "decap: nic, or forwarding: switchd or kernel for the T0s"}};
  }
  const bool foreign = std::any_of(
      std::begin(kForwardings), std::end(kForwardings),
      [&](Forwarding by) { return by != Forwarding::kSwitchd && has_forwarding(shape, by); });
  if (shape.wires == WireMode::kFast && foreign) {
    return {
        {"wires", in_quotes("fast"), "veth: others than our switches forward over nothing else"}};
  }
  return std::nullopt;
}

}  // namespace mrclab
