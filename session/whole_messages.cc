#include "session/whole_messages.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>

#include "fabric/node/effect_text.h"
#include "fabric/node/impairment.h"
#include "faults/schedule.h"
#include "session/fabric_message.h"
#include "session/message_bytes.h"
#include "session/recording/first_racks.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

static_assert(sizeof(FabricTally::Cell) == 8 && offsetof(FabricTally::Cell, lost) == 2 &&
                  offsetof(FabricTally::Cell, marked) == 6,
              "cells are copied as they are");

/// The links that an effect impairs, in order; none if it is about its node.
std::set<LinkId> links_of(const Topology& topology, const Effect& effect) {
  std::set<LinkId> links;
  const bool of_node = std::visit(
      [](const auto& e) {
        return requires { e.node; };
      },
      effect);
  if (of_node) return links;
  for (const WireId wire : wires_impaired_by(topology, effect)) {
    links.insert(topology.wire(wire).link);
  }
  return links;
}

using StruckLinks = std::map<NodeId, std::set<LinkId>>;  ///< by node at either end

/// What strikes all links of one node, and no other link, is that node's: of a T1 else all T0s would be marked.
void leave_struck_node(const Topology& topology, StruckLinks& nodes) {
  std::set<LinkId> all;
  for (const auto& entry : nodes) all.insert(entry.second.begin(), entry.second.end());
  for (const auto& [node, links] : nodes) {
    if (links.size() < 2 || links.size() != all.size()) continue;
    if (topology.node(node).ports.size() != links.size()) continue;
    nodes = {{node, all}};
    return;
  }
}

}  // namespace

json whole_json(const Branch& branch) {
  if (branch.tally() == nullptr) return nullptr;
  const Topology& topology = branch.topology();
  constexpr std::array<std::string_view, 3> kTiers{"t0", "t1", "t2"};
  json tiers = json::array();
  for (size_t tier = 0; tier < kTiers.size(); ++tier) {
    std::vector<size_t> first(topology.planes), count(topology.planes);
    for (size_t i = topology.host_count(); i < topology.nodes.size(); ++i) {
      const NodeSite& site = topology.nodes[i];
      if (static_cast<size_t>(site.role) != tier + 1) continue;
      if (count[site.plane]++ == 0) first[site.plane] = i - topology.host_count();
    }
    if (count[0] == 0) continue;
    tiers.push_back({{"role", kTiers[tier]}, {"count", count[0]}, {"first", first}});
  }
  return {{"racks", topology.t0_per_plane},
          {"hosts", topology.host_count()},
          {"hosts_per_rack", topology.hosts_per_t0},
          {"nodes", topology.nodes.size()},
          {"links", topology.links.size()},
          {"followed", branch.recording().part().racks()},
          {"most", most_racks(topology)},
          {"line_bps", topology.host_rate.bps * topology.planes * topology.host_count()},
          {"tiers", std::move(tiers)}};
}

json places_json(const faults::Fault& fault, const Topology& topology, const FollowedPart& part,
                 size_t& room) {
  json list = json::array();
  if (part.whole()) return list;
  using Kind = std::tuple<FabricTime, FabricTime, std::string, bool>;
  std::map<Kind, StruckLinks> places;
  for (const faults::Hold& hold : faults::holds_of(fault, topology)) {
    if (hold.from >= fault.healed) continue;
    auto& nodes = places[{hold.from, std::min(hold.until, fault.healed),
                          std::string(name_of(hold.effect)), stops_all(hold.effect)}];
    const std::set<LinkId> links = links_of(topology, hold.effect);
    if (links.empty()) {
      for_each_concerned(topology, hold.effect, [&](NodeId node) { nodes[node]; });
    }
    for (const LinkId link : links) {
      nodes[topology.link(link).a.node].insert(link);
      nodes[topology.link(link).b.node].insert(link);
    }
  }
  for (auto& [kind, nodes] : places) {
    leave_struck_node(topology, nodes);
    const auto& [from, until, effect, dark] = kind;
    json switches = json::array(), hosts = json::array();
    for (const auto& [node, links] : nodes) {
      if (room == 0) break;
      --room;
      const bool is_host = topology.node(node).role == NodeRole::kHost;
      const uint32_t number = is_host ? node.value : node.value - topology.host_count();
      (is_host ? hosts : switches).push_back({number, links.size()});
    }
    list.push_back({{"effect", effect},
                    {"dark", dark},
                    {"from_ps", from.ps()},
                    {"until_ps", until == FabricTime::never() ? json() : json(until.ps())},
                    {"switches", std::move(switches)},
                    {"hosts", std::move(hosts)}});
  }
  return list;
}

std::string tally_message(const FabricTally& tally, const Topology& topology, uint32_t branch,
                          size_t from, size_t to) {
  const size_t each = 8 + 24 * topology.planes + sizeof(FabricTally::Cell) * tally.switches();
  std::string out;
  out.reserve(24 + (to - from) * each);
  for (const size_t number :
       {size_t{3}, size_t{branch}, from, to - from, size_t{topology.planes}, tally.switches()}) {
    put_number(out, static_cast<uint32_t>(number));
  }
  const auto bounded = [](uint64_t n) {
    return static_cast<uint32_t>(std::min<uint64_t>(n, UINT32_MAX));
  };
  for (size_t window = from; window < to; ++window) {
    put_number(out, bounded(tally.again(window)));
    put_number(out, uint32_t{0});
    for (const FabricTally::PlaneCount& plane : tally.planes(window)) {
      put_number(out, static_cast<double>(plane.received));
      for (const uint64_t count : {plane.lost, plane.trimmed, plane.marked, uint64_t{0}}) {
        put_number(out, bounded(count));
      }
    }
    const auto cells = tally.cells(window);
    out.append(reinterpret_cast<const char*>(cells.data()), cells.size_bytes());
  }
  return out;
}

}  // namespace mrclab::lab
