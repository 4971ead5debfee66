#pragma once
// A fabric's counters as OpenMetrics: ours by their own names, and a host's as node_exporter's InfiniBand collector has
// them, so that what people have already reads them. Fabric time is a metric of its own: what happened in a second of
// the scraper's clock is divided by what passed of it.

#include <map>
#include <string>
#include <vector>

#include "fabric/topology/topology.h"
#include "telemetry/counted_node.h"

namespace mrclab::telemetry {

struct FabricCounts {
  std::string lab;
  std::string version;                       ///< of the program
  std::map<std::string, CountedNode> nodes;  ///< those that answered, by name
  std::vector<bool> links_up;                ///< by LinkId; empty: not known
};

enum class MetricsBy : uint8_t { kPort, kNode };
/// More ports of switches than this are shown by node, if nobody chose: 1,024 of them are 50,000 samples.
inline constexpr size_t kPortsByDefault = 1024;

struct MetricsChoice {
  MetricsBy by = MetricsBy::kPort;
  std::string only;  ///< a pattern of names of nodes; empty: all
};
/// By port, or by node where there are too many.
MetricsBy usual_detail(const Topology& topology);

/// The text, "# EOF" at its end. A node that did not answer has mrclab_node_up 0 and no other sample.
std::string metrics_text(const Topology& topology, const FabricCounts& counts,
                         const MetricsChoice& choice);

}  // namespace mrclab::telemetry
