// Where somebody looks at packets, frames cross alone.

#include "live/bringup/onlookers.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>

#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "netio/packet/packet_port.h"
#include "netio/system/system_error.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/sandbox.h"

namespace mrclab::lab {
namespace {

netio::FileDescriptor listener(const netio::NetworkNamespace& ns, uint16_t protocol,
                               int interface) {
  return ns.run_in([&] {
    netio::FileDescriptor socket(
        netio::check_system_call("open a packet socket", ::socket(AF_PACKET, SOCK_RAW, 0)));
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(protocol);
    address.sll_ifindex = interface;
    netio::check_system_call(
        "bind", ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
    return socket;
  });
}

/// The pair, with our packet sockets in h0 and a T0 beside it.
struct Watched {
  Watched()
      : topology(build_topology(parse_fabric(read_yaml_file(find_fabric("pair"))))),
        fabric(topology, "looks"),
        host(topology.host(0)),
        leaf(topology.t0(0, 0)),
        in_host(fabric.network_namespace(host)),
        in_leaf(fabric.network_namespace(leaf)),
        onlookers(fabric, *gate) {}

  /// The wires on which frames cross alone.
  std::vector<WireId> alone() {
    onlookers.look_at_all();
    std::vector<WireId> found;
    for (const Wire& wire : topology.all_wires()) {
      if (gate->alone[wire.id.value].load() != 0) found.push_back(wire.id);
    }
    return found;
  }
  std::vector<WireId> wires_of(NodeId node) const {
    std::vector<WireId> wires;
    for (const Port& port : topology.node(node).ports) {
      wires.push_back(port.in);
      wires.push_back(port.out);
    }
    std::sort(wires.begin(), wires.end());
    return wires;
  }

  Topology topology;
  LiveFabric fabric;
  NodeId host, leaf;
  netio::PacketSocket in_host, in_leaf;
  std::unique_ptr<netio::GatePage> gate = std::make_unique<netio::GatePage>();
  Onlookers onlookers;
};

}  // namespace

TEST_SUITE_BEGIN("root: onlookers");

TEST_CASE("frames cross the wires of a node alone while anybody else has a packet socket there") {
  enter_sandbox();
  Watched lab;
  CHECK(lab.alone().empty());  // our own do not count
  const netio::NetworkNamespace& ns = lab.fabric.network_namespace(lab.host);
  const int p0 = lab.fabric.interface_index({lab.host, PortId{0}});
  const std::vector<std::pair<uint16_t, int>> kinds{
      {ETH_P_ALL, p0}, {ETH_P_ALL, 0}, {ETH_P_IPV6, p0}, {ETH_P_IPV6, 0}, {ETH_P_ARP, 0}};
  for (const auto& kind : kinds) {
    const uint16_t protocol = kind.first;
    const int interface = kind.second;
    CAPTURE(protocol);
    CAPTURE(interface);
    {
      const netio::FileDescriptor other = listener(ns, protocol, interface);
      CHECK(lab.alone() == lab.wires_of(lab.host));
    }
    CHECK(lab.alone().empty());
  }
}

TEST_CASE("a wire whose other end is watched stays watched, and a filter stays for good") {
  enter_sandbox();
  Watched lab;
  const netio::NetworkNamespace& at_host = lab.fabric.network_namespace(lab.host);
  {
    const netio::FileDescriptor one = listener(at_host, ETH_P_ALL, 0);
    {
      const netio::FileDescriptor two =
          listener(lab.fabric.network_namespace(lab.leaf), ETH_P_ALL, 0);
      CHECK(lab.alone().size() > lab.wires_of(lab.host).size());
    }
    CHECK(lab.alone() == lab.wires_of(lab.host));
  }
  lab.onlookers.note_filter(lab.leaf);
  CHECK(lab.alone() == lab.wires_of(lab.leaf));
}

TEST_CASE("each namespace has its turn") {
  enter_sandbox();
  Watched lab;
  CHECK(lab.alone().empty());
  const netio::FileDescriptor other =
      listener(lab.fabric.network_namespace(lab.leaf), ETH_P_ALL, 0);
  const WireId wire = lab.topology.node(lab.leaf).ports[0].out;
  const int64_t begun = netio::LabTime::now().ns;
  while (lab.gate->alone[wire.value].load() == 0) {
    lab.onlookers.look();
    REQUIRE(netio::LabTime::now().ns - begun < 20'000'000'000);
  }
}

TEST_SUITE_END();

}  // namespace mrclab::lab
