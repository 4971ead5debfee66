#include "live/translate/endpoint_words.h"

#include <fmt/format.h>

#include "fabric/base/byte_order.h"
#include "fabric/paths/path_list.h"
#include "live/translate/node_setup.h"

namespace mrclab::lab {
namespace {

constexpr uint32_t kMostHosts = 16;
constexpr uint32_t kMrcHeaders =
    132;  // what a packet has besides its payload (standalone/endpoint.h)

/// The longest payload that the links take.
uint32_t pmtu_of(const ExportedFabric& fabric) {
  uint32_t pmtu = 4096;
  while (pmtu > 256 && pmtu + kMrcHeaders > fabric.link_mtu()) pmtu /= 2;
  return pmtu;
}

Ipv6Address inner_address(uint32_t host) {
  Ipv6Address address{};
  store_be<uint16_t>(address.data(), 0xfd02);
  store_be<uint32_t>(address.data() + 12, host + 1);
  return address;
}

/// What arrives at a NIC port: its own uSID, which is the last of a carrier.
Ipv6Address last_carrier(Usid usid) {
  Ipv6Address address{};
  store_be<uint32_t>(address.data(), kUsidBlock);
  store_be<uint16_t>(address.data() + 4, usid.value);
  return address;
}

std::string self_words(const ExportedFabric& fabric, NodeId host) {
  const NodeSite& site = fabric.topology().node(host);
  std::string interfaces, accepted, hops;
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    const std::string comma = i == 0 ? "" : ",";
    interfaces += fmt::format("{}p{}={}", comma, i, fabric.interface({host, PortId{i}}));
    accepted += fmt::format("{}p{}={}", comma, i, to_string(last_carrier(site.ports[i].nic_usid)));
    hops += fmt::format("{}p{}={}", comma, i,
                        to_string(fabric.topology().port(site.ports[i].peer).mac));
  }
  // The other end is in another container.
  return fmt::format("--listen :: --address {} --interface {} --accept {} --next-hop {} --mtu {}",
                     to_string(inner_address(site.index)), interfaces, accepted, hops,
                     pmtu_of(fabric));
}

std::string carriers_to(const Topology& topology, uint32_t from, uint32_t to) {
  std::string text = "--carrier ";
  bool first = true;
  for (const Path path : paths_between(topology, from, to)) {
    text += fmt::format("{}p{}={}", first ? "" : ",", path.plane,
                        to_string(make_carrier(topology, from, to, path)));
    first = false;
  }
  return text;
}

}  // namespace

bool has_endpoint_words(const ExportedFabric& fabric) {
  const SwitchKind kind = fabric.options().switches;
  return !fabric.options().bare && fabric.topology().decap == Decap::kNic &&
         fabric.topology().host_count() <= kMostHosts &&
         (kind == SwitchKind::kMrclab || kind == SwitchKind::kFrr);
}

std::vector<std::pair<std::string, std::string>> endpoint_words(const ExportedFabric& fabric,
                                                                NodeId host) {
  const Topology& topology = fabric.topology();
  std::vector<std::pair<std::string, std::string>> words{{"MRC_SELF", self_words(fabric, host)}};
  for (uint32_t other = 0; other < topology.host_count(); ++other) {
    if (topology.host(other) == host) continue;
    words.emplace_back("MRC_TO_" + topology.node(topology.host(other)).name,
                       carriers_to(topology, topology.node(host).index, other));
  }
  return words;
}

}  // namespace mrclab::lab
