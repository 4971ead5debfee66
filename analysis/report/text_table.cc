#include "analysis/report/text_table.h"

#include <algorithm>
#include <cstdio>

namespace mrclab::analysis {

std::string capitals(Result result) {
  switch (result) {
    case Result::kPass: return "PASS";
    case Result::kFail: return "FAIL";
    case Result::kInconclusive: return "INCONCLUSIVE";
    case Result::kNoChecks: return "NO CHECKS";
  }
  return "";
}

std::string counted_noun(size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

size_t columns(std::string_view text) {
  // Continuation bytes of UTF-8 take no column.
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string cut_to(std::string text, size_t width) {
  if (columns(text) <= width) return text;
  while (!text.empty() && columns(text) + 2 > width) {
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) {
      text.pop_back();
    }
    if (!text.empty()) text.pop_back();
  }
  return text + "..";
}

namespace {

std::string padded(const std::string& text, size_t width, bool right) {
  const size_t used = columns(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return right ? space + text : text + space;
}

/// Does a unit stand behind this space? "us" begins other words, too.
bool is_before_unit(const std::string& text, size_t space) {
  if (text.compare(space, 2, " %") == 0) return true;
  return text.compare(space, 3, " us") == 0 &&
         (text.size() == space + 3 || text[space + 3] < 'a' || text[space + 3] > 'z');
}

/// Where the word at `at` ends. A number and its unit are one word: "99.97 %".
size_t end_of_word(const std::string& text, size_t at) {
  size_t space = text.find(' ', at);
  while (space != std::string::npos && is_before_unit(text, space)) {
    space = text.find(' ', space + 1);
  }
  return std::min(space, text.size());
}

}  // namespace

std::vector<std::string> wrapped(const std::string& text, size_t width) {
  std::vector<std::string> lines;
  std::string line;
  for (size_t at = 0; at < text.size();) {
    const size_t space = end_of_word(text, at);
    const std::string word = cut_to(text.substr(at, space - at), width);
    if (!line.empty() && columns(line) + 1 + columns(word) > width) {
      lines.push_back(line);
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    at = space + 1;
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::string plain_number(const std::optional<double>& value) {
  if (!value) return "-";
  char text[48];
  const bool whole = *value == static_cast<double>(static_cast<int64_t>(*value));
  std::snprintf(text, sizeof text, whole ? "%.0f" : "%.2f", *value);
  return text;
}

TextTable::TextTable(TableOptions options) : options_(options) {
  options_.width = std::max<size_t>(options_.width, 60);
}

void TextTable::line(const std::string& text) {
  if (columns(text) <= options_.width) {
    out_ += text + "\n";
    return;
  }
  const size_t gap = text.find("  ");
  size_t begin = gap == std::string::npos ? 0 : text.find_first_not_of(' ', gap);
  if (begin > options_.width / 2) begin = 0;
  std::string before = text.substr(0, begin);
  for (const std::string& part : wrapped(text.substr(begin), options_.width - begin)) {
    out_ += before + part + "\n";
    before.assign(begin, ' ');
  }
}

void TextTable::rule() { out_ += std::string(options_.width, '-') + "\n"; }

void TextTable::indented(const std::string& text, size_t indent) {
  for (const std::string& part : wrapped(text, options_.width - indent)) {
    out_ += std::string(indent, ' ') + part + "\n";
  }
}

void TextTable::marked(const std::string& word, Result result, const std::string& text) {
  const size_t indent = columns(word) + 2;
  const std::vector<std::string> lines = wrapped(text, options_.width - indent);
  for (size_t i = 0; i < lines.size(); ++i) {
    out_ += (i == 0 ? coloured(word, result) + "  " : std::string(indent, ' ')) + lines[i] + "\n";
  }
}

void TextTable::row(const Row& cells, const std::vector<size_t>& widths,
                    const std::vector<bool>& right) {
  std::string text;
  for (size_t i = 0; i < cells.size(); ++i) {
    text += (i == 0 ? "" : "  ") + padded(cut_to(cells[i], widths[i]), widths[i], right[i]);
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  out_ += text + "\n";
}

std::vector<size_t> TextTable::fit(const std::vector<Row>& rows) const {
  std::vector<size_t> widths(rows.front().size(), 0);
  for (const Row& cells : rows) {
    for (size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], columns(cells[i]));
  }
  size_t total = 2 * (widths.size() - 1);
  for (const size_t w : widths) total += w;
  if (total > options_.width) {
    const size_t over = total - options_.width;
    widths[0] = widths[0] > over + 8 ? widths[0] - over : 8;
  }
  return widths;
}

std::string TextTable::coloured(const std::string& text, Result result) const {
  if (!options_.colour) return text;
  const char* code = result == Result::kPass ? "32" : result == Result::kFail ? "31" : "33";
  return std::string("\x1b[1;") + code + "m" + text + "\x1b[0m";
}

}  // namespace mrclab::analysis
