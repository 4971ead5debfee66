#pragma once
// Identifiers of things in a topology: dense indices that cannot be mixed up.

#include <compare>
#include <cstdint>
#include <functional>

namespace mrclab {

template <class Tag>
struct StrongId {
  static constexpr uint32_t kInvalid = 0xFFFF'FFFF;
  uint32_t value = kInvalid;
  constexpr bool valid() const { return value != kInvalid; }
  constexpr auto operator<=>(const StrongId&) const = default;
};

using NodeId = StrongId<struct NodeTag>;  ///< index into Topology::nodes()
using PortId = StrongId<struct PortTag>;  ///< index into a node's ports
using LinkId = StrongId<struct LinkTag>;  ///< index into Topology::links()
using WireId =
    StrongId<struct WireTag>;  ///< index into Topology::all_wires(); one direction of a link
using OpticId = StrongId<struct OpticTag>;  ///< index into Topology::optics()

/// One end of a link.
struct PortRef {
  NodeId node;
  PortId port;
  constexpr auto operator<=>(const PortRef&) const = default;
};

/// MRC packet sequence number: 24 bits, serial arithmetic with a half window of 2^23
/// (MRC specification tables 7-4 and 7-5).
class Psn {
 public:
  static constexpr uint32_t kMask = 0xFF'FFFF;
  constexpr Psn() = default;
  constexpr explicit Psn(uint32_t value) : value_(value & kMask) {}
  constexpr uint32_t value() const { return value_; }
  constexpr Psn operator+(int32_t n) const { return Psn{value_ + static_cast<uint32_t>(n)}; }
  constexpr Psn next() const { return *this + 1; }
  /// Signed distance from `other` to this, in [-2^23, 2^23).
  constexpr int32_t operator-(Psn other) const {
    const uint32_t d = (value_ - other.value_) & kMask;
    return d < 0x80'0000 ? static_cast<int32_t>(d) : static_cast<int32_t>(d) - 0x100'0000;
  }
  constexpr bool operator==(const Psn&) const = default;
  constexpr bool before(Psn other) const { return *this - other < 0; }

 private:
  uint32_t value_ = 0;
};

/// Queue pair number, 24 bits.
struct Qpn {
  uint32_t value = 0;
  constexpr auto operator<=>(const Qpn&) const = default;
};

/// 32-bit entropy value: names one path. See fabric/topology/ev_path.h for its bits.
struct EntropyValue {
  uint32_t value = 0;
  constexpr auto operator<=>(const EntropyValue&) const = default;
};

/// 16-bit micro segment identifier (RFC 9800, F3216). Zero ends a carrier.
struct Usid {
  uint16_t value = 0;
  constexpr auto operator<=>(const Usid&) const = default;
};

}  // namespace mrclab

template <class Tag>
struct std::hash<mrclab::StrongId<Tag>> {
  size_t operator()(mrclab::StrongId<Tag> id) const noexcept { return id.value; }
};
