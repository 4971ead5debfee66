#include "fabric/probes/probe_report.h"

#include <algorithm>
#include <charconv>

namespace mrclab {
namespace {

std::optional<uint64_t> number_in(std::string_view text, uint64_t most = UINT64_MAX) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number <= most ? std::optional(number) : std::nullopt;
}

/// The words of `text` between these separators.
std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

using Names = std::vector<std::string>;
struct NamesRow {
  std::string_view word;
  Names ProbeReport::*member;
};
constexpr NamesRow kNames[] = {{"lost", &ProbeReport::lost},
                               {"damaged", &ProbeReport::damaged},
                               {"slow", &ProbeReport::slow},
                               {"unsent", &ProbeReport::unsent}};
struct NumberedRow {
  std::string_view word;
  ProbeReport::Numbered ProbeReport::*member;
};
constexpr NumberedRow kNumbered[] = {
    {"late", &ProbeReport::late}, {"dark", &ProbeReport::dark}, {"lit", &ProbeReport::lit}};
struct CountRow {
  std::string_view word;
  uint32_t ProbeReport::*member;
};
constexpr CountRow kCounts[] = {{"sent", &ProbeReport::sent},
                                {"marked", &ProbeReport::marked},
                                {"again", &ProbeReport::again},
                                {"forged", &ProbeReport::forged}};

bool read_part(std::string_view part, ProbeReport& report) {
  const size_t space = part.find(' ');
  if (space == std::string_view::npos) return false;
  const std::string_view word = part.substr(0, space), rest = part.substr(space + 1);
  for (const CountRow& row : kCounts) {
    if (row.word != word) continue;
    const auto number = number_in(rest, UINT32_MAX);
    if (number) report.*row.member = static_cast<uint32_t>(*number);
    return number.has_value();
  }
  for (const NamesRow& row : kNames) {
    if (row.word != word) continue;
    for (const std::string_view name : split(rest, " ")) (report.*row.member).emplace_back(name);
    return true;
  }
  for (const NumberedRow& row : kNumbered) {
    if (row.word != word) continue;
    for (const std::string_view name : split(rest, " ")) {
      const size_t colon = name.find(':');
      const auto number = number_in(name.substr(0, colon));
      if (colon == std::string_view::npos || !number) return false;
      (report.*row.member).emplace_back(*number, name.substr(colon + 1));
    }
    return true;
  }
  return false;
}

}  // namespace

std::string to_text(const ProbeReport& report) {
  std::string text = "period " + std::to_string(report.period);
  for (const CountRow& row : kCounts) {
    const uint32_t count = report.*row.member;
    if (count == 0 && row.word != "sent") continue;
    text += ", " + std::string(row.word) + " " + std::to_string(count);
  }
  for (const NamesRow& row : kNames) {
    const Names& names = report.*row.member;
    if (names.empty()) continue;
    text += ", " + std::string(row.word);
    for (const std::string& name : names) text += " " + name;
  }
  for (const NumberedRow& row : kNumbered) {
    if ((report.*row.member).empty()) continue;
    text += ", " + std::string(row.word);
    for (const auto& [number, name] : report.*row.member) {
      text += " " + std::to_string(number) + ":" + name;
    }
  }
  return text;
}

std::optional<ProbeReport> parse_probe_report(std::string_view text) {
  constexpr std::string_view kPeriod = "period ";
  const std::vector<std::string_view> parts = split(text, ", ");
  if (!parts.front().starts_with(kPeriod)) return std::nullopt;
  const auto period = number_in(parts.front().substr(kPeriod.size()));
  if (!period) return std::nullopt;
  ProbeReport report;
  report.period = *period;
  const bool read = std::all_of(parts.begin() + 1, parts.end(),
                                [&](std::string_view part) { return read_part(part, report); });
  return read ? std::optional(std::move(report)) : std::nullopt;
}

}  // namespace mrclab
