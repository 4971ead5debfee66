#include "job/plan/placement.h"

#include <algorithm>
#include <map>

namespace mrclab::job {
namespace {

/// The T0 of a host's first port that has a cable.
uint32_t t0_of(const Topology& topology, uint32_t host) {
  if (topology.has_planes()) return topology.host_row(host);
  const NodeSite& site = topology.node(topology.host(host));
  return site.ports.empty() ? 0 : site.ports.front().peer.node.value;
}

std::vector<uint32_t> spread(const std::vector<uint32_t>& hosts, const Topology& topology) {
  std::map<uint32_t, std::vector<uint32_t>> below;  // by T0
  for (const uint32_t host : hosts) below[t0_of(topology, host)].push_back(host);
  std::vector<uint32_t> order;
  for (size_t turn = 0; order.size() < hosts.size(); ++turn) {
    for (const auto& [t0, own] : below) {
      if (turn < own.size()) order.push_back(own[turn]);
    }
  }
  return order;
}

}  // namespace

std::vector<uint32_t> placed(std::vector<uint32_t> hosts, Placement how, const Topology& topology) {
  if (how == Placement::kSpread) return spread(hosts, topology);
  if (how == Placement::kRails) {
    std::stable_sort(hosts.begin(), hosts.end(), [&](uint32_t a, uint32_t b) {
      const Topology::NicPlace left = topology.nic_place(a), right = topology.nic_place(b);
      return std::pair(left.node, left.rail) < std::pair(right.node, right.rail);
    });
  }
  return hosts;
}

}  // namespace mrclab::job
