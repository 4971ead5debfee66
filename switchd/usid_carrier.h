#pragma once
// A uSID carrier as two numbers, since every hop reads and shifts it: an IPv6 destination of the block's 32 bits and six
// uSIDs of 16 (F3216 of RFC 9800 §4), of which the first is the active one and the others are its argument.

#include <cstddef>
#include <cstdint>

#include "fabric/base/byte_order.h"
#include "fabric/topology/path.h"

namespace mrclab::switchd {

class UsidCarrier {
 public:
  static constexpr size_t kUsids = 6;  ///< 128 bits less the 32 of the block

  /// The address ::, which is not in the block.
  UsidCarrier() = default;
  /// From the 16 bytes of an address.
  explicit UsidCarrier(const uint8_t* address)
      : high_(load_be<uint64_t>(address)), low_(load_be<uint64_t>(address + 8)) {}
  void write_to(uint8_t* address) const {
    store_be(address, high_);
    store_be(address + 8, low_);
  }

  /// False for any other IPv6 address.
  bool in_block() const { return high_ >> 32 == kUsidBlock; }
  uint16_t active() const { return static_cast<uint16_t>(high_ >> 16); }
  uint16_t next() const { return static_cast<uint16_t>(high_); }
  bool argument_empty() const { return next() == 0 && low_ == 0; }
  /// RFC 9800 §4.1.1: the argument moves over the active uSID, zeros follow.
  void shift() {
    high_ = (high_ & kBlockBits) | (high_ & 0xFFFF) << 16 | low_ >> 48;
    low_ <<= 16;
  }

 private:
  static constexpr uint64_t kBlockBits = 0xFFFF'FFFF'0000'0000;
  uint64_t high_ = 0, low_ = 0;  // the first eight bytes and the others
};

}  // namespace mrclab::switchd
