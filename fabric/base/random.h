#pragma once
// The random function: a draw is f(seed, node, port, purpose, counter). It has no
// state, so the order in which processes run cannot change it.

#include <cstdint>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"

namespace mrclab {

enum class DrawPurpose : uint32_t {
  kEcnMark = 1,
  kTrim = 2,
  kWireLoss = 3,
  kEvShuffle = 4,
  kProbeJitter = 5,
  kWorkload = 6,
  kIdentity = 7,  ///< QPN, first PSN, rkey, VA: come from names and the seed
  kEvChoice = 8,
  kFault = 9,
  kReverseProbe = 10,
  kNicRemap = 11,
  kWireBurst = 12,    ///< from the good state to the bad one and back
  kWireEvLoss = 13,   ///< as kWireLoss, for the loss of one entropy value
  kWireEvBurst = 14,  ///< as kWireBurst, likewise
  kWireErrors = 15,
  kWireDelay = 16,   ///< is this frame delayed
  kWireJitter = 17,  ///< how much
  kWireDuplicate = 18,
  kSwitchErrors = 19,    ///< is this frame hit
  kSwitchErrorBit = 20,  ///< which bit flips
  kRedMark = 21,         ///< of RoCE's data
  kAdaptiveRoute = 22,   ///< among uplinks whose queues are alike
  kWireCodeword = 23,    ///< is it lost
  kProbeNonce = 24,      ///< of a mapper's probe
  kRouting = 40,         ///< sequence numbers, ports and jitter of BGP speakers
};

/// Finalizer of SplitMix64 (Steele, Lea, Flood 2014): a bijection with full avalanche.
constexpr uint64_t mix64(uint64_t x) {
  x += 0x9E37'79B9'7F4A'7C15;
  x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9;
  x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EB;
  return x ^ (x >> 31);
}

/// 64 uniform bits for one decision. `port` may be invalid for decisions of a whole node.
constexpr uint64_t draw(uint64_t seed, NodeId node, PortId port, DrawPurpose purpose,
                        uint64_t counter) {
  uint64_t h = mix64(seed);
  h = mix64(h ^ (uint64_t{node.value} << 32 | port.value));
  h = mix64(h ^ static_cast<uint64_t>(purpose));
  return mix64(h ^ counter);
}

/// True with probability p for a uniform draw.
constexpr bool chance(uint64_t draw, Probability p) {
  return (static_cast<unsigned __int128>(draw) * Probability::kOne >> 64) < p.ppb;
}

/// Uniform in [0, bound), bound > 0.
constexpr uint64_t below(uint64_t draw, uint64_t bound) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(draw) * bound >> 64);
}

}  // namespace mrclab
