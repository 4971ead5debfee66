#include "fabric/path_pattern.h"

#include <algorithm>
#include <charconv>

#include "fabric/path_list.h"
#include "fabric/pattern.h"

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

}  // namespace

std::vector<Path> read_paths(const YamlValue& value, const Topology& topology) {
  const std::vector<Path> all = all_paths(topology);
  std::vector<bool> taken(all.size(), false);
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
    if (!found) item.fail_expecting(std::string(kExpected));
  }
  std::vector<Path> paths;
  for (size_t i = 0; i < all.size(); ++i) {
    if (taken[i]) paths.push_back(all[i]);
  }
  if (paths.empty()) value.fail("an empty list", std::string(kExpected));
  return paths;
}

}  // namespace mrclab
