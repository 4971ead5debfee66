#include "fabric/topology/keys/forwarding_file.h"

#include <algorithm>
#include <vector>

#include "fabric/text/key_table.h"
#include "fabric/topology/pattern.h"

namespace mrclab {
namespace {

/// Is there a switch for which fn(plane, name, has hosts) holds? The switches of a listed fabric
/// belong to no plane.
template <class Fn>
bool any_switch(const FabricShape& shape, Fn&& fn) {
  const GraphShape& graph = shape.graph;
  const std::vector<NodeRole> roles = graph.roles();
  for (uint32_t i = 0; i < graph.switches.size(); ++i) {
    if (fn(std::string(), graph.switches[i].name, roles[i] == NodeRole::kT0)) return true;
  }
  for (uint32_t p = 0; graph.empty() && p < shape.planes; ++p) {
    const std::string plane = plane_name(p);
    for (uint32_t i = 0; i < shape.t0; ++i) {
      if (fn(plane, plane + ".t0-" + std::to_string(i), true)) return true;
    }
    for (uint32_t i = 0; i < shape.t1; ++i) {
      if (fn(plane, plane + ".t1-" + std::to_string(i), false)) return true;
    }
    for (uint32_t i = 0; i < shape.t2; ++i) {
      if (fn(plane, plane + ".t2-" + std::to_string(i), false)) return true;
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

/// The words of all programs, in the order of their values.
template <class Program, size_t N>
std::vector<std::string> words_of(const Program (&programs)[N]) {
  std::vector<std::string> words;
  for (const Program program : programs) words.emplace_back(name_of(program));
  return words;
}

/// Calls use(pattern, program) for a word alone, as for the pattern "all", or for each plane and switch of a map.
template <class Program, size_t N, class Use>
void read_by_switch(const YamlValue& value, const FabricShape& shape, const Program (&programs)[N],
                    Use&& use) {
  const auto program_of = [&](const YamlValue& word) {
    return programs[word.as_word(words_of(programs))];
  };
  if (!value.is_map()) return use("all", program_of(value));
  size_t exceptions = 0;
  for (const auto& [pattern, word] : value.members()) {
    if (exceptions == ForwardingChoice::kMaxExceptions) {
      value.fail_expecting("at most " + std::to_string(ForwardingChoice::kMaxExceptions) +
                           " planes and switches");
    }
    const bool all = pattern == "all";
    if (!all) ++exceptions;
    use(all ? pattern : read_exception(shape, pattern, word), program_of(word));
  }
}

/// A word for all switches, or words by planes and switches.
ValueForm by_switch_form(const std::vector<std::string>& words) {
  return ValueForm::either({ValueForm::word(words), ValueForm::map_of(ValueForm::word(words))});
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

ValueForm forwarding_form() { return by_switch_form(words_of(kForwardings)); }
ValueForm speaker_form() { return by_switch_form(words_of(kSpeakerPrograms)); }

ForwardingChoice read_forwarding(const YamlValue& value, const FabricShape& shape) {
  ForwardingChoice choice;
  read_by_switch(value, shape, kForwardings, [&](const std::string& pattern, Forwarding by) {
    if (pattern == "all") {
      choice.all = by;
    } else {
      choice.exceptions.push_back({pattern, by});
    }
  });
  return choice;
}

void read_speaker(const YamlValue& value, FabricShape& shape) {
  const auto use = [&](const std::string& pattern, SpeakerProgram program) {
    if (pattern == "all") {
      shape.speaker.all = program;
      shape.forwarding = Forwarding::kKernel;
      return;
    }
    shape.speaker.exceptions.push_back({pattern, program});
    const ForwardingChoice::Exception kernel{pattern, Forwarding::kKernel};
    std::vector<ForwardingChoice::Exception>& known = shape.forwarding.exceptions;
    if (std::find(known.begin(), known.end(), kernel) == known.end()) known.push_back(kernel);
  };
  read_by_switch(value, shape, kSpeakerPrograms, use);
}

namespace {

/// Packets at this pace are noise beside data; our choice.
constexpr FabricTime kLeastBfd = FabricTime::from_us(10);

using RoutingRow = KeyRow<RoutingChoice>;

/// Written where switches route by themselves, or where they do not.
RoutingRow only_if(bool fare, const RoutingRow& row) {
  RoutingRow result = row;
  result.write = [=](const RoutingChoice& choice) {
    return choice.is_fare() == fare ? row.write(choice) : "";
  };
  return result;
}

FabricTime read_bfd(const YamlValue& value) {
  if (value.as_string() == "off") return {};
  const FabricTime bfd = value.as_time();
  const bool whole = bfd.ps() % FabricTime::from_us(1).ps() == 0;
  if (!whole || bfd < kLeastBfd) {
    value.fail_expecting("off, or whole microseconds, at least " + exact(kLeastBfd));
  }
  return bfd;
}

FabricTime read_ready(const YamlValue& value) {
  const FabricTime ready = value.as_time();
  if (ready == FabricTime::zero()) value.fail_expecting("a time above 0");
  return ready;
}

/// More than a switch may take for fast reroute; our choice.
constexpr FabricTime kMostDelay = FabricTime::from_ms(100);
FabricTime read_delay(const YamlValue& value) {
  const FabricTime delay = value.as_time();
  if (delay > kMostDelay) value.fail_expecting("at most " + exact(kMostDelay));
  return delay;
}

/// Written where there is fast reroute.
RoutingRow only_if_protected(const RoutingRow& row) {
  RoutingRow result = row;
  result.write = [=](const RoutingChoice& choice) {
    return choice.fare.fast_reroute == RerouteScope::kOff ? "" : row.write(choice);
  };
  return result;
}

/// The keys that only FARE has.
std::vector<RoutingRow> fare_rows() {
  using F = FareChoice;
  const auto fare = [](auto member) {
    return [=](auto& choice) -> auto& { return choice.fare.*member; };
  };
  const ValueForm time = ValueForm::of(ValueForm::Kind::kTime);
  const auto delay = [](FabricTime in) { return exact(in); };
  const auto ready = [](FabricTime in) { return in == FabricTime::zero() ? "" : exact(in); };
  const auto bfd = [](const std::optional<FabricTime>& in) {
    return !in ? "" : *in == FabricTime::zero() ? "off" : exact(*in);
  };
  return {
      RoutingRow::of(
          "spray", fare(&F::spray), word_kind<Spray>({"packet", "flow"}),
          "fare: each packet the next member of a weighted group, or each flow one by its "
          "hash"),
      RoutingRow::of(
          "delays", fare(&F::delays), word_kind<FareDelays>({"ideal", "frr", "hardware"}),
          "fare: what a switch takes to notice, decide and write its table: nothing, FRR 8.4 "
          "as measured, or our guess of an ASIC's, of which nobody has published a figure "
          "(then with bfd: 3300us, RFC 7419)"),
      RoutingRow::of("bfd", fare(&F::bfd),
                     ValueKind{ValueForm::either({ValueForm::word({"off"}), time}), read_bfd, bfd},
                     "fare: between BFD packets, whole microseconds from 10us; three missing "
                     "ones are death"),
      RoutingRow::of("nics", fare(&F::nics),
                     word_kind<NicRoutes>({"off", "all", "aggregates", "wanted"}),
                     "fare: which routes NICs get; off: they do not speak BGP"),
      RoutingRow::of("ready", fare(&F::ready), ValueKind{time, read_ready, ready},
                     "fare: when workloads begin that do not set it"),
      only_if_protected(RoutingRow::of(
          "fast_reroute", fare(&F::fast_reroute),
          word_kind<RerouteScope>({"off", "local", "remote"}),
          "fare: before routing has decided a dead port leaves its switch's groups, and "
          "neighbours are notified where there is no other way "
          "(draft-clad-rtgwg-ipfrr-aiml-00, FANN)")),
      only_if_protected(
          RoutingRow::of("detect", fare(&F::detect), ValueKind{time, read_delay, delay},
                         "fast_reroute: from the loss of light to that (our choice: 10us)")),
      only_if_protected(RoutingRow::of(
          "react", fare(&F::react), ValueKind{time, read_delay, delay},
          "fast_reroute: from a notification's arrival to that (our choice: 10us)"))};
}

const KeyTable<RoutingChoice>& routing_keys() {
  using C = RoutingChoice;
  static const KeyTable<C> kKeys([] {
    const auto seed = RoutingRow::of(
        "hash_seed", &C::same_seed, word_kind<bool>({"per_switch", "same"}),
        "same: all switches choose alike, so that choices are not independent", {.write_pass = 2});
    std::vector<RoutingRow> rows{
        RoutingRow::of("default", &C::by_default,
                       word_kind<Routing>({kRoutingWords.begin(), kRoutingWords.end()}),
                       "what workloads have that do not set it", {.read_pass = 0}),
        only_if(false,
                RoutingRow::of("underlay", &C::underlay, word_kind<Underlay>({"ipv6", "ipv4"}),
                               "ecmp: what packets are")),
        seed,
        only_if(false, RoutingRow::of("resilient", &C::resilient,
                                      "ecmp: groups are tables of buckets", {.write_pass = 2}))};
    rows[2].write = [seed](const C& choice) {
      return choice.is_fare() && !choice.same_seed ? "" : seed.write(choice);
    };
    for (const RoutingRow& row : fare_rows()) rows.push_back(only_if(true, row));
    return rows;
  }());
  return kKeys;
}

}  // namespace

ValueForm routing_form() {
  const ValueForm words = routing_keys().form().at("default");
  return ValueForm::either({words, routing_keys().form()});
}

RoutingChoice read_routing(const YamlValue& value) {
  RoutingChoice choice;
  if (!value.is_map()) {
    choice.by_default =
        static_cast<Routing>(value.as_word({kRoutingWords.begin(), kRoutingWords.end()}));
    return choice;
  }
  routing_keys().read_pass(0, value, choice);
  for (const RoutingRow& row : fare_rows()) {
    if (value.get(row.name) && !choice.is_fare()) {
      value.fail_at_key(row.name, in_quotes(row.name), "\"default: fare\" beside it");
    }
  }
  for (const char* key : {"underlay", "resilient"}) {
    if (value.get(key) && choice.is_fare()) {
      value.fail_at_key(key, in_quotes(key) + ", beside \"default: fare\"",
                        "nothing: FARE's packets are IPv6, and its groups are lists of members");
    }
  }
  routing_keys().read_pass(1, value, choice);
  for (const char* key : {"detect", "react"}) {
    if (!value.get(key) || choice.fare.fast_reroute != RerouteScope::kOff) continue;
    value.fail_at_key(key, in_quotes(key), "\"fast_reroute: local\" or remote beside it");
  }
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
  if (choice == RoutingChoice{choice.by_default}) return std::string(name_of(choice.by_default));
  return routing_keys().written(choice);
}

std::optional<ForwardingMisfit> forwarding_misfit(const FabricShape& shape) {
  for (const Forwarding by : {Forwarding::kKernel, Forwarding::kOvs, Forwarding::kBpf}) {
    if (!at_t0(shape.authorise) || !has_forwarding(shape, by)) continue;
    return {{"authorise", "t0 or both, beside \"forwarding: " + std::string(name_of(by)) + "\"",
             "\"forwarding: switchd\", or nic: no other switch here checks programs"}};
  }
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
    const std::vector<NodeRole> roles = graph.roles();
    for (const GraphShape::Link& link : graph.links) {
      if (roles[link.lower] == NodeRole::kT0 || roles[link.lower] != roles[link.upper]) continue;
      return {{"routing",
               "fare, and a link between " + graph.switches[link.lower].name + " and " +
                   graph.switches[link.upper].name + ", on which no hosts hang",
               "links to switches with hosts, or of another tier: others are one AS, whose "
               "members do not speak to each other"}};
    }
    if (shape.routing.fare.fast_reroute != RerouteScope::kOff &&
        has_forwarding(shape, Forwarding::kKernel)) {
      return {{"routing", "fast_reroute, beside \"forwarding: kernel\"",
               "off: the kernel's routes are those of its speaker alone"}};
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
    if ((!shape.graph.empty() || shape.t2 > 0) && has_forwarding(shape, Forwarding::kOvs)) {
      return {{"routing", "ecmp, beside \"forwarding: ovs\"",
               "srv6, or planes of two tiers: Open vSwitch gets routes to hosts in those only"}};
    }
    if (!shape.graph.empty() && shape.graph.hosts.front().size() > 1) {
      return {{"routing", "ecmp, and hosts with several ports",
               "srv6, one port each, or planes: a packet to a host's address could come to any "
               "of its ports"}};
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
