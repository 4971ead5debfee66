#pragma once
// Paragraphs below a headline.

#include <algorithm>
#include <string>

#include "console/terminal.h"

namespace mrclab::lab {

/// One paragraph in 80 columns: two spaces in, its further lines four.
inline std::string indented_lines(const std::string& text) {
  std::string out;
  size_t column = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const size_t length = end - begin;
    if (column == 0) {
      out += "  ";
      column = 2;
    } else if (column + 1 + length > kTerminalColumns) {
      out += "\n    ";
      column = 4;
    } else {
      out += ' ';
      ++column;
    }
    out.append(text, begin, length);
    column += length;
    begin = end + 1;
  }
  return out + "\n";
}

}  // namespace mrclab::lab
