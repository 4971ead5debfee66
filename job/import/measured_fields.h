#pragma once
// Fields of what profilers write, whose producers differ: numbers that are text, lists that are text.

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fabric/text/json_text.h"
#include "fabric/text/words.h"
#include "job/graph/op_graph.h"

namespace mrclab::job {

/// The member, or null.
inline const nlohmann::json& member(const nlohmann::json& object, const char* key) {
  static const nlohmann::json null;
  if (!object.is_object()) return null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

/// A whole number from 0, written as number or as text; empty for anything else.
inline std::optional<uint64_t> count_in(const nlohmann::json& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  if (!value.is_string()) return std::nullopt;
  return whole_number(value.get_ref<const std::string&>());
}

/// Microseconds, with fractions, as nanoseconds; empty for what is no number, or further away than 2^61 ns (2043 as a
/// time stamp), so that sums and differences of two fit.
inline std::optional<int64_t> ns_of_us(const nlohmann::json& value) {
  if (!value.is_number()) return std::nullopt;
  const double ns = value.get<double>() * 1e3;
  constexpr double kMost = 2305843009213693952.0;
  if (!std::isfinite(ns) || std::abs(ns) > kMost) return std::nullopt;
  // Time stamps since 1970 in microseconds are exact as whole numbers; as fractions of a double they are to 0.25 us.
  if (value.is_number_integer()) return value.get<int64_t>() * 1000;
  return std::llround(ns);
}

/// Text, or "".
inline std::string text_in(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

/// A list of ranks, as list or as its text: "[0, 1]"; empty if it is none, is cut ("[0, 1, ...]"), or has more than
/// kMaxRanks.
inline std::vector<uint32_t> ranks_in(const nlohmann::json& value) {
  nlohmann::json list = value;
  if (value.is_string()) list = parse_json<nlohmann::json>(value.get_ref<const std::string&>());
  std::vector<uint32_t> ranks;
  if (!list.is_array() || list.size() > kMaxRanks) return ranks;
  for (const auto& one : list) {
    if (!one.is_number_unsigned() || one.get<uint64_t>() >= kMaxRanks) return {};
    ranks.push_back(one.get<uint32_t>());
  }
  return ranks;
}

/// size ranks from first on, stride apart; empty if a job cannot have them.
inline std::vector<uint32_t> ranks_from(uint64_t first, uint64_t stride, uint64_t size) {
  std::vector<uint32_t> ranks;
  if (size > kMaxRanks || stride > kMaxRanks || first >= kMaxRanks) return ranks;
  if (size > 0 && first + (size - 1) * stride >= kMaxRanks) return ranks;
  for (uint64_t i = 0; i < size; ++i) ranks.push_back(static_cast<uint32_t>(first + i * stride));
  return ranks;
}

}  // namespace mrclab::job
