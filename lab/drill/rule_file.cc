#include "lab/drill/rule_file.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "fabric/text/input_error.h"
#include "fabric/text/input_file.h"
#include "fabric/text/visible_text.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::lab {
namespace {

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == ':';
}

/// "5m", "1h30m", "500ms" at the beginning of a text, in seconds; empty if there is none. Prometheus' units.
std::optional<double> seconds_at(std::string_view text) {
  double sum = 0;
  bool any = false;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    double number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc()) break;
    text.remove_prefix(static_cast<size_t>(read.ptr - text.data()));
    if (text.starts_with("ms")) {
      sum += number * 1e-3;
      text.remove_prefix(2);
    } else {
      constexpr double kMinute = 60, kHour = 3600, kDay = 86'400, kWeek = 7 * kDay,
                       kYear = 365 * kDay;
      constexpr std::string_view kUnits = "smhdwy";
      constexpr double kSeconds[] = {1, kMinute, kHour, kDay, kWeek, kYear};
      const size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text.front());
      if (unit == std::string_view::npos) break;
      sum += number * kSeconds[unit];
      text.remove_prefix(1);
    }
    any = true;
  }
  return any ? std::optional(sum) : std::nullopt;
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

/// The value behind "key:", if the line has that key, alone or in braces or as the first of a list.
std::optional<std::string_view> value_of(std::string_view line, std::string_view key) {
  for (size_t at = line.find(key); at != std::string_view::npos; at = line.find(key, at + 1)) {
    const bool begins =
        at == 0 || std::string_view(" \t{,-").find(line[at - 1]) != std::string_view::npos;
    const size_t behind = at + key.size();
    if (begins && behind < line.size() && line[behind] == ':') {
      return without_blanks(line.substr(behind + 1));
    }
  }
  return std::nullopt;
}

std::string word_of(std::string_view text) {
  if (!text.empty() && (text.front() == '"' || text.front() == '\'')) {
    const size_t end = text.find(text.front(), 1);
    return std::string(text.substr(1, end == std::string_view::npos ? end : end - 1));
  }
  const auto end = std::find_if(text.begin(), text.end(), [](char c) {
    return c == ',' || c == '}' || c == '#' || c == ' ' || c == '\r';
  });
  return std::string(text.begin(), end);
}

}  // namespace

RuleFile read_rule_file(const std::filesystem::path& path) {
  require_input_file(path);
  std::error_code none;
  if (std::filesystem::file_size(path, none) > kMaxRuleBytes) {
    throw InputError(path.string() + ": found more than 4 MiB, expected a file of alert rules");
  }
  const std::string text = netio::read_file(path);
  RuleFile file;
  file.path = std::filesystem::absolute(path);
  double range = 0, held = 0;
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view line = std::string_view(text).substr(from, end - from);
    from = end + 1;
    if (without_blanks(line).starts_with('#')) continue;
    if (const auto alert = value_of(line, "alert")) {
      const std::string name = word_of(*alert);
      if (!name.empty() &&
          std::find(file.alerts.begin(), file.alerts.end(), name) == file.alerts.end())
        file.alerts.push_back(name);
    }
    if (const auto wait = value_of(line, "for")) {
      held = std::max(held, seconds_at(word_of(*wait)).value_or(0));
    }
    for (size_t at = line.find('['); at != std::string_view::npos; at = line.find('[', at + 1)) {
      range = std::max(range, seconds_at(line.substr(at + 1)).value_or(0));
    }
    for (size_t at = 0; at < line.size();) {
      size_t last = at;
      while (last < line.size() && in_word(line[last])) ++last;
      if (last > at) file.words.emplace(line.substr(at, last - at));
      at = last + 1;
    }
  }
  if (file.alerts.empty()) {
    throw InputError(path.string() +
                     ": found no alert, expected rules of Prometheus with \"alert:\"");
  }
  file.memory_seconds = range + held;
  return file;
}

}  // namespace mrclab::lab
