#pragma once
// Evidence for and against components: one sample per transmission, and one per port that was
// reported dark. Only analysis/blame/blame*.cc include this.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/history/event_history.h"
#include "analysis/history/packet_history.h"
#include "fabric/topology/path.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// A path has at most this many wires: one more than the switches that a carrier names.
inline constexpr size_t kMaxWires = 8;
static_assert(kMaxWires > kUsidsInCarrier);

/// What a bad sample shows about its place, beside its wires.
enum class Clue : uint8_t {
  kNone,
  kDark,      ///< a port without light: given to it, or reported by a host
  kBitFlip,   ///< a port's frame check
  kInside,    ///< the ICRC, behind good frame checks: inside a node
  kAstray,    ///< a node without a route or a use for it
  kReceiver,  ///< the receiving host's NIC refused it
};

struct BlameSample {
  FabricTime t;  ///< first bit leaves the host; lost at a known port: when it was
  uint32_t source = 0, destination = 0;
  EntropyValue ev;
  std::array<WireId, kMaxWires> wires{};
  /// From `t` until its last bit is over each wire of an idle fabric, in ps; 0: `t` is when it was there.
  std::array<uint32_t, kMaxWires> reach{};
  uint8_t wire_count = 0;
  uint8_t suspects = 0;  ///< bits of the wires where it may have gone bad
  uint8_t weight = 1;
  bool bad = false;
  bool counts = true;   ///< false: its fate is no evidence
  bool chosen = false;  ///< switches chose its way (taken_ways.h)
  bool way_known =
      true;            ///< false: and no record shows it, so its wires are the first and the last
  bool probe = false;  ///< a mapper's agent sent it, and it comes back to that host
  Clue clue = Clue::kNone;
  /// kDark: the switch that discarded it, and so lives; kAstray: the switch whose route is wrong.
  NodeId about;
  bool operator<(const BlameSample& other) const { return t < other.t; }
};

/// A host's report about a port of its own.
inline bool is_word(const BlameSample& sample) {
  return sample.source == sample.destination && !sample.probe;
}
/// A host's report that its port is dark weighs as much as this many lost packets, because a dark
/// port is its only cause.
inline constexpr uint8_t kWeightOfWord = 3;
/// What fails whole turns all its ports dark within this time, but for a transceiver that glitches (our choice).
inline constexpr FabricTime kAtOnce = FabricTime::from_us(2);

/// Samples by time. Losses; copies; marks without a queue. A list in which no sample is bad is left empty.
struct BlameSamples {
  std::vector<BlameSample> losses, copies, marks;
};
/// How many packets were lost at a place that no record has: no node recorded the drop, and no capture shows the way.
uint64_t losses_without_place(const Topology& topology, const PacketHistory& packets);
BlameSamples blame_samples(const Topology& topology, const PacketHistory& packets,
                           const EventHistory& events);

}  // namespace mrclab::analysis
