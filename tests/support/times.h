#pragma once
// Fabric times, short to write.

#include "fabric/base/units.h"

namespace mrclab::test {

constexpr FabricTime ps(int64_t n) { return FabricTime::from_ps(n); }
constexpr FabricTime ns(int64_t n) { return FabricTime::from_ns(n); }
constexpr FabricTime us(int64_t n) { return FabricTime::from_us(n); }

constexpr Probability percent(uint32_t n) { return {n * (Probability::kOne / 100)}; }

}  // namespace mrclab::test
