#pragma once
// What the 16 bits of a uSID mean (F3216, RFC 9800). A fabric has one layout, which its file chooses
// as `address_plan`; whatever makes or reads a uSID asks the fabric's layout.
//
//   lab   role(4) | plane(4) | index(8)     readable in hex: 1 = T1, 2 = T0, 3 = T2,
//                                           e = the host's NIC port,
//                                           f = the host's kernel (End.DT6), a = a switch's link
//   full  role(2) | plane(3) | index(11)    131,072 hosts: 01 = T0 (0-511), 10 = T1 (0-255)
//                                           or, from 1024 on, T2 (0-255),
//                                           11 = NIC port (0-255) or, from 1024 on, host's kernel,
//                                           00 = a switch's link (0-1023, from 1024 on)
//
// NIC ports, kernels and links mean something at one switch only (RFC 9800 §5: local, as uA is).
//
// A layout is a few numbers and no virtual functions: it is asked for every packet. Neither layout
// gives zero a meaning, so zero ends a carrier (RFC 9800 §4.1).

#include <array>
#include <cassert>
#include <cstdint>
#include <optional>
#include <string_view>

#include "fabric/base/ids.h"

namespace mrclab {

inline constexpr uint32_t kUsidBlock = 0x5f00'0000;  ///< 5f00:0::/32, RFC 9602 + F3216
inline constexpr uint8_t kUsidBlockBits = 32, kUsidBits = 16;
inline constexpr uint32_t kUsidsInCarrier = 6;  ///< F3216: 128 bits less the block

enum class UsidRole : uint8_t { kT1, kT0, kNicPort, kHostKernel, kAdjacency, kT2 };
enum class AddressPlan : uint8_t { kLab, kFull };

struct UsidFields {
  UsidRole role;
  uint32_t plane;
  uint32_t index;
  bool operator==(const UsidFields&) const = default;
};

class UsidLayout {
 public:
  static constexpr UsidLayout of(AddressPlan plan);

  constexpr std::string_view name() const { return name_; }
  constexpr uint32_t planes() const { return planes_; }
  /// How many indices a role has in each plane.
  constexpr uint32_t count(UsidRole role) const { return ranges_[place(role)].count; }
  /// Bits at the front of a uSID for role and plane: the prefix of all T0s, or T1s, of a plane.
  constexpr uint8_t role_and_plane_bits() const { return role_and_plane_bits_; }

  /// `plane` must be below planes(), `index` below count(role).
  constexpr Usid make(UsidRole role, uint32_t plane, uint32_t index) const {
    const Range range = ranges_[place(role)];
    assert(plane < planes_ && index < range.count);
    return {static_cast<uint16_t>((range.first + index) | plane << plane_shift_)};
  }

  /// Any 16 bits. Empty for zero and for what no role has.
  constexpr std::optional<UsidFields> parse(Usid usid) const {
    const uint32_t plane_mask = (planes_ - 1) << plane_shift_;
    const uint32_t rest = usid.value & ~plane_mask;
    for (size_t i = 0; i < ranges_.size(); ++i) {
      if (rest < ranges_[i].first || rest - ranges_[i].first >= ranges_[i].count) continue;
      return UsidFields{static_cast<UsidRole>(i), (usid.value & plane_mask) >> plane_shift_,
                        rest - ranges_[i].first};
    }
    return std::nullopt;
  }

 private:
  struct Range {
    uint32_t first;  ///< the uSID of index 0 in plane 0
    uint32_t count;
  };
  using Ranges = std::array<Range, 6>;  // by UsidRole

  constexpr UsidLayout(std::string_view name, uint32_t planes, uint32_t plane_shift,
                       uint8_t role_and_plane_bits, Ranges ranges)
      : name_(name),
        planes_(planes),
        plane_shift_(plane_shift),
        role_and_plane_bits_(role_and_plane_bits),
        ranges_(ranges) {}

  static constexpr size_t place(UsidRole role) { return static_cast<size_t>(role); }

  std::string_view name_;
  uint32_t planes_;  // a power of two: as many as the plane's bits can number
  uint32_t plane_shift_;
  uint8_t role_and_plane_bits_;
  Ranges ranges_;
};

constexpr UsidLayout UsidLayout::of(AddressPlan plan) {
  if (plan == AddressPlan::kFull) {
    return {"full",
            8,
            11,
            5,
            {{{0x8000, 256},
              {0x4000, 512},
              {0xC000, 256},
              {0xC400, 256},
              {0x0400, 1024},
              {0x8400, 256}}}};
  }
  return {
      "lab",
      16,
      8,
      8,
      {{{0x1000, 256}, {0x2000, 256}, {0xE000, 256}, {0xF000, 256}, {0xA000, 256}, {0x3000, 256}}}};
}

}  // namespace mrclab
