#pragma once
// How deep the queues of the switches were, out of packet records (analysis/history/history_file.h): a data
// frame is in the queue of the port it leaves by from when it has passed the switch's pipeline until
// its last bit is out. Frames that were dropped in the queue are not in it. A port has a queue for data of MRC and one
// for that of RoCE.

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fabric/base/units.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// The deepest queue of data of a run: MRC's of a port, or RoCE's.
struct DeepestQueue {
  Bytes size;
  std::string port;
};

struct QueueDepths {
  /// [plane][bin]: bytes (wire length) in the deepest data queue of the plane at any time in the bin.
  std::vector<std::vector<uint64_t>> deepest;
  /// The port of a plane's deepest queue of all; empty if nothing ever waited.
  std::vector<std::string> deepest_port;
  /// The ports whose queues were the deepest, from the deepest on, at most kDeepPorts.
  struct PortBins {
    std::string port;
    bool roce = false;
    uint64_t most = 0;
    std::vector<uint64_t> deepest;          ///< by bin: bytes
    std::vector<uint32_t> trimmed, marked;  ///< by bin: frames
  };
  std::vector<PortBins> ports;
  std::optional<DeepestQueue> deepest_of_all;  ///< empty: nothing ever waited, or it is unknown
  std::string unknown;                         ///< why the depth is not known; empty: it is
};

/// Records of one file that are looked at: they are sorted in memory, 40 bytes each.
inline constexpr size_t kMaxQueueRecords = 6'000'000;

inline constexpr size_t kDeepPorts = 6;

/// Called with each depth that is not zero: so many bytes were in the port's queue of data (`roce`: of RoCE's) from one
/// instant to another. In order of time for each queue.
using SeeDepth =
    std::function<void(PortRef port, bool roce, FabricTime from, FabricTime until, uint64_t bytes)>;

/// Queue depths in bins of this width from zero to `end`. Files that are not whole make them
/// unknown.
QueueDepths queue_depths(const Topology& topology, std::span<const std::filesystem::path> records,
                         FabricTime bin, FabricTime end, const SeeDepth& see = {});

}  // namespace mrclab::analysis
