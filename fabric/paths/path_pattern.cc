#include "fabric/paths/path_pattern.h"

#include <algorithm>
#include <charconv>

#include "fabric/paths/path_list.h"
#include "fabric/topology/pattern.h"

namespace mrclab {
namespace {

constexpr std::string_view kExpected = "a path of the fabric such as p0/u1, p0/-, p*/u0 or p0/*";

/// "0x0001c002" as an entropy value; empty if the text is no such number.
std::optional<EntropyValue> parse_number(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return EntropyValue{value};
}

bool names(std::string_view text, Path path) {
  if (const auto number = parse_number(text)) return *number == ev_of(path);
  return matches_pattern(text, to_string(path));
}

/// One entropy value that a hash chooses by, "p0/e17" or a number; no patterns, there are thousands.
std::optional<Path> hashed(std::string_view text) {
  const auto number = parse_number(text);
  const std::optional<Path> path = number ? path_of(*number) : parse_path(text);
  return path && !path->named() ? path : std::nullopt;
}

}  // namespace

std::vector<Path> read_paths(const YamlValue& value, const Topology& topology) {
  const std::vector<Path> all = all_paths(topology);
  std::vector<bool> taken(all.size(), false);
  std::vector<Path> others;  // that a hash chooses
  const std::vector<YamlValue> items =
      value.is_list() ? value.items() : std::vector<YamlValue>{value};
  for (const YamlValue& item : items) {
    const std::string text = item.is_scalar() ? item.as_string() : "";
    bool found = false;
    for (size_t i = 0; i < all.size(); ++i) {
      if (!names(text, all[i])) continue;
      taken[i] = true;
      found = true;
    }
    if (const auto path = hashed(text); path && has_path(topology, *path)) {
      others.push_back(*path);
      found = true;
    }
    if (!found) item.fail_expecting(std::string(kExpected));
  }
  std::vector<Path> paths;
  for (size_t i = 0; i < all.size(); ++i) {
    if (taken[i]) paths.push_back(all[i]);
  }
  for (const Path path : others) {
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
  }
  if (paths.empty()) value.fail("an empty list", std::string(kExpected));
  return paths;
}

}  // namespace mrclab
