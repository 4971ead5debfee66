#pragma once
// Identifiers of BGP speakers: AS numbers and router ids.

#include <compare>
#include <cstdint>
#include <string>

namespace mrclab::routing {

/// An autonomous system, four octets (RFC 6793). 0 is no AS (RFC 7607).
struct AsNumber {
  uint32_t value = 0;
  constexpr auto operator<=>(const AsNumber&) const = default;
  constexpr bool fits_two_octets() const { return value <= 0xFFFF; }
  /// What stands where only two octets fit.
  constexpr uint16_t two_octets() const;
};

/// Stands for a number that does not fit two octets (RFC 6793 section 9).
inline constexpr AsNumber kAsTrans{23456};

constexpr uint16_t AsNumber::two_octets() const {
  return static_cast<uint16_t>(fits_two_octets() ? value : kAsTrans.value);
}

/// A BGP identifier: 32 bits, written as four octets; 0 is invalid (RFC 6286).
struct RouterId {
  uint32_t value = 0;
  constexpr auto operator<=>(const RouterId&) const = default;
};

std::string to_string(AsNumber as);
std::string to_string(RouterId id);  ///< "10.0.0.1"

}  // namespace mrclab::routing
