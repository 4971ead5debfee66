// Loops over fixed blocks of 4-byte elements through memcpy, so that alignment does not matter. Most of what a
// simulation with payload does beside its headers happens here: whole vectors, and one pass over the memory.

#include "endpoint/workload/ramp.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

namespace mrclab::endpoint {
namespace {

constexpr size_t kBlock = 256;  // elements
using Block = std::array<uint32_t, kBlock>;

/// The elements that are made at once: a vector that every processor here has in one register.
constexpr uint32_t kLanes = 4;
using Lanes [[gnu::vector_size(kLanes * sizeof(uint32_t))]] = uint32_t;

uint32_t value_at(Ramp ramp, uint64_t index) {
  return ramp.start + static_cast<uint32_t>(index) * ramp.step;
}

/// Calls use(number of the first byte, lanes) for all lanes that are whole in `size` bytes, and returns how many bytes
/// these are.
template <class Use>
size_t for_each_lanes(size_t size, uint64_t first_index, Ramp ramp, Use&& use) {
  const size_t whole = size - size % sizeof(Lanes);
  Lanes lanes;
  for (uint32_t i = 0; i < kLanes; ++i) lanes[i] = value_at(ramp, first_index + i);
  for (size_t at = 0; at < whole; at += sizeof lanes, lanes += kLanes * ramp.step) use(at, lanes);
  return whole;
}

/// Calls use(number of the first byte, value, bytes) for each element from the byte `at` on, which an element begins with;
/// the last one may have fewer bytes.
template <class Use>
void for_each_element(size_t at, size_t size, uint64_t first_index, Ramp ramp, Use&& use) {
  for (; at < size; at += sizeof(uint32_t)) {
    const uint32_t value = value_at(ramp, first_index + at / sizeof value);
    use(at, value, std::min(size - at, sizeof value));
  }
}

bool is_ramp(std::span<const uint8_t> bytes, uint64_t first_index, Ramp ramp) {
  Lanes differing{};
  const auto compare = [&](size_t at, Lanes expected) {
    Lanes found;
    std::memcpy(&found, &bytes[at], sizeof found);
    differing |= found ^ expected;
  };
  const size_t whole = for_each_lanes(bytes.size(), first_index, ramp, compare);
  bool same = (differing[0] | differing[1] | differing[2] | differing[3]) == 0;
  for_each_element(whole, bytes.size(), first_index, ramp,
                   [&](size_t at, uint32_t expected, size_t length) {
                     same = same && std::memcmp(&bytes[at], &expected, length) == 0;
                   });
  return same;
}

}  // namespace

void fill_ramp(Memory memory, uint64_t first_index, Ramp ramp) {
  if (memory.elided()) return;
  const std::span<uint8_t> bytes = memory.bytes();
  const auto write = [&](size_t at, Lanes lanes) { std::memcpy(&bytes[at], &lanes, sizeof lanes); };
  const size_t whole = for_each_lanes(bytes.size(), first_index, ramp, write);
  for_each_element(
      whole, bytes.size(), first_index, ramp,
      [&](size_t at, uint32_t value, size_t length) { std::memcpy(&bytes[at], &value, length); });
}

uint64_t count_mismatched_bytes(ConstMemory memory, uint64_t first_index, Ramp ramp) {
  if (memory.elided()) return 0;
  const std::span<const uint8_t> bytes = memory.bytes();
  if (is_ramp(bytes, first_index, ramp)) return 0;
  uint64_t wrong = 0;
  for_each_element(0, bytes.size(), first_index, ramp,
                   [&](size_t at, uint32_t expected, size_t length) {
                     if (std::memcmp(&bytes[at], &expected, length) != 0) wrong += length;
                   });
  return wrong;
}

void add_elements(Memory to_memory, ConstMemory from_memory) {
  assert(to_memory.size() == from_memory.size() && to_memory.size() % 4 == 0);
  if (to_memory.elided() || from_memory.elided()) return;
  const std::span<uint8_t> to = to_memory.bytes();
  const std::span<const uint8_t> from = from_memory.bytes();
  Block a{}, b{};
  for (size_t at = 0; at < to.size(); at += sizeof(Block)) {
    const size_t size = to.size() - at < sizeof(Block) ? to.size() - at : sizeof(Block);
    std::memcpy(a.data(), to.data() + at, size);
    std::memcpy(b.data(), from.data() + at, size);
    for (size_t i = 0; i < kBlock; ++i) a[i] += b[i];
    std::memcpy(to.data() + at, a.data(), size);
  }
}

}  // namespace mrclab::endpoint
