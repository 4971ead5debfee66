#pragma once
// Words of a line that blanks separate, one after the other, and those that are whole numbers.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace mrclab {

/// The next word, which is taken from the front of `text`; empty: only blanks were left.
inline std::string_view take_word(std::string_view& text) {
  const size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const size_t end = std::min(text.find(' ', begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

/// Digits alone, from 0 to what 64 bits hold; empty for anything else: signs, blanks, no digit at all.
inline std::optional<uint64_t> whole_number(std::string_view word) {
  uint64_t value = 0;
  const char* const last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, value);
  if (word.empty() || error != std::errc() || end != last) return std::nullopt;
  return value;
}

}  // namespace mrclab
