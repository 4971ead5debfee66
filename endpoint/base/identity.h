#pragma once
// Where the numbers of queue pairs and memory regions come from: the seed and names, never the
// process (a simulated run and a live one must agree). A number unique in its host stands in the
// low 12 bits, random bits above it, so that a stale or guessed QPN or rkey names nothing.

#include <cstdint>

#include "fabric/base/ids.h"
#include "fabric/base/random.h"

namespace mrclab::endpoint {

/// The most queue pairs, and memory regions, of a host.
inline constexpr uint32_t kMaxPerHost = 4000;

/// The identities of one host. `number` is 1 to kMaxPerHost; `use` counts those that had the
/// same number one after the other.
class HostIdentities {
 public:
  HostIdentities(uint64_t seed, NodeId host) : seed_(seed), host_(host) {}

  /// Never 0 or 1 (reserved by InfiniBand) nor the endpoint QPN 2: the high bits are not zero.
  Qpn qpn(uint32_t number, uint32_t use = 0) const {
    return {(1 + static_cast<uint32_t>(below(bits(1, number, use), 0xFFF))) << 12 | number};
  }
  Psn first_psn(uint32_t number, uint32_t use = 0) const {
    return Psn{static_cast<uint32_t>(bits(2, number, use))};
  }
  uint64_t va(uint32_t number, uint32_t use = 0) const {
    return 0x7000'0000'0000 + (uint64_t{number} << 42) +
           (below(bits(3, number, use), 1u << 24) << 12);
  }
  uint32_t rkey(uint32_t number, uint32_t use = 0) const {
    return static_cast<uint32_t>(bits(4, number, use)) << 12 | number;
  }
  static constexpr uint32_t number_of(Qpn qpn) { return qpn.value & 0xFFF; }

 private:
  uint64_t bits(uint64_t what, uint32_t number, uint32_t use) const {
    return draw(seed_, host_, PortId{}, DrawPurpose::kIdentity,
                uint64_t{use} << 40 | what << 32 | number);
  }

  uint64_t seed_;
  NodeId host_;
};

}  // namespace mrclab::endpoint
