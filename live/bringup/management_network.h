#pragma once
// The network beside the fabric, by which programs in hosts reach one another before they have a queue pair: perftest and
// others know IPv4 alone, and their connections must not pass the links that a scenario breaks.
//
//   h0 mgmt0 10.255.0.1/16 ------ h0 |
//   h1 mgmt0 10.255.0.2/16 ------ h1 | mrclab-<lab>-mgmt_net: a router, with a route of /32 to each host
//   ...                              |
//
// A router, since a bridge takes 1,024 ports and some kernels have none. Neighbours are entered for good: nothing is ever asked
// for by ARP. It lives in this machine's time and is no part of the model.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fabric/topology/topology.h"
#include "netio/kernel/link.h"
#include "netio/kernel/namespace.h"

namespace mrclab::lab {

/// The last part of its namespace's name, where nodes have theirs; a node's name has no underscore.
inline constexpr const char* kManagementName = "mgmt_net";

class ManagementNetwork {
 public:
  /// Makes it in a namespace of this name, and `mgmt0` in each host of the topology. `namespaces` and `netlinks`, by
  /// NodeId, outlive the call; `record` is as for NetworkNamespace::create. Throws SystemError, leaving nothing behind.
  ManagementNetwork(const std::string& name, const Topology& topology,
                    std::span<const netio::NetworkNamespace> namespaces,
                    std::span<netio::NamespaceNetlink> netlinks,
                    const std::function<void(uint64_t)>& record);

 private:
  struct Host {
    uint32_t number = 0;
    std::string name;
    const netio::NetworkNamespace* ns = nullptr;
    netio::NamespaceNetlink* netlink = nullptr;
  };
  void make_links(const std::vector<Host>& hosts) const;
  static void configure(const Host& host);

  netio::NetworkNamespace router_;  ///< the interfaces of hosts go with it
};

/// "10.255.0.1" of h0.
std::string management_address_text(uint32_t host);

}  // namespace mrclab::lab
