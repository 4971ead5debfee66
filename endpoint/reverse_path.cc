#include "endpoint/reverse_path.h"

#include "fabric/path.h"

namespace mrclab::endpoint {

ReversePath::ReversePath(const std::vector<EntropyValue>& values, uint32_t planes, FabricTime fresh)
    : planes_(planes), fresh_(fresh) {
  for (const EntropyValue value : values) {
    const std::optional<Path> path = path_of(value);
    if (path && path->plane < planes && !planes_[path->plane].ev) planes_[path->plane].ev = value;
  }
}

void ReversePath::heard(EntropyValue ev, uint32_t plane, FabricTime now) {
  planes_[plane].ev = ev;
  planes_[plane].heard = now;
}

std::optional<EntropyValue> ReversePath::choose(uint32_t usable_ports, FabricTime now) {
  const auto count = static_cast<uint32_t>(planes_.size());
  for (const bool only_fresh : {true, false}) {
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t plane = next_ + i < count ? next_ + i : next_ + i - count;
      const Plane& candidate = planes_[plane];
      if ((usable_ports & 1u << plane) == 0 || !candidate.ev) continue;
      if (only_fresh && now - candidate.heard > fresh_) continue;
      next_ = plane + 1 == count ? 0 : plane + 1;
      return candidate.ev;
    }
  }
  return std::nullopt;
}

std::optional<EntropyValue> ReversePath::of_plane(uint32_t plane) const {
  return plane < planes_.size() ? planes_[plane].ev : std::nullopt;
}

}  // namespace mrclab::endpoint
