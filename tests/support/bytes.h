#pragma once
// Bytes as people write them: "ca00ffff 00000123 | 0007".

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mrclab::test {

/// Hex digits; everything else is ignored.
inline std::vector<uint8_t> from_hex(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (std::string_view("0123456789abcdefABCDEF").find(c) != std::string_view::npos) digits += c;
  }
  if (digits.size() % 2 != 0) throw std::invalid_argument("odd number of hex digits");
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < digits.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoul(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

inline std::string to_hex(std::span<const uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 0xF];
  }
  return text;
}

}  // namespace mrclab::test
