#pragma once
// Frames on their way from a node of one rank to a node of another, as bytes.

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "fabric/node/node.h"
#include "fabric/topology/topology.h"

namespace mrclab::lab {

/// An arrival, and the port that it is for.
struct CrossShardFrame {
  NodeId node;
  PortId port;
  Arrival arrival;
};

/// Thrown for bytes that are no cross-shard frame to a node of the topology.
struct CrossShardError : std::runtime_error {
  explicit CrossShardError(const std::string& what)
      : std::runtime_error("between ranks: " + what) {}
};

inline constexpr size_t kCrossShardHeadBytes = 48;

/// Writes the cross-shard frame behind what `out` holds: a head of kCrossShardHeadBytes in network byte order, then
/// the bytes of its frame.
void append_cross_shard(const CrossShardFrame& crossing, std::vector<uint8_t>& out);

/// Takes the first cross-shard frame off `bytes`, which are not empty. `frames_of` names the pool for the frame
/// of a cross-shard frame to a node, or null if the node is not of this rank. Throws CrossShardError.
CrossShardFrame take_cross_shard(std::span<const uint8_t>& bytes, const Topology& topology,
                                 const std::function<FramePool*(NodeId)>& frames_of);

}  // namespace mrclab::lab
