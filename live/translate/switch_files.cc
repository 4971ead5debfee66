#include "live/translate/switch_files.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fabric/text/yaml.h"
#include "fabric/topology/path.h"
#include "fabric/topology/routes.h"
#include "live/translate/node_setup.h"
#include "live/translate/switch_config.h"

namespace mrclab::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kBlock = "5f00::/32";

constexpr std::string_view kSonicNotes =
    "SONiC config_db.json of each switch, from the plan of the fabric.\n"
    "Verified: every planned link is in DEVICE_NEIGHBOR at both of its ends; uSIDs, uA and routes\n"
    "  are those of the lab's own switch, read back and compared. Nothing was loaded into SONiC, and\n"
    "  no YANG model was at hand to validate with (sonic-srv6.yang, sonic-static-route.yang).\n"
    "From documents: SRV6_MY_LOCATORS and SRV6_MY_SIDS, of the static SRv6 design (HLD 0.4 of\n"
    "  November 2025) and its YANG models of August 2026; uA needs sources of October 2025 or later.\n"
    "  STATIC_ROUTE with `blackhole` as sonic-mgmt's SRv6 tests have it.\n"
    "Ours: lanes are numbered four to a port in order of ports. Take lanes, alias and speed of your\n"
    "  platform's port_config.ini, and names of ports with them. decap_dscp_mode is set, because\n"
    "  orchagent makes a tunnel that takes outer headers off only then.\n"
    "Not in it: QoS (ECN marks, trimming, queues), BGP (routing: fare).\n";
constexpr std::string_view kFrrNotes =
    "FRR 10.3 and later, from the plan of the fabric.\n"
    "Verified: vtysh -C of FRR 8.4.4 (Debian 12) reads addresses and routes; uSIDs, uA and routes are\n"
    "  those of the lab's own switch, read back and compared; and the lab forwards by the same routes\n"
    "  with FRR 8.4.4 and the kernel's seg6local (export containerlab --switches frr).\n"
    "From documents: `segment-routing`, whose block-len, node-len, usid and static-sids 8.4.4 has not,\n"
    "  of FRR's manual. uA on plain 10.3 is in doubt: SONiC carries patches to staticd for it.\n"
    "Not in it: QoS (ECN marks, trimming, queues), BGP (routing: fare).\n";
constexpr std::string_view kEosNotes =
    "Arista EOS 4.34.2F and later, from the plan of the fabric.\n"
    "Verified: uSIDs and routes are those of the lab's own switch, read back and compared. Nothing was\n"
    "  loaded into EOS.\n"
    "From documents of others: router srv6 and micro-segments (uN from 4.34.2F, uA from 4.35.0F, which\n"
    "  is not written here). On some platforms a TCAM profile for F3216 is needed.\n"
    "  Reported for 7060X6: no zero uSID inside a carrier; carriers here have none.\n"
    "Not in it: QoS (ECN marks, trimming, queues), BGP (routing: fare).\n";

std::string_view notes_of(SwitchSystem system) {
  return system == SwitchSystem::kSonic ? kSonicNotes
         : system == SwitchSystem::kFrr ? kFrrNotes
                                        : kEosNotes;
}

std::string sid_prefix(Usid usid) { return usid_address(usid) + "/48"; }

/// A line of notes behind each comment sign.
std::string commented(std::string_view notes) {
  std::string text;
  for (size_t at = 0; at < notes.size();) {
    const size_t end = notes.find('\n', at);
    text += "! " + std::string(notes.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return text;
}

/// A switch's ports toward switches, whose links its uAs name.
std::vector<PortId> named_links(const Topology& topology, NodeId node) {
  std::vector<PortId> ports;
  const NodeSite& site = topology.node(node);
  for (uint32_t i = 0; topology.segments == Segments::kAdjacency && i < site.ports.size(); ++i) {
    if (topology.node(site.ports[i].peer.node).role != NodeRole::kHost) ports.push_back(PortId{i});
  }
  return ports;
}

void add_sonic_srv6(const ExportedFabric& fabric, NodeId node, Json& config) {
  const Topology& topology = fabric.topology();
  const NodeSite& site = topology.node(node);
  const std::vector<PortId> links = named_links(topology, node);
  const std::string own = sid_prefix(site.usid);
  config["SRV6_MY_LOCATORS"]["mrclab"] = {{"prefix", usid_address(site.usid)},
                                          {"block_len", "32"},
                                          {"node_len", "16"},
                                          {"func_len", links.empty() ? "0" : "16"},
                                          {"arg_len", "0"}};
  Json& sids = config["SRV6_MY_SIDS"];
  sids["mrclab|" + own] = {{"action", "uN"}, {"decap_dscp_mode", "pipe"}};
  for (const PortId port : links) {
    sids["mrclab|" + sid_prefix(adjacency_usid(topology, {node, port}))] = {
        {"action", "uA"},
        {"interface", sonic_port(port.value)},
        {"adj", to_string(fabric.next_hop({node, port}))}};
  }
}

std::string sonic_file(const ExportedFabric& fabric, NodeId node) {
  const Topology& topology = fabric.topology();
  const NodeSite& site = topology.node(node);
  Json config;
  config["DEVICE_METADATA"]["localhost"] = {
      {"hostname", fabric.name(node)},
      {"type", site.role == NodeRole::kT0 ? "LeafRouter" : "SpineRouter"}};
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    const PortRef port{node, PortId{i}}, peer = topology.port(port).peer;
    const std::string name = sonic_port(i);
    const uint64_t mbps = topology.link(topology.port(port).link).rate.bps / 1'000'000;
    config["PORT"][name] = {
        {"alias", fmt::format("etp{}", i + 1)},
        {"lanes", fmt::format("{},{},{},{}", 4 * i + 1, 4 * i + 2, 4 * i + 3, 4 * i + 4)},
        {"speed", std::to_string(mbps)},
        {"mtu", "9100"},
        {"admin_status", "up"}};
    config["INTERFACE"][name] = Json::object();
    config["INTERFACE"][name + "|" + netio::prefix_text(port_prefix(fabric, port))] =
        Json::object();
    config["DEVICE_NEIGHBOR"][name] = {
        {"name", fabric.name(peer.node)},
        {"port",
         fabric.is_host(peer.node) ? topology.port(peer).name() : sonic_port(peer.port.value)}};
    const NodeRole role = topology.node(peer.node).role;
    config["DEVICE_NEIGHBOR_METADATA"][fabric.name(peer.node)] = {
        {"type", role == NodeRole::kHost ? "Server"
                 : role == NodeRole::kT0 ? "LeafRouter"
                                         : "SpineRouter"}};
  }
  add_sonic_srv6(fabric, node, config);
  for (const netio::Route& route : exported_routes(fabric, node, true)) {
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      if (fabric.interface({node, PortId{i}}) != route.dev) continue;
      config["STATIC_ROUTE"]["default|" + netio::prefix_text(route.destination)] = {
          {"nexthop", to_string(*route.via)}, {"ifname", sonic_port(i)}};
    }
  }
  config["STATIC_ROUTE"]["default|" + std::string(kBlock)] = {{"blackhole", "true"}};
  return config.dump(2) + "\n";
}

