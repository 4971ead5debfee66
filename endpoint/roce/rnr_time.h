#pragma once
// How long a sender waits after "receiver not ready" (InfiniBand specification table 45; the same in
// rdma_rxe): a 5-bit code, in steps of 10 us.

#include <array>
#include <cstdint>

#include "fabric/base/units.h"

namespace mrclab::endpoint {

inline constexpr std::array<uint32_t, 32> kRnrSteps{
    65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
    48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
    2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

constexpr FabricTime rnr_time(uint8_t code) {
  return FabricTime::from_us(10) * int64_t{kRnrSteps[code & 0x1F]};
}

}  // namespace mrclab::endpoint
