#pragma once
// Test data that is cheap to make, to add and to check: 32-bit elements start + index * step.

#include <cstdint>
#include <span>

#include "endpoint/base/memory.h"

namespace mrclab::endpoint {

/// value(index) = start + index * step (modulo 2^32). Ramps add: the sum of ramps is a ramp.
struct Ramp {
  uint32_t start = 0;
  uint32_t step = 0;
  bool operator==(const Ramp&) const = default;
  Ramp operator+(Ramp r) const { return {start + r.start, step + r.step}; }
};

/// Element i of `bytes` becomes value(first_index + i), in host byte order; a last piece shorter
/// than an element takes that element's first bytes. Memory without bytes stays as it is, here and
/// below.
void fill_ramp(Memory memory, uint64_t first_index, Ramp ramp);
/// Bytes that are in elements which differ from the ramp.
uint64_t count_mismatched_bytes(ConstMemory memory, uint64_t first_index, Ramp ramp);
/// Adds element by element; lengths are equal and multiples of 4.
void add_elements(Memory to_memory, ConstMemory from_memory);

}  // namespace mrclab::endpoint
