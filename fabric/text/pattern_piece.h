#pragma once
// What a pattern of names consists of, as it is read (pattern_read.cc) and matched (name_pattern.cc).

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mrclab {

/// Why text is no pattern: what was found, and what would be right.
struct PatternMistake {
  std::string found;
  std::string expected;
};

/// Numbers in brackets, "8-11" or "08-11".
struct NumberRange {
  uint64_t first = 0, last = 0;
  size_t width = 0;  ///< of numbers with leading zeros; 0: they have none

  uint64_t count() const { return last - first + 1; }
  std::string text(uint64_t place) const;
  /// Have all of them as many digits?
  bool is_even() const { return text(0).size() == text(count() - 1).size(); }
};

enum class PieceKind : uint8_t {
  kText,
  kAnyOne,  ///< `?`
  kAnyRun,  ///< `*`
  kOneOf,   ///< `[8-11]`, `{leaf,spine}`, `h8-h11` behind its letter
  kNoneOf   ///< `[!0-3]`: another number; `[!ab]`: another character
};

struct PatternPiece {
  PieceKind kind = PieceKind::kText;
  std::string text;  ///< as it was written; of kText: what stands for itself
  std::vector<NumberRange> numbers = {};
  std::vector<std::string> words = {};

  /// How many things stand in the brackets: the numbers, then the words.
  uint64_t count() const;
  std::string alternative(uint64_t place) const;
};

constexpr bool is_decimal(char c) { return c >= '0' && c <= '9'; }

/// The parts of a pattern, with a mistake in place of them if it is none.
std::variant<std::vector<PatternPiece>, PatternMistake> read_pattern(std::string_view text);

}  // namespace mrclab
