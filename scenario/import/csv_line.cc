#include "scenario/import/csv_line.h"

#include <algorithm>

#include "fabric/text/yaml.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t from = text.find_first_not_of(kBlanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlanks) - from + 1);
}

}  // namespace

void refuse_line(const std::string& file, size_t line, const std::string& found,
                 const std::string& expected) {
  throw InputError(file + ":" + std::to_string(line) + ": found " + found + ": expected " +
                   expected);
}

std::string read_input(const std::filesystem::path& path, size_t limit) {
  try {
    return netio::read_file(path, limit);
  } catch (const netio::SystemError& error) {
    throw InputError(path.string() + ": found no readable file of at most " +
                     std::to_string(limit >> 20) + " MiB: " + error.what());
  }
}

void for_each_log_line(std::string_view text, const std::string& file,
                       const std::function<bool(std::string_view line, size_t number)>& each) {
  size_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    const bool two = text.substr(end, 2) == "\r\n";
    text.remove_prefix(std::min(end + (two ? 2 : 1), text.size()));
    if (++number > kMaxLogLines) {
      refuse_line(file, number, "more lines", "at most " + std::to_string(kMaxLogLines));
    }
    if (!line.empty() && line.front() != '#' && !each(line, number)) return;
  }
}

void for_each_line(std::string_view text, const std::string& file,
                   const std::function<void(std::string_view line, size_t number)>& each) {
  for_each_log_line(text, file, [&](std::string_view line, size_t number) {
    if (line.size() > kMaxLogLineBytes) {
      refuse_line(file, number, std::to_string(line.size()) + " characters in one line",
                  "at most " + std::to_string(kMaxLogLineBytes));
    }
    each(line, number);
    return true;
  });
}

std::vector<std::string> split_csv(std::string_view line, char separator) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == separator && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  for (std::string& field : fields) field = trimmed(field);
  return fields;
}

}  // namespace mrclab::lab
