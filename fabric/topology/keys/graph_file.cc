#include "fabric/topology/keys/graph_file.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "fabric/topology/build_topology.h"
#include "fabric/topology/pattern.h"

namespace mrclab {
namespace {

/// An interface's name is the switch's name and the port's, and the kernel takes 15 characters.
constexpr size_t kMaxSwitchName = 10;
/// From this value on, uSIDs are local to a switch (fabric/topology/usid.h, layout `lab`).
constexpr uint16_t kFirstLocalUsid = 0xA000;

Usid read_usid(const YamlValue& value) {
  const std::string text = value.as_string();
  constexpr std::string_view kExpected =
      "four hex digits such as 0100, as a carrier shows them, neither zero nor from a000 on";
  Usid usid;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), usid.value, 16);
  if (text.size() != 4 || error != std::errc{} || end != text.data() + text.size()) {
    value.fail_expecting(std::string(kExpected));
  }
  if (usid.value == 0 || usid.value >= kFirstLocalUsid) {
    value.fail_expecting(std::string(kExpected));
  }
  return usid;
}

std::vector<std::string> names_of(const GraphShape& graph) {
  std::vector<std::string> names;
  for (const auto& site : graph.switches) names.push_back(site.name);
  return names;
}

void check_name(const YamlValue& map, const std::string& name) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
  const bool a_host =
      name.size() > 1 && name[0] == 'h' &&
      std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (plain && !a_host && name.size() <= kMaxSwitchName) return;
  map.fail_at_key(name, in_quotes(name),
                  "a name of at most " + std::to_string(kMaxSwitchName) +
                      " of a-z, 0-9 and dash, and not as a host's");
}

void read_switches(const YamlValue& map, GraphShape& graph) {
  for (const auto& [name, value] : map.members()) {
    check_name(map, name);
    const Usid usid = read_usid(value);
    for (const auto& other : graph.switches) {
      if (other.usid == usid) value.fail_expecting("a uSID of its own: " + other.name + " has it");
    }
    graph.switches.push_back({name, usid});
  }
  if (graph.switches.empty() || graph.switches.size() > GraphShape::kMaxSwitches) {
    map.fail(std::to_string(graph.switches.size()) + " switches",
             "1 to " + std::to_string(GraphShape::kMaxSwitches));
  }
}

void read_hosts(const YamlValue& list, GraphShape& graph) {
  const std::vector<std::string> names = names_of(graph);
  for (const YamlValue& item : list.items()) {
    std::vector<uint32_t> host;
    for (const YamlValue& at : item.items()) {
      host.push_back(static_cast<uint32_t>(at.as_word(names)));
    }
    if (host.empty() || host.size() > GraphShape::kMaxPorts) {
      item.fail(std::to_string(host.size()) + " NIC ports",
                "1 to " + std::to_string(GraphShape::kMaxPorts));
    }
    if (!graph.hosts.empty() && host.size() != graph.hosts[0].size()) {
      item.fail(std::to_string(host.size()) + " NIC ports",
                std::to_string(graph.hosts[0].size()) + ", as h0 has");
    }
    graph.hosts.push_back(std::move(host));
  }
  if (graph.hosts.size() < 2 || graph.hosts.size() > GraphShape::kMaxHosts) {
    list.fail(std::to_string(graph.hosts.size()) + " hosts",
              "2 to " + std::to_string(GraphShape::kMaxHosts));
  }
}

void read_links(const YamlValue& map, GraphShape& graph) {
  const std::vector<std::string> names = names_of(graph);
  const auto mistake = [&](const NamesFound& found, const std::string& text) {
    return mistake_in(found, text, "switch", one_of(text, names) + ", or a pattern of these");
  };
  std::map<std::string_view, uint32_t>
      places;  // a name means its switch alone; only patterns look at all of them
  for (uint32_t i = 0; i < names.size(); ++i) places.emplace(names[i], i);
  const auto find = [&](const std::string& text) {
    const auto at = places.find(text);
    if (at == places.end()) return find_named(text, names);
    NamesFound one;
    one.places.push_back(at->second);
    return one;
  };
  for (const auto& [pattern, value] : map.members()) {
    const NamesFound lowers = find(pattern);
    if (const auto wrong = mistake(lowers, pattern)) {
      map.fail_at_key(pattern, wrong->found, wrong->expected);
    }
    for (const YamlValue& item : value.items()) {
      const NamesFound uppers = find(item.as_string());
      if (const auto wrong = mistake(uppers, item.as_string())) {
        item.fail(wrong->found, wrong->expected);
      }
      for (const uint32_t lower : lowers.places) {
        for (const uint32_t upper : uppers.places) {
          if (lower == upper) item.fail_expecting("another switch than " + names[lower]);
          if (graph.links.size() == GraphShape::kMaxLinks) {
            item.fail("more links", "at most " + std::to_string(GraphShape::kMaxLinks));
          }
          graph.links.push_back({lower, upper});
        }
      }
    }
  }
  std::stable_sort(graph.links.begin(), graph.links.end(),
                   [](const auto& a, const auto& b) { return a.lower < b.lower; });
}

