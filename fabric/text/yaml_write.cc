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

bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

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
  // What a reader of YAML 1.1 or 1.2 takes for no text: no value, a truth value, and whatever begins like a number
  // or a date.
  constexpr std::array<std::string_view, 10> kNoText{"null", "true", "false", "yes", "no",
                                                     "on",   "off",  "y",     "n",   "nan"};
  const auto is_plain = [](char c) {
    return is_ascii_letter(c) || (c >= '0' && c <= '9') || c == '-';
  };
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const bool plain = !text.empty() && is_ascii_letter(text[0]) &&
                     std::all_of(text.begin(), text.end(), is_plain) &&
                     std::find(kNoText.begin(), kNoText.end(), small) == kNoText.end();
  return plain ? std::string(text) : yaml_string(text);
}

}  // namespace mrclab
