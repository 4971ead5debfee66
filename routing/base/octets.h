#pragma once
// Reading and writing octets in network byte order. A reader never leaves its bounds: a read beyond the end
// gives zeros and is remembered.

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "fabric/base/byte_order.h"

namespace mrclab::routing {

using Octets = std::vector<uint8_t>;
using OctetView = std::span<const uint8_t>;

class OctetReader {
 public:
  explicit OctetReader(OctetView octets) : left_(octets) {}

  template <std::unsigned_integral T>
  T take() {
    if (left_.size() < sizeof(T)) return fail(), T{0};
    const T value = load_be<T>(left_.data());
    left_ = left_.subspan(sizeof(T));
    return value;
  }
  uint8_t u8() { return take<uint8_t>(); }
  uint16_t u16() { return take<uint16_t>(); }
  uint32_t u32() { return take<uint32_t>(); }

  /// The next `count` octets, or none and a failure where there are fewer.
  OctetView bytes(size_t count) {
    if (left_.size() < count) return fail(), OctetView{};
    const OctetView taken = left_.first(count);
    left_ = left_.subspan(count);
    return taken;
  }
  template <size_t N>
  std::array<uint8_t, N> array() {
    std::array<uint8_t, N> value{};
    const OctetView taken = bytes(N);
    if (!taken.empty()) std::memcpy(value.data(), taken.data(), N);
    return value;
  }
  OctetView rest() const { return left_; }
  bool empty() const { return left_.empty(); }
  /// Was anything read that was not there?
  bool failed() const { return failed_; }
  /// All was read and nothing beyond.
  bool done() const { return left_.empty() && !failed_; }

 private:
  void fail() {
    failed_ = true;
    left_ = {};
  }
  OctetView left_;
  bool failed_ = false;
};

/// Appends to a vector.
class OctetWriter {
 public:
  explicit OctetWriter(Octets& to) : to_(to) {}

  template <std::unsigned_integral T>
  OctetWriter& put(T value) {
    const size_t at = to_.size();
    to_.resize(at + sizeof(T));
    store_be<T>(to_.data() + at, value);
    return *this;
  }
  OctetWriter& u8(unsigned value) { return put(static_cast<uint8_t>(value)); }
  OctetWriter& u16(unsigned value) { return put(static_cast<uint16_t>(value)); }
  OctetWriter& u32(uint32_t value) { return put(value); }
  OctetWriter& bytes(OctetView octets) {
    to_.insert(to_.end(), octets.begin(), octets.end());
    return *this;
  }

  size_t size() const { return to_.size(); }
  /// Writes `value` over two octets that stand at `at`.
  void patch_u16(size_t at, size_t value) {
    store_be(to_.data() + at, static_cast<uint16_t>(value));
  }
  /// Writes the length of all behind the octet, or the two octets, at `at`.
  void close_u8(size_t at) { to_[at] = static_cast<uint8_t>(to_.size() - at - 1); }
  void close_u16(size_t at) { patch_u16(at, to_.size() - at - 2); }

 private:
  Octets& to_;
};

}  // namespace mrclab::routing
