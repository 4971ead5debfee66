#include "fabric/text/yaml_write.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

namespace mrclab {
namespace {

/// Characters of several bytes that readers may take for an end of line, or leave out: NEL, the
/// line and the paragraph separator, the byte order mark.
struct Escaped {
  std::string_view bytes;
  std::string_view escape;
};
constexpr std::array<Escaped, 4> kEscaped{{{"\xc2\x85", "\\u0085"},
                                           {"\xe2\x80\xa8", "\\L"},
                                           {"\xe2\x80\xa9", "\\P"},
                                           {"\xef\xbb\xbf", "\\uFEFF"}}};

std::string escape_of(char c) {
  if (c == '"' || c == '\\') return {'\\', c};
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  char text[8];
  std::snprintf(text, sizeof text, "\\x%02x", static_cast<uint8_t>(c));
  return text;
}

bool has_escape(char c) {
  const auto byte = static_cast<uint8_t>(c);
  return c == '"' || c == '\\' || byte < 0x20 || byte == 0x7F;
}

}  // namespace

std::string yaml_string(std::string_view text) {
  std::string result = "\"";
  for (size_t at = 0; at < text.size();) {
    const auto wide = std::find_if(kEscaped.begin(), kEscaped.end(), [&](const Escaped& each) {
      return text.substr(at).starts_with(each.bytes);
    });
    if (wide != kEscaped.end()) {
      result += wide->escape;
      at += wide->bytes.size();
      continue;
    }
    result += has_escape(text[at]) ? escape_of(text[at]) : std::string(1, text[at]);
    ++at;
  }
  return result + "\"";
}

std::string yaml_word(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  };
  const bool null = text == "null" || text == "Null" || text == "NULL";
  const bool word = !text.empty() && text[0] != '-' && !null;
  return word && std::all_of(text.begin(), text.end(), plain) ? std::string(text)
                                                              : yaml_string(text);
}

}  // namespace mrclab
