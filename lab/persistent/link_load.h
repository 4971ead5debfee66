#pragma once
// How busy the links of a running lab are: what its switches have counted, from one look to the next.

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fabric/topology/topology.h"
#include "telemetry/counted_node.h"

namespace mrclab::lab {

/// What the nodes of a lab have counted (switchd/counters.h, endpoint/base/host_stats.h), as their daemons report it.
struct CounterSample {
  std::map<std::string, telemetry::CountedNode> switches;  ///< by name; only switches of ours count
  std::map<std::string, telemetry::CountedNode> hosts;

  FabricTime reached() const;  ///< the earliest `until` of a switch; zero without switches
};

/// A host's report (endpoint/host/host_account.h) under our words: what is in objects and lists is "planes.0.tx_packets".
telemetry::NamedCounts host_counts(const nlohmann::json& stats);

/// Asks every daemon whose socket lies in the lab's folder. A daemon that does not answer within two seconds, or
/// has nothing to count, is left out. Throws SystemError if the folder is gone.
CounterSample read_counters(const Topology& topology, const std::filesystem::path& lab_directory);

/// One direction of one link.
struct DirectionLoad {
  std::string from;  ///< the port that sends: "p0.t0-1:u2"
  std::string to;    ///< the port that receives
  uint32_t plane = 0;
  double bits_per_second = 0;  ///< on the wire: preamble, gap and check are counted
  double load = 0;             ///< bits_per_second as a share of the rate of the link, 0 to 1
  std::optional<uint64_t> queued_bytes;  ///< that wait for the port now; unknown of a host's
  uint64_t trimmed = 0, marked = 0;      ///< by the port that sends
  uint64_t lost = 0;                     ///< in its queue, or on the wire
};

/// From `before`, or from the beginning of fabric time if that is null, until `now`. A switch that began to count
/// anew in between is taken from its new beginning. Directions that no switch of ours counts are left out.
std::vector<DirectionLoad> link_loads(const Topology& topology, const CounterSample* before,
                                      const CounterSample& now);

/// The busiest first, and of two that are as busy the one that lost more.
void sort_by_load(std::vector<DirectionLoad>& loads);

/// A line for each plane and one for each of the first `rows` directions, in 80 columns.
std::string load_text(const std::vector<DirectionLoad>& loads, size_t rows);
nlohmann::json load_json(const std::vector<DirectionLoad>& loads);

}  // namespace mrclab::lab
