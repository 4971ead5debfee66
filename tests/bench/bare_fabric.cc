// What the kernel alone takes for the namespaces, veths, addresses, neighbours and routes of a fabric: the
// bare peer of bench_bring_up.
//
//   bare_fabric FABRIC     prints JSON: seconds of all, and of them those that this program itself computed
//
// One process, its requests batched; no daemon, no gate, no record, no waiting for carriers, and none of what
// a lab sets besides (offloads, full names of links). The namespaces go with it.

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include "fabric/topology/fabric_file.h"
#include "live/bringup/node_plan.h"
#include "netio/kernel/link.h"
#include "netio/kernel/route.h"
#include "scenario/spec/shipped_files.h"

namespace mrclab {
namespace {

using netio::NamespaceNetlink;
using netio::NetworkNamespace;

struct BareFabric {
  std::deque<NetworkNamespace> namespaces;
  std::deque<NamespaceNetlink> netlinks;
};

netio::VethEnd veth_end(const Topology& topology, const BareFabric& fabric, PortRef ref) {
  return {&fabric.namespaces[ref.node.value],
          lab::device_of(topology, ref),
          topology.port(ref).mac,
          {}};
}

void create_links(const Topology& topology, const std::vector<lab::NodePlan>& plans,
                  BareFabric& fabric) {
  std::vector<netio::VethPair> pairs;
  for (const Link& link : topology.links) {
    pairs.push_back(
        {veth_end(topology, fabric, link.a), veth_end(topology, fabric, link.b), lab::port_mtu()});
  }
  for (size_t i = 0; i < plans.size(); ++i) {
    if (!plans[i].needs_stub) continue;
    const NetworkNamespace* ns = &fabric.namespaces[i];
    pairs.push_back({{ns, lab::kStubInterface, lab::kStubMac, {}},
                     {ns, lab::kStubPeer, lab::kStubPeerMac, {}},
                     plans[i].stub_mtu});
  }
  netio::create_veths(pairs);
}

void configure(const lab::NodePlan& plan, NamespaceNetlink& netlink) {
  for (const lab::PortPlan& port : plan.ports) netlink.queue_up(port.interface);
  if (plan.needs_stub) {
    netlink.queue_up(lab::kStubInterface);
    netlink.queue_up(lab::kStubPeer);
  }
  netlink.flush();
}

void add_routes(const lab::NodePlan& plan, NamespaceNetlink& netlink) {
  netio::RouteBatch batch(netlink);
  for (const auto& address : plan.loopback_addresses) batch.address("lo", address);
  for (uint32_t i = 0; i < plan.rules.size(); ++i) batch.rule(plan.rules[i], 1000 + i);
  if (!plan.rules.empty()) {
    batch.neighbour(lab::kStubInterface, lab::other_end(), lab::kStubPeerMac);
  }
  for (const netio::Route& route : plan.fixed_routes) batch.route(route);
  for (const lab::PortPlan& port : plan.ports) {
    for (const auto& address : port.addresses) batch.address(port.interface, address);
    batch.neighbour(port.interface, lab::other_end(), port.peer_mac);
    for (const auto& address : port.neighbours) {
      batch.neighbour(port.interface, address, port.peer_mac);
    }
    for (const netio::Route& route : port.routes) batch.route(route);
  }
  for (const netio::Route& route : plan.peer_routes) {
    if (!route.ways.empty()) batch.route(route);
  }
  batch.flush();
}

double computed_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec) * 1e-6;
}

int measure(const char* name) {
  const Topology topology = read_fabric_file(lab::find_fabric(name));
  std::vector<lab::NodePlan> plans;
  for (const NodeSite& site : topology.nodes) plans.push_back(lab::plan_node(topology, site.id));
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);

  BareFabric fabric;
  const auto begin = std::chrono::steady_clock::now();
  const double computed = computed_seconds();
  for (size_t i = 0; i < plans.size(); ++i) {
    fabric.namespaces.push_back(NetworkNamespace::create("bare-" + topology.nodes[i].name,
                                                         plans[i].sysctls, plans[i].ipv6));
    fabric.netlinks.emplace_back(fabric.namespaces.back());
  }
  create_links(topology, plans, fabric);
  for (size_t i = 0; i < plans.size(); ++i) configure(plans[i], fabric.netlinks[i]);
  for (size_t i = 0; i < plans.size(); ++i) {
    if (plans[i].ipv6) add_routes(plans[i], fabric.netlinks[i]);
  }
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
  std::printf("{\"seconds\": %.6f, \"computed\": %.6f, \"nodes\": %zu, \"links\": %zu}\n",
              all.count(), computed_seconds() - computed, plans.size(), topology.links.size());
  return 0;
}

}  // namespace
}  // namespace mrclab

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FABRIC\n", argv[0]);
    return 2;
  }
  try {
    return mrclab::measure(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}
