#include "routing/base/prefix.h"

#include <array>
#include <cassert>
#include <charconv>

#include "fabric/topology/path.h"

namespace mrclab::routing {

namespace {

constexpr size_t kGroups = 8;  // of 16 bits

/// Hexadecimal groups between colons, appended to `groups`; false if they are none or too many.
bool read_groups(std::string_view text, std::array<uint16_t, kGroups>& groups, size_t& count) {
  if (text.empty()) return true;
  for (;;) {
    const size_t colon = text.find(':');
    const std::string_view group = text.substr(0, colon);
    if (group.empty() || group.size() > 4 || count == kGroups) return false;
    uint16_t value = 0;
    const auto end = group.data() + group.size();
    const auto result = std::from_chars(group.data(), end, value, 16);
    if (result.ec != std::errc{} || result.ptr != end) return false;
    groups[count++] = value;
    if (colon == std::string_view::npos) return true;
    text.remove_prefix(colon + 1);
  }
}

}  // namespace

Prefix::Prefix(const Ipv6Address& address, uint8_t length) : address_(address), length_(length) {
  assert(length <= kMaxLength);
  const size_t whole = length / 8u;
  if (whole < address_.size()) {
    address_[whole] &= static_cast<uint8_t>(0xFF00u >> length % 8u);
    for (size_t i = whole + 1; i < address_.size(); ++i) address_[i] = 0;
  }
}

bool Prefix::covers(const Ipv6Address& address) const {
  const size_t whole = length_ / 8u;
  for (size_t i = 0; i < whole; ++i) {
    if (address[i] != address_[i]) return false;
  }
  const auto mask = static_cast<uint8_t>(0xFF00u >> length_ % 8u);
  return whole == address_.size() || (address[whole] & mask) == address_[whole];
}

std::optional<Prefix> Prefix::parse(std::string_view text) {
  const size_t slash = text.find('/');
  const auto address = parse_address(text.substr(0, slash));
  if (!address) return std::nullopt;
  if (slash == std::string_view::npos) return host(*address);
  const std::string_view digits = text.substr(slash + 1);
  uint8_t length = 0;
  const auto end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, length);
  if (result.ec != std::errc{} || result.ptr != end || length > kMaxLength) return std::nullopt;
  return Prefix(*address, length);
}

std::string to_string(const Prefix& prefix) {
  return mrclab::to_string(prefix.address()) + "/" + std::to_string(prefix.length());
}

std::optional<Ipv6Address> parse_address(std::string_view text) {
  std::array<uint16_t, kGroups> front{}, back{};
  size_t before = 0, behind = 0;
  const size_t gap = text.find("::");
  if (!read_groups(text.substr(0, gap), front, before)) return std::nullopt;
  if (gap == std::string_view::npos) {
    if (before != kGroups) return std::nullopt;
  } else {
    if (!read_groups(text.substr(gap + 2), back, behind)) return std::nullopt;
    if (before + behind >= kGroups) return std::nullopt;
    for (size_t i = 0; i < behind; ++i) front[kGroups - behind + i] = back[i];
  }
  Ipv6Address address{};
  for (size_t i = 0; i < kGroups; ++i) {
    address[2 * i] = static_cast<uint8_t>(front[i] >> 8);
    address[2 * i + 1] = static_cast<uint8_t>(front[i]);
  }
  return address;
}

}  // namespace mrclab::routing
