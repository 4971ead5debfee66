#pragma once
// Strings that have broken readers and writers before, and random mixtures of them.

#include <array>
#include <random>
#include <string>
#include <string_view>

namespace mrclab::test {

/// Plain text (fabric/text/plain_text.h), though YAML, JSON and HTML may treat it otherwise.
inline constexpr std::array<std::string_view, 46> kPlainPieces{
    "a",      "Z",      "0",      " ",          "  ",    "\n",    "\n\n",   "\t",
    "\"",     "'",      "\\",     "\\n",        "\\x07", "#",     " #",     ":",
    ": ",     "- ",     "? ",     "[",          "]",     "{",     "}",      ",",
    "&a",     "*a",     "!",      "!!str",      "|",     ">-",    "%",      "@",
    "`",      "~",      "null",   "---",        "...",   "<b>&",  "\u00e9", "\u00a0",
    "\u2028", "\u2029", "\ufeff", "\U0001F600", "0x1p3", "\uffff"};
/// Control characters, also of two bytes, and bytes that are no UTF-8.
inline constexpr std::array<std::string_view, 14> kOddPieces{std::string_view("\0", 1),
                                                             "\x01",
                                                             "\x04",
                                                             "\x07",
                                                             "\x1b[31m",
                                                             "\x7f",
                                                             "\xc2\x85",
                                                             "\xff",
                                                             "\xc3",
                                                             "\xc0\x80",
                                                             "\xed\xa0\x80",
                                                             "\x80",
                                                             "\xf4\x90\x80\x80",
                                                             "\xe2\x82"};

/// Up to eight pieces.
template <size_t kCount>
std::string mixture(std::mt19937_64& random, const std::array<std::string_view, kCount>& pieces) {
  std::string text;
  for (uint64_t left = random() % 9; left > 0; --left) text += pieces[random() % kCount];
  return text;
}

}  // namespace mrclab::test
