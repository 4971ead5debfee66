#pragma once
// What an agent found, as the event `neighbour` carries it: the cause is the kind of news, the detail who it is.

#include <optional>
#include <string_view>

#include "fabric/neighbours/neighbour_agent.h"
#include "fabric/text/enum_words.h"

namespace mrclab {

inline constexpr auto kNeighbourWords =
    words_by_value<NeighbourNews::Kind>({{NeighbourNews::Kind::kFound, "found"},
                                         {NeighbourNews::Kind::kChanged, "changed"},
                                         {NeighbourNews::Kind::kGone, "gone"}});

constexpr std::string_view name_of(NeighbourNews::Kind kind) {
  return kNeighbourWords[static_cast<size_t>(kind)];
}
constexpr std::optional<NeighbourNews::Kind> neighbour_kind_of(std::string_view word) {
  for (size_t i = 0; i < kNeighbourWords.size(); ++i) {
    if (kNeighbourWords[i] == word) return static_cast<NeighbourNews::Kind>(i);
  }
  return std::nullopt;
}

}  // namespace mrclab
