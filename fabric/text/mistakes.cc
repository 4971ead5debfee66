#include "fabric/text/mistakes.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>

#include "fabric/text/counted_noun.h"

namespace mrclab {
namespace {

struct MistakePlace {
  std::string_view file;
  int line = 0, column = 0;
};

/// Takes "12:" off the end of `text`.
bool take_line_number(std::string_view& text, int& out) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (error != std::errc{} || end != digits.data() + digits.size()) return false;
  text.remove_suffix(text.size() - colon);
  return true;
}

/// Of "file:12:3: found ...". What has no place keeps the one where it was found.
bool mistake_place(std::string_view line, MistakePlace& out) {
  std::string_view text = line.substr(0, std::min(line.find(": found "), line.size()));
  if (text.size() == line.size()) return false;
  if (!take_line_number(text, out.column) || !take_line_number(text, out.line)) return false;
  out.file = text;
  return true;
}

bool stands_before(const std::string& a, const std::string& b) {
  MistakePlace of_a, of_b;
  if (!mistake_place(a, of_a) || !mistake_place(b, of_b) || of_a.file != of_b.file) return false;
  return std::pair(of_a.line, of_a.column) < std::pair(of_b.line, of_b.column);
}

}  // namespace

void Mistakes::add(const InputError& error) {
  for (std::string& line : mistakes_in(error)) {
    if (std::find(lines_.begin(), lines_.end(), line) != lines_.end()) continue;
    // By insertion: what has no place, or is of another file, is comparable with nothing.
    size_t at = lines_.size();
    while (at > 0 && stands_before(line, lines_[at - 1])) --at;
    lines_.insert(lines_.begin() + static_cast<ptrdiff_t>(at), std::move(line));
  }
}

void Mistakes::report() const {
  if (lines_.empty()) return;
  std::string text;
  for (size_t i = 0; i < lines_.size() && i < kMost; ++i) text += (i ? "\n" : "") + lines_[i];
  if (lines_.size() > kMost) {
    text += "\nand " + counted_noun(lines_.size() - kMost, "mistake") + " more";
  }
  throw InputError(text);
}

std::vector<std::string> mistakes_in(const InputError& error) {
  std::vector<std::string> lines;
  std::istringstream text(error.what());
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

}  // namespace mrclab
