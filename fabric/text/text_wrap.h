#pragma once
// Text for terminals: the columns that it takes, and its lines broken between words.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mrclab {

/// The columns of a terminal that text in UTF-8 takes.
size_t columns(std::string_view text);
/// The text, or its beginning and ".." if it is wider than `width` columns.
std::string cut_to(std::string text, size_t width);

/// What becomes of a word that is wider than a line.
enum class LongWords : uint8_t { kCut, kKeep };
/// Lines of at most `width` columns, broken at spaces; all but the first begin with `indent` spaces. A number
/// and the unit behind it stay together ("99.97 %", "12 us"), and so do the spaces that `text` begins with.
std::vector<std::string> wrapped_lines(std::string_view text, size_t width, size_t indent = 0,
                                       LongWords long_words = LongWords::kCut);
/// The same as one text, with a newline at the end of each line. Long words are kept whole.
std::string wrapped_text(std::string_view text, size_t width, size_t indent);

}  // namespace mrclab
