#pragma once
// The bound of what a person may ask of the pace.

#include <cstdint>

namespace mrclab::lab {

/// Lab seconds per fabric second. At this pace a microsecond of the fabric takes a second.
inline constexpr uint32_t kMaxDilation = 1'000'000;

}  // namespace mrclab::lab
