#include "fabric/plain_text.h"

#include <cstdint>
#include <cstdio>

namespace mrclab {
namespace {

constexpr uint32_t kNoCharacter = UINT32_MAX;
constexpr uint32_t kLargest = 0x10'FFFF;
constexpr uint32_t kSurrogates = 0xD800, kSurrogatesEnd = 0xE000;

struct Character {
  uint32_t code = kNoCharacter;
  size_t bytes = 1;
};

/// The character that begins at `at`; kNoCharacter of one byte if that is no UTF-8 (RFC 3629).
Character character_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(at);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || at + bytes > text.size()) return {};
  uint32_t code = lead & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(at + i) & 0x3Fu);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x1'0000);
  const bool surrogate = code >= kSurrogates && code < kSurrogatesEnd;
  if (overlong || surrogate || code > kLargest) return {};
  return {code, bytes};
}

/// C0 but for tabs and ends of lines, DEL, C1.
bool is_control(uint32_t code) {
  if (code == '\n' || code == '\t') return false;
  return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

}  // namespace

std::optional<OddText> find_odd_text(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    if (character.code != kNoCharacter && !is_control(character.code)) {
      at += character.bytes;
      continue;
    }
    char found[64];
    if (character.code == kNoCharacter) {
      std::snprintf(found, sizeof found, "the byte \"\\x%02x\", which is no UTF-8",
                    static_cast<uint8_t>(text[at]));
    } else {
      std::snprintf(found, sizeof found, "the control character \"\\x%02x\"", character.code);
    }
    return OddText{at, found};
  }
  return std::nullopt;
}

}  // namespace mrclab
