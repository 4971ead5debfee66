#include "endpoint/mapper/host_denials.h"

#include <algorithm>
#include <utility>

#include "endpoint/mapper/denied_parts.h"
#include "fabric/probes/probe_route.h"

namespace mrclab::endpoint {

HostDenials::HostDenials(const Topology& topology, uint32_t self)
    : topology_(topology), self_(self) {
  begin_again();
}

void HostDenials::begin_again() {
  list_ = {};
  if (topology_.denylist.on) list_.parts = fixed_parts(topology_).denied.parts();
}

HostDenials::Among HostDenials::among(const std::vector<EntropyValue>& values,
                                      uint32_t peer) const {
  Among among;
  std::vector<bool> listed(values.size());
  const uint64_t share = topology_.denylist.at_most.ppb;
  const size_t most = values.size() * share / Probability::kOne;
  size_t count = 0;
  for (const DeniedPart& part : list_.parts) {
    std::vector<size_t> more;
    for (size_t i = 0; i < values.size(); ++i) {
      const auto path = path_of(values[i]);
      if (path && !listed[i] && crosses(topology_, part, self_, peer, *path)) more.push_back(i);
    }
    if (count + more.size() > most) {
      ++among.left_out;
      continue;
    }
    count += more.size();
    for (const size_t i : more) listed[i] = true;
  }
  among.denied = std::move(listed);
  for (size_t i = 0; i < values.size(); ++i) {
    if (by_hand_.denies(values[i], peer)) among.denied[i] = true;
  }
  return among;
}

bool HostDenials::lists(uint32_t peer, Path path) const {
  return std::any_of(list_.parts.begin(), list_.parts.end(), [&](const DeniedPart& part) {
    return crosses(topology_, part, self_, peer, path);
  });
}

bool HostDenials::take(DeniedList list, FabricTime now) {
  if (list.version < list_.version) return false;
  heard_ = now;
  if (list.version == list_.version) return false;
  list_ = std::move(list);
  return true;
}

bool HostDenials::expire(FabricTime now) {
  if (list_.version == 0) return false;
  const auto periods = static_cast<int64_t>(topology_.denylist.expires);
  if (now - heard_ <= probe_period(topology_) * periods) return false;
  list_ = {};
  return true;
}

}  // namespace mrclab::endpoint
