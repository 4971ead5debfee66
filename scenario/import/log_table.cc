#include "scenario/import/log_table.h"

#include <algorithm>
#include <string>
#include <vector>

#include "fabric/text/yaml.h"
#include "scenario/import/csv_line.h"

namespace mrclab::lab {
namespace {

constexpr std::string_view kSeparators = ",;\t|";

/// The separator that gives the most fields.
char separator_of(std::string_view line) {
  return *std::max_element(kSeparators.begin(), kSeparators.end(), [&](char a, char b) {
    return split_csv(line, a).size() < split_csv(line, b).size();
  });
}

size_t index(LogColumn column) { return static_cast<size_t>(column); }

}  // namespace

bool begins_table(std::string_view line) {
  const std::vector<std::string> fields = split_csv(line, separator_of(line));
  if (fields.size() < 3) return false;
  const auto is_state = [](const std::string& field) { return read_state(field).has_value(); };
  if (read_time_column(fields.front())) {
    return std::any_of(fields.begin() + 1, fields.end(), is_state);
  }
  const auto named = [](const std::string& field) { return column_named(field).has_value(); };
  return std::count_if(fields.begin(), fields.end(), named) >= 3;
}

std::optional<UnreadReason> LogTable::begin(std::string_view line) {
  separator_ = separator_of(line);
  const std::vector<std::string> fields = split_csv(line, separator_);
  place_.fill(kNone);
  if (read_time_column(fields.front())) {
    const bool device = fields.size() > 3 && read_state(fields[3]) && !read_state(fields[2]);
    size_t next = 0;
    for (const LogColumn column : {LogColumn::kTime, LogColumn::kDevice, LogColumn::kPort,
                                   LogColumn::kEvent, LogColumn::kRate}) {
      if (column != LogColumn::kDevice || device) place_[index(column)] = next++;
    }
    return std::nullopt;
  }
  heading_ = true;
  std::array<size_t, kLogColumns> ranks{};
  ranks.fill(kNone);
  for (size_t i = 0; i < fields.size(); ++i) {
    const auto named = column_named(fields[i]);
    if (!named || named->rank >= ranks[index(named->column)]) continue;
    ranks[index(named->column)] = named->rank;
    place_[index(named->column)] = i;
  }
  const auto has = [&](LogColumn column) { return place_[index(column)] != kNone; };
  const bool whole = (has(LogColumn::kTime) && has(LogColumn::kPort) && has(LogColumn::kEvent)) ||
                     has(LogColumn::kMessage);
  if (whole) return std::nullopt;
  return UnreadReason{
      "found " + in_quotes(fields.front()) +
      ": expected a time, or a first line with the columns' names: time, device, port, "
      "event, rate"};
}

ColumnResult LogTable::read(std::string_view line) const {
  const std::vector<std::string> fields = split_csv(line, separator_);
  return read_columns([&](LogColumn column) {
    const size_t at = place_[index(column)];
    return at < fields.size() ? fields[at] : std::string();
  });
}

}  // namespace mrclab::lab
