#include "fabric/paths/path_pattern.h"

#include <algorithm>
#include <charconv>

#include "fabric/paths/path_list.h"

namespace mrclab {
namespace {

constexpr std::string_view kExpectedPath =
    "a path of the fabric such as p0/u1, p0/-, p*/u0 or p0/*";

/// "0x0001c002" as an entropy value; empty if the text is no such number.
std::optional<EntropyValue> parse_number(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return EntropyValue{value};
}

/// One entropy value that a hash chooses by, "p0/e17" or a number; no patterns, there are thousands.
std::optional<Path> hashed_path(std::string_view text) {
  const auto number = parse_number(text);
  const std::optional<Path> path = number ? path_of(*number) : parse_path(text);
  return path && !path->named() ? path : std::nullopt;
}

NamesFound find_paths(std::string_view text, const std::vector<Path>& all) {
  return find_named(
      text, static_cast<uint32_t>(all.size()),
      [&](uint32_t place, std::vector<std::string>& names) { names = {to_string(all[place])}; });
}

}  // namespace

std::optional<PatternMistake> mistake_in_paths(std::string_view pattern, const Topology& topology) {
  return mistake_in(find_paths(pattern, all_paths(topology)), pattern, "path",
                    std::string(kExpectedPath));
}

std::vector<Path> read_paths(const YamlValue& value, const Topology& topology) {
  const std::vector<Path> all = all_paths(topology);
  std::vector<bool> taken(all.size(), false);
  std::vector<Path> others;  // that a hash chooses
  const std::vector<YamlValue> items =
      value.is_list() ? value.items() : std::vector<YamlValue>{value};
  for (const YamlValue& item : items) {
    const std::string list = item.is_scalar() ? item.as_string() : "";
    for (const std::string_view text : split_names(list)) {
      if (const auto path = hashed_path(text); path && has_path(topology, *path)) {
        others.push_back(*path);
        continue;
      }
      if (const auto number = parse_number(text)) {
        const auto path =
            std::find_if(all.begin(), all.end(), [&](Path any) { return ev_of(any) == *number; });
        if (path == all.end()) item.fail_expecting(std::string(kExpectedPath));
        taken[static_cast<size_t>(path - all.begin())] = true;
        continue;
      }
      const NamesFound found = find_paths(text, all);
      if (const auto mistake = mistake_in(found, text, "path", std::string(kExpectedPath))) {
        item.fail(mistake->found, mistake->expected);
      }
      for (const uint32_t place : found.places) taken[place] = true;
    }
  }
  std::vector<Path> paths;
  for (size_t i = 0; i < all.size(); ++i) {
    if (taken[i]) paths.push_back(all[i]);
  }
  for (const Path path : others) {
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
  }
  if (paths.empty()) value.fail("an empty list", std::string(kExpectedPath));
  return paths;
}

}  // namespace mrclab
