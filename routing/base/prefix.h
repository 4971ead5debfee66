#pragma once
// An IPv6 prefix, and the order in which tables hold them: a prefix stands right before all that it covers.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fabric/topology/topology.h"

namespace mrclab::routing {

class Prefix {
 public:
  static constexpr uint8_t kMaxLength = 128;

  constexpr Prefix() = default;
  /// Bits of `address` behind `length` are cleared. `length` is at most 128.
  Prefix(const Ipv6Address& address, uint8_t length);
  static Prefix host(const Ipv6Address& address) { return {address, kMaxLength}; }
  /// "2001:db8::/32" or a single address; nullopt for anything else.
  static std::optional<Prefix> parse(std::string_view text);

  const Ipv6Address& address() const { return address_; }
  uint8_t length() const { return length_; }
  /// Octets that hold `length()` bits: as many as stand on the wire.
  size_t octets() const { return (length_ + 7u) / 8; }

  bool covers(const Ipv6Address& address) const;
  bool covers(const Prefix& other) const {
    return other.length_ >= length_ && covers(other.address_);
  }
  /// This one cut to `length` bits, which are no more than it has.
  Prefix cut(uint8_t length) const { return {address_, length}; }

  auto operator<=>(const Prefix&) const = default;

 private:
  Ipv6Address address_{};
  uint8_t length_ = 0;
};

std::string to_string(const Prefix& prefix);
/// RFC 4291 text; nullopt for anything else.
std::optional<Ipv6Address> parse_address(std::string_view text);

}  // namespace mrclab::routing
