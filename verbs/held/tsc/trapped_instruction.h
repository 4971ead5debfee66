#pragma once
// The three instructions that a thread can be made to fault at.

#include <cstdint>

namespace mrclab::held {

enum class Trapped : uint8_t { kNone, kRdtsc, kRdtscp, kCpuid };
struct TrappedInstruction {
  Trapped what;
  uint8_t length;  ///< bytes, prefixes included
};

/// What `bytes` begin with, prefixes skipped. An instruction of x86 has at most 15 bytes.
constexpr TrappedInstruction trapped_instruction(const uint8_t (&bytes)[15], unsigned known) {
  unsigned at = 0;
  const auto is_prefix = [](uint8_t byte) {
    return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e ||
           byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 || byte == 0x65 ||
           (byte & 0xf0) == 0x40;
  };
  while (at < known && is_prefix(bytes[at])) ++at;
  if (at + 2 > known || bytes[at] != 0x0f) return {Trapped::kNone, 0};
  const auto length = [](unsigned end) { return static_cast<uint8_t>(end); };
  if (bytes[at + 1] == 0x31) return {Trapped::kRdtsc, length(at + 2)};
  if (bytes[at + 1] == 0xa2) return {Trapped::kCpuid, length(at + 2)};
  if (at + 3 <= known && bytes[at + 1] == 0x01 && bytes[at + 2] == 0xf9)
    return {Trapped::kRdtscp, length(at + 3)};
  return {Trapped::kNone, 0};
}

}  // namespace mrclab::held
