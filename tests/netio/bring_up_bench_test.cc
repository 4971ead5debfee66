// How long the kernel takes for a fabric of octet's size. Prints, asserts no time.

#include <doctest/doctest.h>

#include <chrono>
#include <deque>

#include "netio/kernel/link.h"
#include "test_lab.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::netio;
using namespace mrclab::netio::test;

namespace {

class StopWatch {
 public:
  double lap_ms() {
    const auto now = std::chrono::steady_clock::now();
    const double ms = std::chrono::duration<double, std::milli>(now - last_).count();
    last_ = now;
    return ms;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

TEST_SUITE("root: bring-up") {
  TEST_CASE("octet's 56 namespaces and 128 links come up, all carriers on, and go") {
    const Topology topology = mrclab::test::octet();
    StopWatch watch;
    std::deque<NetworkNamespace> spaces;
    for (const NodeSite& node : topology.nodes)
      spaces.push_back(NetworkNamespace::create(
          namespace_name(node.name),
          node.role == NodeRole::kHost ? host_sysctls() : switch_sysctls(), true));
    const double namespaces_ms = watch.lap_ms();

    std::vector<VethPair> pairs;
    for (const Link& link : topology.links) {
      const auto end = [&](PortRef ref) {
        const Port& port = topology.port(ref);
        return VethEnd{&spaces[ref.node.value], port.name(), port.mac, topology.port_name(ref)};
      };
      pairs.push_back({end(link.a), end(link.b)});
    }
    create_veths(pairs);
    const double links_ms = watch.lap_ms();

    std::deque<NamespaceNetlink> netlinks;
    for (const NodeSite& node : topology.nodes) {
      netlinks.emplace_back(spaces[node.id.value]);
      for (const Port& port : node.ports) netlinks.back().queue_up(port.name());
      netlinks.back().flush();
    }
    const double up_ms = watch.lap_ms();
    for (const NodeSite& node : topology.nodes) {
      std::vector<std::string> names;
      for (const Port& port : node.ports) names.push_back(port.name());
      if (node.role == NodeRole::kHost) disable_offloads(spaces[node.id.value], names);
    }
    const double offload_ms = watch.lap_ms();

    size_t carriers = 0;
    for (NamespaceNetlink& netlink : netlinks)
      for (const LinkState& state : netlink.links())
        carriers += state.carrier && state.name != "lo";
    CHECK(carriers == 2 * topology.links.size());
    const double query_ms = watch.lap_ms();
    netlinks.clear();
    spaces.clear();
    const double gone_ms = watch.lap_ms();
    CHECK(list_namespaces(namespace_name("")).empty());
    MESSAGE("56 namespaces " << namespaces_ms << " ms, 128 veths with names " << links_ms
                             << " ms, 256 ends up " << up_ms << " ms, offloads of 64 ports "
                             << offload_ms << " ms, state of all " << query_ms << " ms, removal "
                             << gone_ms << " ms");
  }
}
