#pragma once
// Words of a line that blanks separate, one after the other.

#include <algorithm>
#include <string_view>

namespace mrclab {

/// The next word, which is taken from the front of `text`; empty: only blanks were left.
inline std::string_view take_word(std::string_view& text) {
  const size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const size_t end = std::min(text.find(' ', begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

}  // namespace mrclab
