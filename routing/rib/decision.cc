#include "routing/rib/decision.h"

#include <algorithm>
#include <tuple>

namespace mrclab::routing {

namespace {

/// Lower is better; equal ones are used side by side, if MED allows.
auto merit(const Path& path) {
  return std::tuple(path.unreachable, path.peer != kOwn, path.attributes->as_path.length(),
                    path.attributes->origin);
}

/// Is there a path of the same merit and neighbouring AS with a lower MED? None given is 0.
bool beaten_by_med(const Path& path, std::span<const Path> paths) {
  const uint32_t med = path.attributes->med.value_or(0);
  if (med == 0) return false;
  return std::any_of(paths.begin(), paths.end(), [&](const Path& other) {
    return merit(other) == merit(path) && other.attributes->med.value_or(0) < med &&
           other.attributes->as_path.first() == path.attributes->as_path.first();
  });
}

}  // namespace

std::vector<PeerIndex> choose_paths(std::span<const Path> paths, std::span<const PeerRank> ranks,
                                    size_t limit) {
  std::vector<PeerIndex> chosen;
  if (paths.empty()) return chosen;
  auto best = merit(paths.front());
  for (const Path& path : paths) best = std::min(best, merit(path));
  for (const Path& path : paths) {
    if (merit(path) == best && !beaten_by_med(path, paths)) chosen.push_back(path.peer);
  }
  const auto rank = [&](PeerIndex peer) {
    return peer == kOwn ? std::tuple(RouterId{}, Ipv6Address{}, peer)
                        : std::tuple(ranks[peer].router, ranks[peer].address, peer);
  };
  std::sort(chosen.begin(), chosen.end(),
            [&](PeerIndex a, PeerIndex b) { return rank(a) < rank(b); });
  if (chosen.size() > limit) chosen.resize(limit);
  return chosen;
}

}  // namespace mrclab::routing
