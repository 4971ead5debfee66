#include "lab/cli/help_text.h"
#include "fabric/text/text_wrap.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

namespace mrclab::lab {
namespace {

bool is_example_line(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  constexpr std::array<std::string_view, 4> kStarts{"Example:", "mrclab ", "sudo mrclab ", "./"};
  return std::any_of(kStarts.begin(), kStarts.end(),
                     [line](std::string_view start) { return line.starts_with(start); });
}

/// Where a description begins: behind the two spaces or more that follow a name, else at the first word.
size_t description_column(std::string_view line, size_t width) {
  const size_t name = line.find_first_not_of(' ');
  if (name == 0) return 0;
  const size_t gap = line.find("  ", name);
  const size_t column = gap == line.npos ? name : line.find_first_not_of(' ', gap);
  return column == line.npos || column > width * 2 / 3 ? name + 2 : column;
}

}  // namespace

std::string fit_help(const std::string& text, size_t width) {
  std::string out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    out += is_example_line(line) ? line + '\n'
                                 : wrapped_text(line, width, description_column(line, width));
  }
  return out;
}

}  // namespace mrclab::lab
