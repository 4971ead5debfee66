#include "telemetry/open_metrics.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace mrclab::telemetry {
namespace {

/// Backslash, quote and line feed are escaped, in labels; in help texts, which have no quotes around them, the first and
/// the last.
std::string escaped(std::string_view text, bool quoted) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || (quoted && c == '"')) out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

/// A unit that the name ends in has to be declared, and only such a unit may be.
std::string_view unit_of(std::string_view family) {
  constexpr std::array<std::string_view, 4> kUnits{"bytes", "seconds", "packets", "frames"};
  for (const std::string_view unit : kUnits) {
    if (family.ends_with(unit) && family.size() > unit.size() &&
        family[family.size() - unit.size() - 1] == '_') {
      return unit;
    }
  }
  return {};
}

/// Whole numbers stay whole, which %g would round; others have the digits that a double is sure of.
std::string number(double value) {
  constexpr double kWholeUpTo = 9007199254740992;  // 2^53
  if (value == std::floor(value) && std::abs(value) < kWholeUpTo) {
    return fmt::format("{}", static_cast<int64_t>(value));
  }
  return fmt::format("{:.15g}", value);
}

}  // namespace

OpenMetricsText::Family& OpenMetricsText::family_of(std::string_view name, std::string_view type,
                                                    std::string_view help) {
  const auto found = index_.find(name);
  if (found != index_.end()) return families_[found->second];
  index_.emplace(name, families_.size());
  Family& family = families_.emplace_back();
  family.head = fmt::format("# TYPE {} {}\n", name, type);
  if (const std::string_view unit = unit_of(name); !unit.empty()) {
    family.head += fmt::format("# UNIT {} {}\n", name, unit);
  }
  if (!help.empty()) family.head += fmt::format("# HELP {} {}\n", name, escaped(help, false));
  return family;
}

void OpenMetricsText::add(std::string_view family, MetricKind kind, std::string_view help,
                          const std::vector<MetricLabel>& labels, std::string_view extra,
                          double value, std::optional<int64_t> at_seconds) {
  const bool counter = kind == MetricKind::kCounter;
  std::string& out = family_of(family, counter ? "counter" : "gauge", help).samples;
  out += family;
  if (counter) out += "_total";
  if (!labels.empty() || !extra.empty()) {
    out += '{';
    bool first = true;
    for (const MetricLabel& label : labels) {
      if (!first) out += ',';
      first = false;
      out += fmt::format("{}=\"{}\"", label.name, escaped(label.value, true));
    }
    if (!first && !extra.empty()) out += ',';
    out += extra;
    out += '}';
  }
  out += ' ';
  out += number(value);
  if (at_seconds) out += fmt::format(" {}", *at_seconds);
  out += '\n';
}

void OpenMetricsText::add_info(std::string_view family, std::string_view help,
                               const std::vector<MetricLabel>& labels) {
  std::string& out = family_of(family, "info", help).samples;
  std::string set;
  for (const MetricLabel& label : labels) {
    if (!set.empty()) set += ',';
    set += fmt::format("{}=\"{}\"", label.name, escaped(label.value, true));
  }
  out += fmt::format("{}_info{{{}}} 1\n", family, set);
}

std::string OpenMetricsText::text() const {
  std::string text;
  for (const Family& family : families_) text += family.head + family.samples;
  return text + "# EOF\n";
}

}  // namespace mrclab::telemetry
