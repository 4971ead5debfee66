#include "analysis/report/text_table.h"

#include <algorithm>
#include <cstdio>

#include "fabric/text/text_wrap.h"

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

namespace {

std::string padded(const std::string& text, size_t width, bool right) {
  const size_t used = columns(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return right ? space + text : text + space;
}

}  // namespace

std::string plain_number(const std::optional<double>& value) {
  if (!value) return "-";
  char text[48];
  const bool whole = *value == static_cast<double>(static_cast<int64_t>(*value));
  std::snprintf(text, sizeof text, whole ? "%.0f" : "%.2f", *value);
  return text;
}

std::string rate_text(double bps) {
  constexpr const char* kUnits[] = {"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"};
  size_t unit = 0;
  for (; bps >= 1000 && unit + 1 < std::size(kUnits); ++unit) bps /= 1000;
  char text[48];
  std::snprintf(text, sizeof text, "%.2f %s", bps, kUnits[unit]);
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
  for (const std::string& part :
       wrapped_lines(text.substr(begin), options_.width - begin, 0, LongWords::kKeep)) {
    out_ += before + part + "\n";
    before.assign(begin, ' ');
  }
}

void TextTable::rule() { out_ += std::string(options_.width, '-') + "\n"; }

void TextTable::indented(const std::string& text, size_t indent) {
  for (const std::string& part : wrapped_lines(text, options_.width - indent)) {
    out_ += std::string(indent, ' ') + part + "\n";
  }
}

void TextTable::marked(const std::string& word, Result result, const std::string& text) {
  const size_t indent = columns(word) + 2;
  const std::vector<std::string> lines = wrapped_lines(text, options_.width - indent);
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
