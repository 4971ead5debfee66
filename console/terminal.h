#pragma once
// Colour and progress lines: only on a terminal; a pipe or a file gets plain, whole lines.

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace mrclab::lab {

inline constexpr size_t kTerminalColumns = 80;  ///< that texts are laid out for
inline constexpr size_t kTerminalRows = 24;

/// A terminal that shows colour (isatty, TERM is not dumb, NO_COLOR is not set), and that no launcher of ranks forwards.
bool wants_colour(std::FILE* stream);

enum class Colour { kGreen, kRed, kYellow, kBold, kDim };
/// The text in colour if `stream` is such a terminal, else as it is.
std::string paint(std::string_view text, Colour colour, std::FILE* stream);

/// One line on stderr that is written over. On a terminal only; otherwise silent.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(std::string_view text);
  void clear();

 private:
  bool active_;
  bool shown_ = false;
};

/// Rows of equal length as columns, two spaces apart; the first row is the heading.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace mrclab::lab
