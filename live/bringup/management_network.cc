#include "live/bringup/management_network.h"

#include <algorithm>

#include "netio/kernel/ipv4.h"
#include "netio/system/system_error.h"
#include "verbs/protocol/management_address.h"

namespace mrclab::lab {
namespace {

using netio::Ipv4Batch;

constexpr uint32_t kMtu = 1500;
/// The router as hosts see it, on each of its links: a link-local address (RFC 3927), which no host has.
constexpr uint32_t kRouter = 0xA9FE'0001;

/// As those of switches, with forwarding of IPv4; what the machine has set for its own interfaces is not taken over.
netio::Sysctls router_sysctls() {
  netio::Sysctls list = netio::switch_sysctls();
  for (const char* scope : {"default", "all"}) {
    const std::string conf = std::string("net/ipv4/conf/") + scope + "/";
    list.push_back({conf + "rp_filter", "0"});
    list.push_back({conf + "send_redirects", "0"});
  }
  list.push_back({"net/ipv4/ip_forward", "1"});
  return list;
}

/// Locally administered: 02:6d is "m"; `end` 0 is the host's, 1 the router's.
MacAddress mac_of(uint32_t host, uint8_t end) {
  return {0x02,
          0x6d,
          end,
          static_cast<uint8_t>(host >> 16),
          static_cast<uint8_t>(host >> 8),
          static_cast<uint8_t>(host)};
}

void give_carrier(netio::NamespaceNetlink& netlink, const std::string& interface) {
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (netlink.link(interface).carrier) return;
  }
  throw netio::SystemError("use " + interface + " in " + netlink.namespace_name(), ENETDOWN);
}

}  // namespace

std::string management_address_text(uint32_t host) {
  return netio::ipv4_text(verbs::management_address(host));
}

void ManagementNetwork::configure(const Host& host) {
  const std::string device = verbs::kManagementInterface;
  Ipv4Batch batch(*host.netlink);
  batch.address(device, {verbs::management_address(host.number), verbs::kManagementBits});
  host.netlink->set_up(device);
  batch.neighbour(device, kRouter, mac_of(host.number, 1));
  batch.route(device, {verbs::kManagementNetwork, verbs::kManagementBits}, kRouter);
  batch.flush();
}

ManagementNetwork::ManagementNetwork(const std::string& name, const Topology& topology,
                                     std::span<const netio::NetworkNamespace> namespaces,
                                     std::span<netio::NamespaceNetlink> netlinks,
                                     const std::function<void(uint64_t)>& record)
    : router_(netio::NetworkNamespace::create(name, router_sysctls(), true, record)) {
  std::vector<Host> hosts;
  for (uint32_t host = 0; host < topology.host_count(); ++host) {
    const NodeId node = topology.host(host);
    hosts.push_back(
        {host, topology.node(node).name, &namespaces[node.value], &netlinks[node.value]});
  }
  make_links(hosts);
  netio::NamespaceNetlink router(router_);
  for (const Host& host : hosts) router.queue_up(host.name);
  router.flush();
  Ipv4Batch batch(router);
  for (const Host& host : hosts) {
    configure(host);
    batch.neighbour(host.name, verbs::management_address(host.number), mac_of(host.number, 0));
    batch.route(host.name, {verbs::management_address(host.number), 32});
  }
  batch.flush();
  // Until the kernel's link watch has run a veth drops what it is given.
  for (const Host& host : hosts) {
    give_carrier(router, host.name);
    give_carrier(*host.netlink, verbs::kManagementInterface);
  }
}

void ManagementNetwork::make_links(const std::vector<Host>& hosts) const {
  std::vector<netio::VethPair> pairs;
  for (const Host& host : hosts) {
    if (host.number >= verbs::kMaxManagedHosts) {
      throw netio::SystemError("give " + host.name + " a management address", ERANGE);
    }
    pairs.push_back({{host.ns, verbs::kManagementInterface, mac_of(host.number, 0), {}},
                     {&router_, host.name, mac_of(host.number, 1), {}},
                     kMtu});
  }
  netio::create_veths(pairs);
}

}  // namespace mrclab::lab
