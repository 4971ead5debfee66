// Who paused whom, as a tree: by a run's packet records, else by the captures' own pause frames.

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "fabric/packet/pause_frame.h"
#include "recorded/traffic/traffic_tables.h"

namespace mrclab::lab {
namespace {

using Json = nlohmann::ordered_json;

double share_of_interval(const analysis::PauseTree& tree, FabricTime stood) {
  const FabricTime whole = tree.until - tree.from;
  return whole > FabricTime::zero() ? stood.us() / whole.us() : 0;
}

/// A step to the right for each port on the way to the root; no more than names leave room for.
std::string indent(uint32_t depth) {
  constexpr uint32_t kMostSteps = 8;
  return std::string(2 * size_t{std::min(depth, kMostSteps)}, ' ');
}

FabricTime captured_for(const analysis::Traffic& traffic) {
  FabricTime from = std::min(traffic.first, traffic.roce.first);
  FabricTime until = std::max(traffic.last, traffic.roce.last);
  for (const auto& [asker, requests] : traffic.pause_requests) {
    from = std::min(from, requests.first);
    until = std::max(until, requests.last);
  }
  return until > from ? until - from : FabricTime::zero();
}

/// What the captures' own pause frames show, where there are no packet records of a run.
void add_captured(const analysis::Traffic& traffic, TrafficTable& table) {
  const FabricTime whole = traffic.paused.empty() ? FabricTime::zero() : captured_for(traffic);
  bool unknown = false, open = false;
  for (const analysis::PausedNeighbour& place : traffic.paused) {
    const bool top = place.above == analysis::PausedNeighbour::kRoot;
    const std::string port = place.paused.empty() ? "neighbour not known" : place.paused;
    unknown = unknown || place.paused.empty();
    open = open || place.open;
    table.rows.push_back({indent(place.depth) + port,
                          place.paused.empty() ? Json() : Json(place.paused), place.asked_by,
                          priority_text(place.priority),
                          top ? Json() : Json(traffic.paused[place.above].paused), place.stood.ns(),
                          whole > FabricTime::zero() ? Json(place.stood.us() / whole.us()) : Json(),
                          place.times, (place.first - traffic.origin).ns()});
  }
  if (unknown) {
    table.notes.emplace_back(
        "neighbour not known: no frame of the capture, or frames of several ports, go between it and "
        "who asked");
  }
  if (open) {
    table.notes.emplace_back(
        "a pause that nothing ended counts to the end of the capture, unless the rate of the link is "
        "known (if_speed of pcapng)");
  }
}

}  // namespace

TrafficTable pauses_table(const analysis::Traffic& traffic, const TrafficContext& context) {
  TrafficTable table{"pauses",
                     "Ports that stood paused, each below what made its neighbour ask",
                     {{"shown", "port"},
                      {"port", ""},
                      {"asked_by", "asked by"},
                      {"priority", "class"},
                      {"below", ""},
                      {"stood_ns", "stood", Shown::kNanoseconds},
                      {"share", "share", Shown::kShare},
                      {"times", "times"},
                      {"first_ns", "since", Shown::kNanoseconds}},
                     {},
                     context.pauses.notes,
                     false};
  table.without_rows = context.pauses.looked           ? "no port stood paused"
                       : traffic.counters.records == 0 ? "the captures have no records"
                                                       : "no record is a pause frame";
  if (!context.pauses.looked && context.pauses.tree.places.empty()) {
    add_captured(traffic, table);
    table.brief = !table.rows.empty();
    return table;
  }
  const analysis::PauseTree& tree = context.pauses.tree;
  if (context.topology == nullptr) return table;
  const Topology& topology = *context.topology;
  for (const analysis::PausedPort& place : tree.places) {
    const bool top = place.above == analysis::PausedPort::kRoot;
    table.rows.push_back(
        {indent(place.depth) + topology.port_name(place.port), topology.port_name(place.port),
         analysis::pauser_name(topology, place.asked_by), kLosslessPriority,
         top ? Json() : Json(topology.port_name(tree.places[place.above].port)), place.stood.ns(),
         share_of_interval(tree, place.stood), place.times, place.first.ns()});
  }
  return table;
}

}  // namespace mrclab::lab
