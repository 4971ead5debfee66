#pragma once
// What a person may ask of the pace.

#include <cstdint>

namespace mrclab::lab {

/// Lab seconds per fabric second: a microsecond of the fabric then takes one second here.
inline constexpr uint32_t kMaxDilation = 1'000'000;

}  // namespace mrclab::lab