// A map holds each name once, and the order of the links is the order of the ports.

std::string switches_text(const GraphShape& graph) {
  std::string text;
  for (const auto& site : graph.switches) {
    char usid[8];
    std::snprintf(usid, sizeof usid, "%04x", site.usid.value);
    text += (text.empty() ? "{" : ", ") + yaml_word(site.name) + ": \"" + usid + "\"";
  }
  return text + "}";
}

/// "[leaf1, leaf2]"
std::string names_text(const GraphShape& graph, const std::vector<uint32_t>& numbers) {
  std::string text;
  for (const uint32_t number : numbers) {
    text += (text.empty() ? "[" : ", ") + yaml_word(graph.switches[number].name);
  }
  return text + "]";
}

std::string hosts_text(const GraphShape& graph) {
  std::string text;
  for (const auto& host : graph.hosts)
    text += (text.empty() ? "[" : ", ") + names_text(graph, host);
  return text + "]";
}

std::string links_text(const GraphShape& graph) {
  std::string text = "{";
  for (size_t i = 0; i < graph.links.size();) {
    const uint32_t lower = graph.links[i].lower;
    std::vector<uint32_t> uppers;
    for (; i < graph.links.size() && graph.links[i].lower == lower; ++i) {
      uppers.push_back(graph.links[i].upper);
    }
    text += (text.size() == 1 ? "" : ", ") + yaml_word(graph.switches[lower].name) + ": " +
            names_text(graph, uppers);
  }
  return text + "}";
}

using RoomIn = uint32_t (*)(const UsidLayout& usids);

/// A count that the address plan bounds. If it fits the other address plan only, the error says so.
KeyRow<FabricShape> numbered_row(const char* name, uint32_t FabricShape::*member, int64_t min,
                                 RoomIn room_in, const char* about) {
  const UsidLayout lab = UsidLayout::of(AddressPlan::kLab),
                   full = UsidLayout::of(AddressPlan::kFull);
  const int64_t most = std::max(room_in(lab), room_in(full));
  const auto read = [=](const YamlValue& value, FabricShape& shape) {
    const bool is_lab = shape.address_plan == AddressPlan::kLab;
    const UsidLayout &usids = is_lab ? lab : full, &other = is_lab ? full : lab;
    const uint32_t room = room_in(usids);
    const int64_t count = value.as_integer(min, most);
    if (count > room) {
      value.fail_expecting("at most " + std::to_string(room) + " with address_plan: " +
                           std::string(usids.name()) + " (" + std::to_string(room_in(other)) +
                           " with address_plan: " + std::string(other.name()) + ")");
    }
    shape.*member = static_cast<uint32_t>(count);
  };
  return {name,
          ValueForm::integer(min, most),
          about,
          read,
          [=](const FabricShape& shape) { return std::to_string(shape.*member); },
          kRequiredKey};
}

}  // namespace

const KeyTable<GraphShape>& graph_keys() {
  using Form = ValueForm;
  const Form text = Form::of(Form::Kind::kText);
  static const KeyTable<GraphShape> kKeys(
      {{"switches", Form::map_of(Form::of(Form::Kind::kHex)),
        "in place of planes: names of switches, each with its uSID, four hex digits", read_switches,
        switches_text, kRequiredKey},
       {"hosts", Form::list(Form::list(text, 1, GraphShape::kMaxPorts), 2, GraphShape::kMaxHosts),
        "in place of planes: for each host the switches that its NIC ports hang on", read_hosts,
        hosts_text, kRequiredKey},
       {"links", Form::map_of(Form::list(text)),
        "in place of planes: for each lower switch, or pattern, the switches above it", read_links,
        links_text}});
  return kKeys;
}

bool lists_switches(const YamlValue& file) { return file.get("switches").has_value(); }

