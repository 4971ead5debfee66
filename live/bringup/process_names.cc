#include "live/bringup/process_names.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace mrclab::lab {
namespace {

/// Takes a number off the front of `text`.
std::optional<uint32_t> take_number(std::string_view& text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

}  // namespace

std::string name_of_planes(uint32_t first, uint32_t last) {
  return first == last ? fmt::format("plane-{}", first) : fmt::format("planes-{}-{}", first, last);
}

bool runs_plane(std::string_view name, uint32_t plane) {
  constexpr std::string_view kSeveral = "planes-";
  if (!name.starts_with(kSeveral)) return name == name_of_planes(plane, plane);
  std::string_view rest = name.substr(kSeveral.size());
  const std::optional<uint32_t> first = take_number(rest);
  if (!first || !rest.starts_with('-')) return false;
  rest.remove_prefix(1);
  const std::optional<uint32_t> last = take_number(rest);
  return last && rest.empty() && *first <= plane && plane <= *last;
}

}  // namespace mrclab::lab
