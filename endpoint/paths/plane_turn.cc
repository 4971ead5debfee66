#include "endpoint/paths/plane_turn.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace mrclab::endpoint {

namespace {

/// What a packet costs in a plane of weight 1. In one of weight 256, the most there is, it still costs 4096, so that
/// division loses less than a part in a thousand.
constexpr uint64_t kPacket = 1 << 20;
/// By how much a plane may be ahead of its share, in packets of the plane with the least weight (our choice).
constexpr uint64_t kPacketsAhead = 2;

}  // namespace

uint64_t PlaneWeights::cost(uint32_t plane) const {
  return kPacket / std::max(weights_[plane], 1u);
}

void PlaneWeights::set(const std::vector<uint32_t>& weights) {
  uint32_t least = std::numeric_limits<uint32_t>::max(), most = 0;
  for (const uint32_t weight : weights) {
    if (weight > 0) least = std::min(least, weight);
    most = std::max(most, weight);
  }
  in_use_ = 0;
  weights_.clear();
  if (least >= most) return;
  weights_ = weights;
  spent_.assign(weights.size(), 0);
  dearest_ = kPacket / least;
}

std::optional<uint32_t> PlaneWeights::due(uint32_t ports, uint32_t busy) {
  // Planes that come back do not make up for what they missed.
  if (in_use_ != (ports | busy)) {
    in_use_ = ports | busy;
    std::fill(spent_.begin(), spent_.end(), 0);
  }
  const auto least_of = [this](uint32_t planes) {
    auto least = static_cast<uint32_t>(std::countr_zero(planes));
    for (uint32_t left = planes; left != 0; left &= left - 1) {
      const auto plane = static_cast<uint32_t>(std::countr_zero(left));
      if (spent_[plane] < spent_[least]) least = plane;
    }
    return least;
  };
  if (ports == 0) return std::nullopt;
  const uint32_t due = least_of(ports);
  const bool others_first =
      busy != 0 && spent_[due] + cost(due) > spent_[least_of(busy)] + dearest_ * kPacketsAhead;
  return others_first ? std::nullopt : std::optional(due);
}

}  // namespace mrclab::endpoint
