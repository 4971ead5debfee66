#pragma once
// Patterns of names: text in which `*` is any run and `?` any one character but ':', `[8-11]` and
// `{8..11}` are numbers, `[1,4,8-11]` several of them, `h8-h11` is h[8-11], `[abc]` and `[a-c]` are letters,
// `{leaf,spine}` words, `[!0-3]` and `[!ab]` what is none of these, and `\` takes the next character as it
// is. docs/patterns.md explains them for users.
//
// A number, letter or word in brackets names a thing as if it were written out. So a pattern can name more
// than there is, which a wildcard cannot: find_named() finds what is missing.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fabric/text/pattern_piece.h"

namespace mrclab {

class NamePattern {
 public:
  static constexpr size_t kMaxBytes = 4096;  ///< of its text
  /// So many things one pattern may name beside its wildcards; our choice, above any fabric's ports.
  static constexpr uint64_t kMaxNamed = uint64_t{1} << 24;

  static std::variant<NamePattern, PatternMistake> read(std::string_view text);

  /// Which of the count() things that are named is this? Empty: none of them.
  std::optional<uint64_t> match(std::string_view name) const;
  /// The product of what stands in the brackets; 1 without any.
  uint64_t count() const { return count_; }
  std::string text() const;  ///< as it was written, but for escapes
  /// "p8.t0-*", for number 8 of "p[0-9].t0-*".
  std::string named(uint64_t which) const;
  /// The pattern of what its `[!...]` exclude; empty if it has none.
  std::optional<NamePattern> excluded() const;

 private:
  explicit NamePattern(std::vector<PatternPiece> pieces);

  std::vector<PatternPiece> pieces_;
  uint64_t count_ = 1;
  bool any_run_ = false;  ///< it has a `*`
};

/// What a pattern names among things that have names.
struct NamesFound {
  std::vector<uint32_t> places;             ///< of the things, ascending
  std::optional<PatternMistake> malformed;  ///< the text is no pattern
  std::string
      missing;  ///< the first that it names and that is not there, if missing_count is not 0
  uint64_t missing_count = 0, named_count = 0;
  std::vector<std::string> there;  ///< the first few that are
};

/// All names of the thing at a place.
using NamesAt = std::function<void(uint32_t place, std::vector<std::string>& names)>;
/// Text that is the name of a thing means that thing alone, also where it could be read as a pattern.
/// Where names have two ends with `joint` between them ("h3:p2--p2.t0-1:d3"), each end is looked at for itself:
/// what a pattern with the joint names there has to be there, but not each with each.
NamesFound find_named(std::string_view pattern, uint32_t things, const NamesAt& names_at,
                      std::string_view joint = "");
NamesFound find_named(std::string_view pattern, const std::vector<std::string>& names);

/// The sentence for what find_named() found wrong, empty if nothing is. `kind` is a word such as "host",
/// `expected` what would be right where the pattern matches nothing at all.
std::optional<PatternMistake> mistake_in(const NamesFound& found, std::string_view pattern,
                                         std::string_view kind, const std::string& expected);

/// Does the whole of `name` match? False for text that is no pattern.
bool matches_pattern(std::string_view pattern, std::string_view name);

std::string_view without_blanks(std::string_view text);
/// The parts between commas that stand in no brackets, without the blanks around them.
std::vector<std::string_view> split_names(std::string_view list);

}  // namespace mrclab
