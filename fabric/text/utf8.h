#pragma once
// One character of UTF-8 text, by Boost.Locale's decoder: RFC 3629, so no longer form than needed, no
// surrogates, nothing above U+10FFFF.

#include <boost/locale/utf.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mrclab {

struct Utf8Character {
  uint32_t code = 0;
  size_t bytes = 0;  ///< 0: no UTF-8 starts here
};

/// The character that begins a text, which is not empty.
inline Utf8Character first_character(std::string_view text) {
  namespace utf = boost::locale::utf;
  const char* at = text.data();
  const utf::code_point code = utf::utf_traits<char>::decode(at, text.data() + text.size());
  if (!utf::is_valid_codepoint(code)) return {};
  return {code, static_cast<size_t>(at - text.data())};
}

}  // namespace mrclab