std::string frr_file(const ExportedFabric& fabric, NodeId node) {
  const Topology& topology = fabric.topology();
  const NodeSite& site = topology.node(node);
  const std::string own = sid_prefix(site.usid);
  std::string text = commented(kFrrNotes) + "hostname " + fabric.name(node) + "\n!\n";
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    const PortRef port{node, PortId{i}}, peer = topology.port(port).peer;
    text += fmt::format("interface {}\n description {}:{}\n ipv6 address {}\nexit\n!\n",
                        fabric.interface(port), fabric.name(peer.node), topology.port(peer).name(),
                        netio::prefix_text(port_prefix(fabric, port)));
  }
  text += "segment-routing\n srv6\n  locators\n   locator mrclab\n    prefix " + own +
          " block-len 32 node-len 16 func-bits 16\n    behavior usid\n   exit\n  exit\n"
          "  static-sids\n   sid " +
          own + " locator mrclab behavior uN\n";
  for (const PortId port : named_links(topology, node)) {
    text += fmt::format("   sid {} locator mrclab behavior uA interface {} nexthop {}\n",
                        sid_prefix(adjacency_usid(topology, {node, port})),
                        fabric.interface({node, port}), to_string(fabric.next_hop({node, port})));
  }
  text += "  exit\n exit\nexit\n!\n";
  for (const netio::Route& route : exported_routes(fabric, node, true)) {
    text += fmt::format("ipv6 route {} {} {}\n", netio::prefix_text(route.destination),
                        to_string(*route.via), route.dev);
  }
  return text + "ipv6 route " + std::string(kBlock) + " blackhole\n";
}

/// The same lines as for cEOS in another lab, and what a real switch is to do with uSIDs that nobody has.
std::string eos_file(const ExportedFabric& fabric, NodeId node) {
  std::string text = eos_config(fabric, node);
  const size_t end = text.rfind("!\nrouter srv6");
  text.insert(end, "ipv6 route " + std::string(kBlock) + " Null0\n");
  return commented(kEosNotes) + text;
}

}  // namespace

SwitchFiles switch_files(SwitchSystem system, const FabricShape& shape, const std::string& only) {
  ExportOptions options;
  options.switches = system == SwitchSystem::kSonic ? SwitchKind::kSonicVs
                     : system == SwitchSystem::kFrr ? SwitchKind::kFrr
                                                    : SwitchKind::kCeos;
  const ExportedFabric fabric(shape, options, containerlab_tool());
  SwitchFiles out;
  out.notes = notes_of(system);
  for (const NodeSite& site : fabric.topology().nodes) {
    if (fabric.is_host(site.id)) continue;
    const std::string& name = fabric.name(site.id);
    if (!only.empty() && only != site.name && only != name) continue;
    out.files.push_back(system == SwitchSystem::kSonic
                            ? LabFile{name + ".config_db.json", sonic_file(fabric, site.id)}
                        : system == SwitchSystem::kFrr
                            ? LabFile{name + ".frr.conf", frr_file(fabric, site.id)}
                            : LabFile{name + ".eos.conf", eos_file(fabric, site.id)});
  }
  if (out.files.empty()) {
    throw InputError("--switch: found " + in_quotes(only) +
                     ": expected a switch of the fabric, such as " +
                     fabric.topology().nodes.back().name);
  }
  return out;
}

}  // namespace mrclab::lab
