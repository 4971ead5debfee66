#include "console/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "fabric/text/visible_text.h"

namespace mrclab::lab {

bool wants_colour(std::FILE* stream) {
  // mpirun gives each rank a terminal of its own, and forwards what is written there to wherever its own output goes.
  if (std::getenv("OMPI_COMM_WORLD_RANK") != nullptr) return false;
  const char* terminal = std::getenv("TERM");
  const char* no_colour = std::getenv("NO_COLOR");  // no-color.org
  return stream != nullptr && ::isatty(::fileno(stream)) == 1 && terminal != nullptr &&
         std::string_view(terminal) != "dumb" && (no_colour == nullptr || *no_colour == '\0');
}

std::string paint(std::string_view text, Colour colour, std::FILE* stream) {
  if (!wants_colour(stream)) return std::string(text);
  const char* code = "";
  switch (colour) {
    case Colour::kGreen: code = "\033[32m"; break;
    case Colour::kRed: code = "\033[31m"; break;
    case Colour::kYellow: code = "\033[33m"; break;
    case Colour::kBold: code = "\033[1m"; break;
    case Colour::kDim: code = "\033[2m"; break;
  }
  return code + std::string(text) + "\033[0m";
}

ProgressLine::ProgressLine() : active_(wants_colour(stderr)) {}

void ProgressLine::show(std::string_view text) {
  if (!active_) return;
  constexpr int kShown = kTerminalColumns - 1;  // never wraps
  std::fprintf(stderr, "\r\033[K%.*s", std::min(kShown, static_cast<int>(text.size())),
               text.data());
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (!shown_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::vector<std::string>> shown = rows;  // cells may come from files
  for (auto& row : shown) {
    for (std::string& cell : row) cell = visible(cell);
  }
  std::vector<size_t> widths;
  for (const auto& row : shown) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : shown) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace mrclab::lab
