// Loops over fixed blocks of 4-byte elements through memcpy: the compiler vectorises them, and
// alignment does not matter.

#include "endpoint/workload/ramp.h"

#include <array>
#include <cassert>
#include <cstring>

namespace mrclab::endpoint {
namespace {

constexpr size_t kBlock = 256;  // elements
using Block = std::array<uint32_t, kBlock>;

void make_block(Block& block, uint32_t value, uint32_t step) {
  for (size_t i = 0; i < kBlock; ++i) block[i] = value + static_cast<uint32_t>(i) * step;
}

uint32_t value_at(Ramp ramp, uint64_t index) {
  return ramp.start + static_cast<uint32_t>(index) * ramp.step;
}

}  // namespace

void fill_ramp(Memory memory, uint64_t first_index, Ramp ramp) {
  if (memory.elided()) return;
  std::span<uint8_t> bytes = memory.bytes();
  Block block;
  for (uint64_t index = first_index; !bytes.empty(); index += kBlock) {
    make_block(block, value_at(ramp, index), ramp.step);
    const size_t size = bytes.size() < sizeof(block) ? bytes.size() : sizeof(block);
    std::memcpy(bytes.data(), block.data(), size);
    bytes = bytes.subspan(size);
  }
}

uint64_t count_mismatched_bytes(ConstMemory memory, uint64_t first_index, Ramp ramp) {
  if (memory.elided()) return 0;
  std::span<const uint8_t> bytes = memory.bytes();
  Block block;
  uint64_t wrong = 0;
  for (uint64_t index = first_index; !bytes.empty(); index += kBlock) {
    make_block(block, value_at(ramp, index), ramp.step);
    const size_t size = bytes.size() < sizeof(block) ? bytes.size() : sizeof(block);
    if (std::memcmp(bytes.data(), block.data(), size) != 0) {
      const auto* expected = reinterpret_cast<const uint8_t*>(block.data());
      for (size_t at = 0; at < size; at += 4) {
        const size_t length = size - at < 4 ? size - at : 4;
        if (std::memcmp(bytes.data() + at, expected + at, length) != 0) wrong += length;
      }
    }
    bytes = bytes.subspan(size);
  }
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
