#pragma once
// Everything of a thread that is not memory: general registers, flags, and x87, SSE, AVX and the other parts of the
// processor's extended state, as the frame of a signal holds them.

#include <ucontext.h>

#include <compare>
#include <cstdint>

namespace mrclab::held {

/// Where CPUID says that each part of the extended state stands in the frame. Asked once, not in a handler.
struct ExtendedLayout {
  struct Part {
    uint32_t offset, bytes;  ///< 0 bytes: there is none
  };
  Part parts[64];
};
ExtendedLayout ask_extended_layout();

class MachineState {
 public:
  /// False: a part that is in use has no room (tiles of AMX), or the frame is not of a known form.
  bool take(const ucontext_t& context, const ExtendedLayout& layout);

  /// Everything but the extended state, in the order in which states are compared.
  struct Key {
    uint64_t rip, general[17];  ///< the last: flags
    bool operator==(const Key&) const = default;
    auto operator<=>(const Key&) const = default;
  };
  Key key() const;
  /// Whether the extended state is less, byte by byte.
  bool extended_less(const MachineState& other) const;
  bool operator==(const MachineState& other) const;

 private:
  static constexpr uint32_t kExtendedBytes = 4096;

  uint64_t general_[18];  // 16 registers, rip, flags
  uint64_t digest_;       // of extended_
  uint32_t used_;         // bytes of extended_ behind which all are 0
  alignas(64) uint8_t extended_[kExtendedBytes];
};

}  // namespace mrclab::held
