// The verdict as a table for the terminal.

#include <algorithm>
#include <cstdio>

#include "analysis/blame_text.h"
#include "analysis/verdict.h"

namespace mrclab::analysis {
namespace {

using Row = std::vector<std::string>;

/// Columns of a terminal, for text in UTF-8: continuation bytes take none.
size_t columns(std::string_view text) {
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

std::string padded(const std::string& text, size_t width, bool right) {
  const size_t used = columns(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return right ? space + text : text + space;
}

/// Lines of at most `width` columns, broken between words.
std::vector<std::string> wrapped(const std::string& text, size_t width) {
  std::vector<std::string> lines;
  std::string line;
  for (size_t at = 0; at < text.size();) {
    const size_t space = std::min(text.find(' ', at), text.size());
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

std::string rate(double bps) {
  constexpr const char* kUnits[] = {"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"};
  size_t unit = 0;
  for (; bps >= 1000 && unit + 1 < std::size(kUnits); ++unit) bps /= 1000;
  char text[48];
  std::snprintf(text, sizeof text, "%.2f %s", bps, kUnits[unit]);
  return text;
}

/// A duration behind a fault's start; `zero` says what none at all means.
std::string after(const std::optional<FabricTime>& t, const char* zero) {
  if (!t) return "-";
  return *t == FabricTime::zero() ? zero : "+" + to_string(*t);
}

std::string optional_time(const std::optional<FabricTime>& t) { return t ? to_string(*t) : "-"; }

class Table {
 public:
  explicit Table(TableOptions options) : options_(options) {
    options_.width = std::max<size_t>(options_.width, 60);
  }

  void line(const std::string& text = {}) { out_ += cut_to(text, options_.width) + "\n"; }
  void rule() { out_ += std::string(options_.width, '-') + "\n"; }

  /// Text at the left, the result in capitals at the right edge.
  void headline(const std::string& left, Result result) {
    const std::string word = capitals(result);
    const size_t room = options_.width - word.size() - 1;
    out_ += padded(cut_to(left, room), room, false) + " " + coloured(word, result) + "\n";
  }

  void indented(const std::string& text, size_t indent) {
    for (const std::string& part : wrapped(text, options_.width - indent)) {
      out_ += std::string(indent, ' ') + part + "\n";
    }
  }

  /// A row of cells; the first takes what room is left. `right` says which are right-aligned;
  /// `result` colours the cell `result_cell`.
  void row(const Row& cells, const std::vector<size_t>& widths, const std::vector<bool>& right,
           size_t result_cell = SIZE_MAX, Result result = Result::kPass) {
    std::string text;
    for (size_t i = 0; i < cells.size(); ++i) {
      std::string cell = padded(cut_to(cells[i], widths[i]), widths[i], right[i]);
      if (i == result_cell) cell = coloured(cell, result);
      text += (i == 0 ? "" : "  ") + cell;
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    out_ += text + "\n";
  }

  /// Widths of the longest cells; the first column gives way so that the row fits.
  std::vector<size_t> fit(const std::vector<Row>& rows) const {
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

  std::string take() { return std::move(out_); }

 private:
  static std::string capitals(Result result) {
    switch (result) {
      case Result::kPass: return "PASS";
      case Result::kFail: return "FAIL";
      case Result::kInconclusive: return "INCONCLUSIVE";
      case Result::kNoChecks: return "NO CHECKS";
    }
    return "";
  }

  std::string coloured(const std::string& text, Result result) const {
    if (!options_.colour) return text;
    const char* code = result == Result::kPass ? "32" : result == Result::kFail ? "31" : "33";
    return std::string("\x1b[1;") + code + "m" + text + "\x1b[0m";
  }

  TableOptions options_;
  std::string out_;
};

void checks_part(const Verdict& verdict, Table& table) {
  if (verdict.checks.empty()) {
    table.line(std::string(kNothingChecked));
    table.rule();
    return;
  }
  std::vector<Row> rows{{"check", "result", "measured", "bound", "unit"}};
  for (const CheckResult& check : verdict.checks) {
    rows.push_back({check.name, std::string(name_of(check.result)), plain_number(check.measured),
                    plain_number(check.bound), check.unit});
  }
  std::vector<bool> right{false, false, true, true, false};
  if (published_any(verdict)) {
    right.insert(right.end() - 1, true);
    rows[0].insert(rows[0].end() - 1, "published");
    for (size_t i = 0; i < verdict.checks.size(); ++i) {
      const auto& published = verdict.checks[i].published;
      rows[i + 1].insert(rows[i + 1].end() - 1, published ? shown(*published) : "");
    }
  }
  const std::vector<size_t> widths = table.fit(rows);
  table.row(rows[0], widths, right);
  for (size_t i = 0; i < verdict.checks.size(); ++i) {
    const CheckResult& check = verdict.checks[i];
    table.row(rows[i + 1], widths, right, 1, check.result);
    if (!check.note.empty()) table.indented(check.note, 4);
    if (check.where && check.result == Result::kFail) {
      table.indented("where: " + to_string(*check.where), 4);
    }
    if (check.published) table.indented("published: " + check.published->figure, 4);
  }
  table.rule();
}

void faults_part(const Verdict& verdict, Table& table) {
  if (verdict.faults.empty()) return;
  std::vector<Row> rows{{"fault", "at", "detected", "recovered", "healed"}};
  for (const FaultResult& fault : verdict.faults) {
    rows.push_back({fault.fault, to_string(fault.at), after(fault.detected, "at once"),
                    after(fault.recovered, "no dip"),
                    fault.healed ? optional_time(fault.healed_at) : "no"});
  }
  const std::vector<size_t> widths = table.fit(rows);
  const std::vector<bool> right{false, true, true, true, true};
  table.row(rows[0], widths, right);
  for (size_t i = 0; i < verdict.faults.size(); ++i) {
    const std::vector<std::string> name = wrapped(rows[i + 1][0], widths[0]);
    if (!name.empty()) rows[i + 1][0] = name[0];
    table.row(rows[i + 1], widths, right);
    for (size_t line = 1; line < name.size(); ++line) table.line("  " + name[line]);
    if (!verdict.faults[i].note.empty()) table.indented(verdict.faults[i].note, 4);
  }
  table.rule();
}

/// What the packets say was broken. More than a few are in verdict.json.
void blame_part(const Verdict& verdict, Table& table) {
  constexpr size_t kBlamesShown = 8;
  if (verdict.blame.empty()) return;
  table.line("blame, by the packets alone");
  for (size_t i = 0; i < std::min(verdict.blame.size(), kBlamesShown); ++i) {
    const Blame& blame = verdict.blame[i];
    table.indented(headline(blame), 2);
    table.indented(blame.evidence, 4);
    std::string others;
    for (const std::string& other : blame.or_else) others += (others.empty() ? "" : ", ") + other;
    if (!others.empty()) table.indented("or " + others, 4);
  }
  const size_t more = verdict.blame.size() - std::min(verdict.blame.size(), kBlamesShown);
  if (more > 0) table.indented("and " + std::to_string(more) + " more in verdict.json", 2);
  table.rule();
}

void timing_part(const Verdict& verdict, Table& table) {
  const TimingReport& t = verdict.timing;
  if (t.mode == TimingMode::kWall) {
    table.line(t.sound() ? "timing     wall clock: honest, but not exact"
                         : "timing     wall clock, DISTURBED: there is nothing to be judged");
  } else {
    table.line(
        std::string("timing     ") + (t.faithful ? "FAITHFUL" : "NOT FAITHFUL") + ", late frames " +
        std::to_string(t.late_frames) + ", gaps " + std::to_string(t.gaps) +
        // A simulation has no lab clock, so neither slack nor dilation.
        (t.dilation_max > 0 ? ", slack at least " + to_string(FabricTime::from_ns(t.min_slack_ns))
                            : ""));
  }
  for (const std::string& reason : t.reasons) table.indented(reason, 11);
  char text[96];
  std::snprintf(text, sizeof text, "dilation   min %.0f, mean %.0f, max %.0f", t.dilation_min,
                t.dilation_mean, t.dilation_max);
  if (t.dilation_max > 0) table.line(text);
}

/// What it cost that libpcap looked on as well.
void taps_part(const Verdict& verdict, Table& table) {
  if (!verdict.taps) return;
  const TapCost& taps = *verdict.taps;
  const auto number = [](const char* format, double value) {
    char text[48];
    std::snprintf(text, sizeof text, format, value);
    return std::string(text);
  };
  table.line("taps       " + std::to_string(taps.packets) + " packets of " +
             std::to_string(taps.interfaces) + " interfaces, " +
             number("%.1f MB", static_cast<double>(taps.bytes) * 1e-6) +
             (taps.missing > 0 ? ", " + std::to_string(taps.missing) + " missing" : ""));
  table.line("           cost " + number("%.2f s", taps.cpu_seconds) + " of CPU" +
             (taps.packets > 0 ? number(", %.1f us a packet",
                                        1e6 * taps.cpu_seconds / static_cast<double>(taps.packets))
                               : "") +
             number(", and %.2f s to open them", taps.open_seconds));
}

}  // namespace

std::string to_table(const Verdict& verdict, TableOptions options) {
  Table table(options);
  table.headline(verdict.scenario + "  (" + verdict.world + ", seed " +
                     std::to_string(verdict.seed) + circumstances(verdict) + ")",
                 verdict.result);
  table.rule();
  checks_part(verdict, table);
  faults_part(verdict, table);
  blame_part(verdict, table);
  const Metrics& m = verdict.metrics;
  if (m.data_packets == 0) {  // zeros would look as if nothing had been delivered
    table.line("packets    no data packet was captured, so there is no goodput to tell");
  } else {
    table.line("goodput    " + rate(m.goodput_bps) +
               (m.baseline_bps ? ", baseline " + rate(*m.baseline_bps) : ""));
    table.line("packets    " + std::to_string(m.delivered) + " of " +
               std::to_string(m.data_packets) + " delivered, " + std::to_string(m.lost) +
               " lost, " + std::to_string(m.trimmed) + " trimmed, " +
               std::to_string(m.retransmitted) + " sent again");
  }
  timing_part(verdict, table);
  taps_part(verdict, table);
  if (!m.history_sha256.empty()) table.line("history    " + m.history_sha256);
  for (const std::string& note : verdict.notes) table.indented("note: " + note, 0);
  return table.take();
}

}  // namespace mrclab::analysis
