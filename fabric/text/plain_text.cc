#include "fabric/text/plain_text.h"

#include <cstdint>
#include <cstdio>

#include "fabric/text/utf8.h"

namespace mrclab {
namespace {

/// Is it of C0 (except tabs and ends of lines), DEL or C1?
bool is_control(uint32_t code) {
  if (code == '\n' || code == '\t') return false;
  return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

}  // namespace

std::optional<OddText> find_odd_text(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const Utf8Character character = first_character(text.substr(at));
    if (character.bytes > 0 && !is_control(character.code)) {
      at += character.bytes;
      continue;
    }
    char found[64];
    if (character.bytes == 0) {
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
