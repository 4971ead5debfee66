#include "fabric/text/visible_text.h"

#include <algorithm>
#include <cstdint>

#include "fabric/text/utf8.h"

namespace mrclab {
namespace {

bool has_shape(uint32_t code) {
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return false;
  const bool direction = code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
                         (code >= 0x2066 && code <= 0x2069);
  return !direction && code != 0x2028 && code != 0x2029 && code != 0xFEFF;
}

std::string escaped(std::string_view bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    text += "\\x";
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

std::string made_visible(std::string_view text, bool keep_lines) {
  const auto plain = [](char c) { return c >= ' ' && c < '\x7f'; };
  if (std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  std::string result;
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    const std::string_view bytes = text.substr(0, std::max<size_t>(character.bytes, 1));
    text.remove_prefix(bytes.size());
    if (character.code == '\n') {
      result += keep_lines ? "\n" : "\\n";
    } else if (character.code == '\t' && keep_lines) {
      result += '\t';
    } else if (character.bytes > 0 && has_shape(character.code)) {
      result += bytes;
    } else {
      result += escaped(bytes);
    }
  }
  return result;
}

}  // namespace

std::string visible(std::string_view text) { return made_visible(text, false); }

std::string visible_lines(std::string_view text) { return made_visible(text, true); }

}  // namespace mrclab