GraphShape read_graph(const YamlValue& file) {
  GraphShape graph;
  graph_keys().read(file, graph);
  std::vector<bool> used(graph.switches.size(), false);
  for (const GraphShape::Link& link : graph.links) used[link.lower] = used[link.upper] = true;
  for (const auto& host : graph.hosts) {
    for (const uint32_t at : host) used[at] = true;
  }
  for (uint32_t i = 0; i < graph.switches.size(); ++i) {
    if (used[i]) continue;
    file.require("switches")
        .fail_at_key(graph.switches[i].name, graph.switches[i].name + ", on which nothing hangs",
                     "a host or a link at each switch");
  }
  return graph;
}

void check_ways(const YamlValue& file, const FabricShape& shape) {
  const GraphShape& graph = shape.graph;
  std::set<std::pair<uint32_t, uint32_t>> linked;
  for (const GraphShape::Link& link : graph.links) {
    const bool first = linked.insert(std::minmax(link.lower, link.upper)).second;
    if (first || shape.segments == Segments::kAdjacency) continue;
    file.require("links").fail("two links between " + graph.switches[link.lower].name + " and " +
                                   graph.switches[link.upper].name,
                               "one, or segments: adjacency, where a carrier can distinguish them");
  }
  for (const std::vector<uint32_t>& host : graph.hosts) {
    const std::set<uint32_t> at(host.begin(), host.end());
    if (at.size() == host.size() || shape.decap == Decap::kNic) continue;
    file.require("hosts").fail(
        "two ports of a host on one switch, which strips what distinguishes them",
        "a port on each, or decap: nic");
  }
}

const KeyTable<FabricShape>& regular_keys() {
  using U = const UsidLayout&;
  using S = FabricShape;
  static const KeyTable<S> kKeys(
      {numbered_row(
           "planes", &S::planes, 1, [](U usids) { return usids.planes(); },
           "independent leaf-spine fabrics"),
       numbered_row(
           "t0", &S::t0, 1, [](U usids) { return usids.count(UsidRole::kT0); },
           "leaf switches of a plane"),
       numbered_row(
           "t1", &S::t1, 0, [](U usids) { return usids.count(UsidRole::kT1); },
           "spine switches of a plane"),
       numbered_row(
           "hosts_per_t0", &S::hosts_per_t0, 1,
           [](U usids) { return usids.count(UsidRole::kNicPort); }, "hosts on each T0"),
       KeyRow<S>::of("pods", &S::pods, integer_kind(2, 256),
                     "three tiers: a plane's T0s and T1s are so many pods of as many each",
                     {.if_unusual = true}),
       [] {
         KeyRow<S> row = numbered_row(
             "t2", &S::t2, 1, [](U usids) { return usids.count(UsidRole::kT2); },
             "three tiers: super-spine switches of a plane, which join its pods");
         row.use = {.if_unusual = true};
         return row;
       }(),
       KeyRow<S>::of(
           "t2_links", &S::t2_links, word_kind<T2Links>({"group", "mesh"}),
           "group: T1 k of each pod to the k-th of as many groups of T2s, as in a fat tree; mesh: "
           "each T1 to each T2",
           {.if_unusual = true}),
       KeyRow<S>::of("address_plan", &S::address_plan, word_kind<AddressPlan>({"lab", "full"}),
                     "what a uSID's bits mean; full: up to 131,072 hosts", {.read_pass = 0})});
  return kKeys;
}

void read_regular(const YamlValue& file, uint64_t max_nodes, FabricShape& shape) {
  regular_keys().read(file, shape);
  if (shape.t0 > 1 && shape.t1 == 0) {
    file.require("t1").fail_expecting("at least one T1: several T0s of a plane meet there");
  }
  if (shape.t2 == 0 && file.get("t2_links")) {
    file.fail_at_key("t2_links", in_quotes("t2_links"), "\"t2\" beside it");
  }
  if (const std::string misfit = pods_misfit(shape); !misfit.empty()) {
    const char* const keys[] = {"t2", "pods", "t2_links"};
    const auto key = std::find_if(std::begin(keys), std::end(keys),
                                  [&](const char* name) { return file.get(name).has_value(); });
    file.require(*key).fail(
        misfit,
        "two pods or more with \"t2\" beside them, which divide t0 and t1, and a t2 that the "
        "T1s of a pod divide, or \"t2_links: mesh\"");
  }
  const uint64_t nodes = shape.host_count() + shape.switch_count();
  if (nodes > max_nodes) {
    file.require("planes").fail(std::to_string(nodes) + " nodes in all",
                                "at most " + std::to_string(max_nodes));
  }
}

}  // namespace mrclab
