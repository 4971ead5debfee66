#include "routing/fare/path_share.h"

#include <algorithm>

namespace mrclab::routing {

std::optional<std::vector<LinkShare>> link_shares(std::span<const HeardShare> heard,
                                                  ShareGranularity granularity) {
  std::vector<LinkShare> shares;
  for (const HeardShare& one : heard) {
    if (!one.advertised) return std::nullopt;
    if (granularity == ShareGranularity::kPerLink) {
      shares.push_back({one.link, std::min(*one.advertised, one.link_rate)});
      continue;
    }
    BitRate links{0};
    BitRate said = *one.advertised;
    uint64_t count = 0;
    for (const HeardShare& other : heard) {
      if (other.node != one.node) continue;
      links.bps += other.link_rate.bps;
      // Sessions with one node carry the same value, but for the moment of a change: the lower counts (our choice).
      if (other.advertised) said = std::min(said, *other.advertised);
      ++count;
    }
    shares.push_back({one.link, BitRate{std::min(links, said).bps / count}});
  }
  return shares;
}

BitRate total(std::span<const LinkShare> shares) {
  BitRate sum{0};
  for (const LinkShare& share : shares) sum.bps += share.bandwidth.bps;
  return sum;
}

}  // namespace mrclab::routing
