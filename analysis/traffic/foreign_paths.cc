#include "analysis/traffic/foreign_paths.h"

namespace mrclab::analysis {

EntropyValue ForeignPaths::find_or_add(const PacketFacts& facts, Stage stage, uint32_t plane,
                                       const PathFormat& format) {
  const bool by_carrier = format.path_by == PathBy::kCarrier && facts.encapsulated;
  // One entropy value may name a path on each plane, so the plane is part of the key. The port
  // takes its place where the plane is not known.
  uint64_t port = plane;
  if (plane == kNoPlane) {
    const bool at_host = stage == Stage::kHostUp || stage == Stage::kHostDown;
    port = at_host ? facts.port_at(stage == Stage::kHostUp) : PacketFacts::kNoMac | facts.tap;
  }
  const uint32_t entropy = read_entropy(format.reading, facts);
  const uint64_t key = by_carrier ? pair_key(facts.carrier, {}, mixed(port))
                                  : mixed(mixed(port) + (uint64_t{entropy} << 1 | 1));
  const auto next = static_cast<uint32_t>(all_.size());
  const uint32_t index = index_.find_or_add(key, next);
  if (index == FlatIndex::kNone) {
    ++over_limit_;
    return {kFirst + static_cast<uint32_t>(kMax)};
  }
  if (index == next) {
    all_.push_back({by_carrier ? facts.carrier : Ipv6Address{}, entropy, plane});
  }
  return {kFirst + index};
}

}  // namespace mrclab::analysis
