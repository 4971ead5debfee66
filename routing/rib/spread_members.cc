#include "routing/rib/spread_members.h"

#include <algorithm>

namespace mrclab::routing {

std::vector<PortId> spread_members(std::span<const WeightedHop> hops) {
  struct Member {
    uint64_t turn, of;  // the middle of its part of the round: (2 k + 1) / (2 weight)
    PortId port;
  };
  std::vector<Member> members;
  for (const WeightedHop& hop : hops) {
    for (uint32_t k = 0; k < hop.weight; ++k) members.push_back({2 * k + 1, hop.weight, hop.port});
  }
  std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
    const uint64_t left = a.turn * b.of, right = b.turn * a.of;
    return left != right ? left < right : a.port < b.port;
  });
  std::vector<PortId> ports;
  ports.reserve(members.size());
  for (const Member& member : members) ports.push_back(member.port);
  return ports;
}

}  // namespace mrclab::routing
