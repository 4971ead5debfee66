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
struct Letter {
  NodeId node;
  PortId port;
  Arrival arrival;
};

/// Thrown for bytes that are no letter to a node of the topology.
struct LetterError : std::runtime_error {
  explicit LetterError(const std::string& what) : std::runtime_error("between ranks: " + what) {}
};

inline constexpr size_t kLetterHeadBytes = 48;

/// Writes the letter behind what `out` holds: a head of kLetterHeadBytes in network byte order, then
/// the bytes of its frame.
void append_letter(const Letter& letter, std::vector<uint8_t>& out);

/// Takes the first letter off `bytes`, which are not empty. `frames_of` names the pool for the frame
/// of a letter to a node, or null if the node is not of this rank. Throws LetterError.
Letter take_letter(std::span<const uint8_t>& bytes, const Topology& topology,
                   const std::function<FramePool*(NodeId)>& frames_of);

}  // namespace mrclab::lab
