#include "fabric/text/text_wrap.h"

#include <algorithm>

namespace mrclab {
namespace {

/// A continuation byte of UTF-8 takes no column.
bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Does a unit stand behind this space? "us" begins other words, too.
bool is_before_unit(std::string_view text, size_t space) {
  if (text.substr(space, 2) == " %") return true;
  return text.substr(space, 3) == " us" &&
         (text.size() == space + 3 || text[space + 3] < 'a' || text[space + 3] > 'z');
}

/// Where the word at `at` ends. A number and its unit are one word.
size_t end_of_word(std::string_view text, size_t at) {
  size_t space = text.find(' ', at);
  while (space != std::string_view::npos && is_before_unit(text, space)) {
    space = text.find(' ', space + 1);
  }
  return std::min(space, text.size());
}

}  // namespace

size_t columns(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

std::string cut_to(std::string text, size_t width) {
  if (columns(text) <= width) return text;
  while (!text.empty() && columns(text) + 2 > width) {
    while (!text.empty() && continues_character(text.back())) text.pop_back();
    if (!text.empty()) text.pop_back();
  }
  return text + "..";
}

std::vector<std::string> wrapped_lines(std::string_view text, size_t width, size_t indent,
                                       LongWords long_words) {
  std::vector<std::string> lines;
  size_t at = std::min(text.find_first_not_of(' '), text.size());
  std::string line(text.substr(0, at));
  bool has_word = false;
  while (at < text.size()) {
    const size_t space = end_of_word(text, at);
    std::string word(text.substr(at, space - at));
    if (long_words == LongWords::kCut) word = cut_to(word, width - std::min(indent, width));
    if (has_word && columns(line) + 1 + columns(word) > width) {
      lines.push_back(std::move(line));
      line.assign(indent, ' ');
      has_word = false;
    }
    line += (has_word ? " " : "") + word;
    has_word = true;
    at = space + 1;
  }
  if (has_word) lines.push_back(std::move(line));
  return lines;
}

std::string wrapped_text(std::string_view text, size_t width, size_t indent) {
  std::string result;
  for (const std::string& line : wrapped_lines(text, width, indent, LongWords::kKeep)) {
    result += line + "\n";
  }
  return result.empty() ? "\n" : result;
}

}  // namespace mrclab
