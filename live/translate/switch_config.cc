#include "live/translate/switch_config.h"

#include <fmt/format.h>

#include "fabric/text/yaml.h"
#include "fabric/topology/path.h"
#include "fabric/topology/routes.h"
#include "live/speakers/fabric_speakers.h"
#include "live/translate/node_setup.h"

namespace mrclab::lab {
namespace {

/// The virtual switch has the ports of a Dell S6000, numbered in steps of four.
constexpr size_t kSonicPorts = 32;

/// Throws for a node of which SONiC has too few ports.
void require_ports(const ExportedFabric& fabric, NodeId node) {
  const NodeSite& site = fabric.topology().node(node);
  if (site.ports.size() <= kSonicPorts) return;
  throw InputError(
      fmt::format("--switches sonic-vs: found {} with {} ports: expected at most {}, which the "
                  "virtual switch has",
                  site.name, site.ports.size(), kSonicPorts));
}

/// By port, the other end's uSIDs or hosts: prefixes that lead there.
struct PortRoutes {
  uint32_t port;
  std::vector<netio::Route> routes;
};
std::vector<PortRoutes> plain_routes_by_port(const ExportedFabric& fabric, NodeId node) {
  std::vector<PortRoutes> ports;
  const size_t count = fabric.topology().node(node).ports.size();
  const std::vector<netio::Route> routes = exported_routes(fabric, node, true);
  for (uint32_t i = 0; i < count; ++i) {
    ports.push_back({i, {}});
    for (const netio::Route& route : routes) {
      if (route.dev == fabric.interface({node, PortId{i}})) ports.back().routes.push_back(route);
    }
  }
  return ports;
}

}  // namespace

std::string usid_address(Usid usid) { return fmt::format("5f00:0:{:x}::", usid.value); }

std::string sonic_port(uint32_t port) { return fmt::format("Ethernet{}", 4 * port); }

SpeakerPlan exported_speaker(const ExportedFabric& fabric, NodeId node) {
  SpeakerPlan plan = speaker_plan(fabric.topology(), node);
  plan.name = fabric.name(node);
  for (SpeakerPlan::Neighbour& neighbour : plan.neighbours) {
    neighbour.device = fabric.interface_of(node, neighbour.device);
  }
  const Ports ports = fabric.topology().node(node).ports;
  for (BgpDaemonSetup::Origin& origin : plan.origins) {
    for (uint32_t i = 0; i < ports.size(); ++i) {
      if (ports[i].name() != origin.device) continue;
      origin.device = fabric.interface({node, PortId{i}});
      origin.via = fabric.next_hop({node, PortId{i}});
      break;
    }
  }
  return plan;
}

std::string frr_config_of(const ExportedFabric& fabric, NodeId node) {
  if (!has_static_routes(fabric, node)) {
    const SpeakerPlan plan = exported_speaker(fabric, node);
    return frr_config(plan) +
           "! Its hosts, which BGP announces while their link has a carrier. uSIDs are the "
           "kernel's.\n" +
           frr_static_config(plan);
  }
  std::string text = "hostname " + fabric.name(node) +
                     "\n! uSIDs of neighbours; the switch's own are the kernel's (seg6local).\n";
  for (const netio::Route& route : exported_routes(fabric, node, true)) {
    text += fmt::format("ipv6 route {} {} {}\n", netio::prefix_text(route.destination),
                        to_string(*route.via), route.dev);
  }
  return text;
}

std::string frr_daemons(const ExportedFabric& fabric) {
  return fmt::format(
      "zebra=yes\nstaticd=yes\nbgpd={}\nvtysh_enable=yes\n"
      "zebra_options=\"-A 127.0.0.1 -s 90000000\"\nstaticd_options=\"-A 127.0.0.1\"\n"
      "bgpd_options=\"-A 127.0.0.1\"\n",
      fabric.topology().routing.is_fare() ? "yes" : "no");
}

std::vector<std::string> sonic_commands(const ExportedFabric& fabric, NodeId node) {
  require_ports(fabric, node);
  const Topology& topology = fabric.topology();
  const NodeSite& site = topology.node(node);
  // The databases come up after the container.
  std::vector<std::string> commands{
      "timeout 120 bash -c 'until sonic-db-cli PING | grep -q PONG; do sleep 1; done'"};
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    commands.push_back("config interface startup " + sonic_port(i));
    commands.push_back(fmt::format("config interface ip add {} {}", sonic_port(i),
                                   netio::prefix_text(port_prefix(fabric, {node, PortId{i}}))));
  }
  const std::string own = usid_address(site.usid);
  const auto set = [&](const std::string& key, const std::string& fields) {
    commands.push_back(fmt::format("sonic-db-cli CONFIG_DB HSET '{}' {}", key, fields));
  };
  set("SRV6_MY_LOCATORS|mrclab", "prefix " + own + " block_len 32 node_len 16 func_len 0");
  set("SRV6_MY_SIDS|mrclab|" + own + "/48", "action uN decap_dscp_mode pipe");
  for (uint32_t i = 0; topology.segments == Segments::kAdjacency && i < site.ports.size(); ++i) {
    const PortRef port{node, PortId{i}};
    if (topology.node(topology.port(port).peer.node).role == NodeRole::kHost) continue;
    set("SRV6_MY_SIDS|mrclab|" + usid_address(adjacency_usid(topology, port)) + "/48",
        fmt::format("action uA interface {} adj {}", sonic_port(i),
                    to_string(fabric.next_hop(port))));
  }
  for (const PortRoutes& port : plain_routes_by_port(fabric, node)) {
    for (const netio::Route& route : port.routes) {
      commands.push_back(fmt::format("vtysh -c 'configure terminal' -c 'ipv6 route {} {} {}'",
                                     netio::prefix_text(route.destination), to_string(*route.via),
                                     sonic_port(port.port)));
    }
  }
  return commands;
}

