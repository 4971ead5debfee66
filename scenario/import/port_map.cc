#include "scenario/import/port_map.h"

#include <charconv>

#include "netio/system/file_descriptor.h"
#include "scenario/import/csv_line.h"

namespace mrclab::lab {
namespace {

constexpr int64_t kMaxNumber = 1'000'000'000;

/// What each * stands for, the shortest run first; empty if the text does not match.
std::optional<std::vector<std::string>> match(std::string_view pattern, std::string_view text) {
  std::vector<std::string> runs;
  size_t p = 0, t = 0;
  size_t star = std::string_view::npos, run = 0;  // the last *, and where its run begins
  while (t < text.size() || p < pattern.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      if (star != std::string_view::npos)
        runs.emplace_back(text.substr(run, t - run - (p - star - 1)));
      star = p++;
      run = t;
    } else if (p < pattern.size() && t < text.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else {
      if (star == std::string_view::npos) return std::nullopt;
      const size_t taken = t - (p - star - 1);  // where its run ends so far
      if (taken >= text.size() || text[taken] == ' ') return std::nullopt;
      t = taken + 1;
      p = star + 1;
    }
  }
  if (star != std::string_view::npos) runs.emplace_back(text.substr(run, t - run - (p - star - 1)));
  return runs;
}

/// "{2-1/4}" without its braces, for what the stars stand for. Empty if it cannot be computed.
std::optional<std::string> value_of(std::string_view braces, const std::vector<std::string>& runs) {
  size_t which = 0;
  const char* at = braces.data();
  const char* const end = at + braces.size();
  const auto read = std::from_chars(at, end, which);
  if (read.ec != std::errc() || which < 1 || which > runs.size()) return std::nullopt;
  const std::string& run = runs[which - 1];
  at = read.ptr;
  if (at == end) return run;
  int64_t value = 0;
  const auto number = std::from_chars(run.data(), run.data() + run.size(), value);
  if (number.ec != std::errc() || number.ptr != run.data() + run.size()) return std::nullopt;
  while (at != end) {
    const char operation = *at++;
    int64_t operand = 0;
    const auto next = std::from_chars(at, end, operand);
    if (next.ec != std::errc() || operand < 0 || operand > kMaxNumber) return std::nullopt;
    if (value < 0 || value > kMaxNumber) return std::nullopt;
    at = next.ptr;
    switch (operation) {
      case '+': value += operand; break;
      case '-': value -= operand; break;
      case '*': value *= operand; break;
      case '/':
        if (operand == 0) return std::nullopt;
        value /= operand;
        break;
      default: return std::nullopt;
    }
  }
  if (value < 0) return std::nullopt;
  return std::to_string(value);
}

/// The name with its braces filled in. Empty if one of them cannot be.
std::optional<std::string> filled(std::string_view name, const std::vector<std::string>& runs) {
  std::string result;
  while (true) {
    const size_t open = name.find('{');
    result += name.substr(0, open);
    if (open == std::string_view::npos) return result;
    const size_t close = name.find('}', open);
    if (close == std::string_view::npos) return std::nullopt;
    const auto value = value_of(name.substr(open + 1, close - open - 1), runs);
    if (!value) return std::nullopt;
    result += *value;
    name.remove_prefix(close + 1);
  }
}

/// Blanks between words count as one.
std::string one_blank(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t';
    if (!blank) result += c;
    if (blank && !result.empty() && result.back() != ' ') result += ' ';
  }
  if (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

}  // namespace

void PortMap::add(const std::string& logged, Entry entry) {
  const std::string key = one_blank(logged);
  if (key.empty()) entry.refuse("no port", "a port as the log has it");
  if (exact_.size() + patterns_.size() >= kMaxMapEntries) {
    entry.refuse("more entries", "at most " + std::to_string(kMaxMapEntries));
  }
  if (key.find('*') == std::string::npos) {
    port_of(entry, entry.name);
    if (!exact_.emplace(key, entry).second) {
      entry.refuse(in_quotes(key) + " again", "one entry for each port");
    }
    return;
  }
  if (patterns_.size() >= kMaxMapPatterns) {
    entry.refuse("more patterns", "at most " + std::to_string(kMaxMapPatterns));
  }
  patterns_.emplace_back(key, std::move(entry));
}

PortRef PortMap::port_of(const Entry& entry, const std::string& name) const {
  const auto port = topology_->find_port(name);
  if (!port) {
    entry.refuse(in_quotes(name) + ", which names no port",
                 "a port of " + topology_->name + " such as \"p0.t0-0:d2\" or \"h0:p0\"");
  }
  return port.value_or(PortRef{});
}

std::optional<PortRef> PortMap::find(const std::string& logged) const {
  const std::string key = one_blank(logged);
  if (const auto found = exact_.find(key); found != exact_.end()) {
    return port_of(found->second, found->second.name);
  }
  for (const auto& [pattern, entry] : patterns_) {
    const auto runs = match(pattern, key);
    if (!runs) continue;
    const auto name = filled(entry.name, *runs);
    if (!name) {
      entry.refuse(in_quotes(entry.name) + " for " + in_quotes(key),
                   "braces such as {1}, {2-1} or {2/4} with the number of a *, and a number where "
                   "it stands");
    }
    return port_of(entry, *name);
  }
  return std::nullopt;
}

PortMap PortMap::parse_yaml(const YamlValue& map, const Topology& topology) {
  PortMap result(topology);
  if (!map.is_map())
    map.fail_expecting("a map of ports, such as \"leaf-07 Ethernet1/3: p0.t0-0:d2\"");
  for (const auto& [logged, name] : map.members()) {
    const Entry entry{name.as_string(),
                      [name = name](const std::string& found, const std::string& expected) {
                        name.fail(found, expected);
                      }};
    result.add(logged, entry);
  }
  return result;
}

PortMap PortMap::parse_csv(std::string_view text, const std::string& file,
                           const Topology& topology) {
  PortMap result(topology);
  for_each_line(text, file, [&](std::string_view line, size_t number) {
    const std::vector<std::string> fields = split_csv(line);
    const Entry entry{fields.back(),
                      [file, number](const std::string& found, const std::string& expected) {
                        refuse_line(file, number, found, expected);
                      }};
    if (fields.size() != 2 && fields.size() != 3) {
      entry.refuse(std::to_string(fields.size()) + " fields",
                   "device, port and name, or port and name");
    }
    const bool heading =
        result.exact_.empty() && result.patterns_.empty() && fields.back() == "name";
    if (heading) return;
    result.add(fields.size() == 2 ? fields[0] : fields[0] + " " + fields[1], entry);
  });
  return result;
}

PortMap PortMap::read(const std::filesystem::path& path, const Topology& topology) {
  if (path.extension() != ".csv") return parse_yaml(read_yaml_file(path), topology);
  return parse_csv(read_input(path, size_t{1} << 20), path.string(), topology);
}

}  // namespace mrclab::lab
