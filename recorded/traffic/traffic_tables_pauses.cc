// Who paused whom, as a tree: what a run's packet records show of pause frames.

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "recorded/traffic/traffic_tables.h"

namespace mrclab::lab {
namespace {

using Json = nlohmann::ordered_json;

double share_of_interval(const analysis::PauseTree& tree, FabricTime stood) {
  const FabricTime whole = tree.until - tree.from;
  return whole > FabricTime::zero() ? stood.us() / whole.us() : 0;
}

/// A step to the right for each port on the way to the root; no more than names leave room for.
std::string indented(const Topology& topology, const analysis::PausedPort& place) {
  constexpr uint32_t kMostSteps = 8;
  return std::string(2 * size_t{std::min(place.depth, kMostSteps)}, ' ') +
         topology.port_name(place.port);
}

std::string no_rows(const analysis::Traffic& traffic, const PauseSource& pauses) {
  if (pauses.looked) return "no port stood paused";
  const std::string_view seen = traffic.counters.pauses > 0 ? ", see --section pause_frames" : "";
  return fmt::format(
      "not looked at: this is read from the packet records of a run whose ports pause; the "
      "captures have {} pause frames{}",
      traffic.counters.pauses, seen);
}

}  // namespace

TrafficTable pauses_table(const analysis::Traffic& traffic, const TrafficContext& context) {
  TrafficTable table{"pauses",
                     "Ports that stood paused, each below what made its neighbour ask",
                     {{"shown", "port"},
                      {"port", ""},
                      {"asked_by", "asked by"},
                      {"below", ""},
                      {"stood_ns", "stood", Shown::kNanoseconds},
                      {"share", "share", Shown::kShare},
                      {"times", "times"},
                      {"first_ns", "since", Shown::kNanoseconds}},
                     {},
                     context.pauses.notes,
                     false};
  table.without_rows = no_rows(traffic, context.pauses);
  const analysis::PauseTree& tree = context.pauses.tree;
  if (context.topology == nullptr) return table;
  const Topology& topology = *context.topology;
  for (const analysis::PausedPort& place : tree.places) {
    const bool top = place.above == analysis::PausedPort::kRoot;
    table.rows.push_back({indented(topology, place), topology.port_name(place.port),
                          analysis::pauser_name(topology, place.asked_by),
                          top ? Json() : Json(topology.port_name(tree.places[place.above].port)),
                          place.stood.ns(), share_of_interval(tree, place.stood), place.times,
                          place.first.ns()});
  }
  return table;
}

}  // namespace mrclab::lab