std::string eos_config(const ExportedFabric& fabric, NodeId node) {
  const NodeSite& site = fabric.topology().node(node);
  const std::string own = usid_address(site.usid) + "/48";
  std::string text = fmt::format("hostname {}\n!\nservice routing protocols model multi-agent\n!\n",
                                 fabric.name(node));
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    text += fmt::format(
        "interface Ethernet{}\n   no switchport\n   ipv6 enable\n   ipv6 address {}\n!\n", i + 1,
        netio::prefix_text(port_prefix(fabric, {node, PortId{i}})));
  }
  text += fmt::format("interface Loopback0\n   ipv6 address {}\n!\nipv6 unicast-routing\n!\n", own);
  for (const PortRoutes& port : plain_routes_by_port(fabric, node)) {
    for (const netio::Route& route : port.routes) {
      text += fmt::format("ipv6 route {} Ethernet{} {}\n", netio::prefix_text(route.destination),
                          port.port + 1, to_string(*route.via));
    }
  }
  return text + fmt::format(
                    "!\nrouter srv6\n   vrf default\n      micro-segment domain mrclab\n"
                    "         block 5f00::/32\n      locator mrclab\n"
                    "         prefix micro-segment domain mrclab end usid 0x{:04x}\n!\nend\n",
                    site.usid.value);
}

std::vector<std::string> unsaid(const ExportedFabric& fabric) {
  const bool adjacency = fabric.topology().segments == Segments::kAdjacency;
  const bool leaf = fabric.topology().decap == Decap::kLeaf;
  const bool fare = fabric.topology().routing.is_fare();
  std::vector<std::string> list;
  switch (fabric.options().switches) {
    case SwitchKind::kMrclab: break;
    case SwitchKind::kFrr:
      list.push_back(
          "FRR: a switch's own uSIDs are routes of the kernel's (FRR 10.3 has static-sids for "
          "them).");
      if (fare) list.push_back("FRR writes no link bandwidth above 25.6 Gb/s, and divides none.");
      break;
    case SwitchKind::kSonicVs:
      list.push_back(
          "SONiC: written after its static SRv6 design; no image was tried. The virtual "
          "switch takes uSIDs into its databases; whether its virtual ASIC shifts is not "
          "known to us.");
      if (adjacency) list.push_back("SONiC: uA needs sources of October 2025 or later.");
      if (fare) list.push_back("SONiC: its BGP (routing: fare) is not configured here.");
      break;
    case SwitchKind::kCeos:
      list.push_back(
          "EOS: written after what its documentation has of micro-segments (uN from 4.34.2F "
          "on); no image was tried, and whether cEOS shifts without an ASIC is not known "
          "to us.");
      if (adjacency)
        list.push_back("EOS: the uAs of `segments: adjacency` are not configured here.");
      if (leaf) list.push_back("EOS: whether its uN strips the outer header is not known to us.");
      if (fare) list.push_back("EOS: its BGP (routing: fare) is not configured here.");
      break;
  }
  return list;
}

}  // namespace mrclab::lab
