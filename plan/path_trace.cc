#include "plan/path_trace.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <charconv>

#include "analysis/history/path_wires.h"
#include "console/terminal.h"
#include "fabric/base/byte_order.h"
#include "fabric/paths/path_list.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/graph_paths.h"
#include "fabric/topology/routes.h"

namespace mrclab::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kUsidBytes = 2;
constexpr size_t kBlockBytes = 4;

std::string_view role_word(UsidRole role) {
  switch (role) {
    case UsidRole::kT1: return "T1";
    case UsidRole::kT0: return "T0";
    case UsidRole::kNicPort: return "NIC port";
    case UsidRole::kHostKernel: return "host's kernel";
    case UsidRole::kAdjacency: return "link";
    case UsidRole::kT2: return "T2";
  }
  return "?";
}

std::string ev_word(Path path) { return fmt::format("0x{:08x}", ev_of(path).value); }

uint32_t indices_in_fabric(const Topology& topology, UsidRole role) {
  switch (role) {
    case UsidRole::kT1: return topology.t1_per_plane;
    case UsidRole::kT0: return topology.t0_per_plane;
    default: return topology.hosts_per_t0;
  }
}

/// The same where there are no planes: `reader` is the switch that the uSID before it names.
Json explain_usid_of_graph(const Topology& topology, Usid usid, std::optional<NodeId>& reader) {
  Json json{{"usid", fmt::format("{:04x}", usid.value)}};
  for (const NodeSite& site : topology.nodes) {
    if (site.role == NodeRole::kHost || site.usid != usid) continue;
    json["role"] = role_word(site.role == NodeRole::kT0   ? UsidRole::kT0
                             : site.role == NodeRole::kT1 ? UsidRole::kT1
                                                          : UsidRole::kT2);
    json["node"] = site.name;
    reader = site.id;
    return json;
  }
  const std::optional<UsidFields> fields = topology.usids.parse(usid);
  const auto names_a_switch = [](UsidRole role) {
    return role == UsidRole::kT0 || role == UsidRole::kT1 || role == UsidRole::kT2;
  };
  if (!fields || names_a_switch(fields->role)) {
    json["problem"] = fmt::format("no node of {} has it", topology.name);
    return json;
  }
  json["role"] = role_word(fields->role);
  json["index"] = fields->index;
  if (!reader) {
    json["node"] = "of the switch that reads it";
    return json;
  }
  const auto out = fields->role == UsidRole::kAdjacency ? port_of_adjacency(topology, *reader, usid)
                                                        : port_toward(topology, *reader, usid);
  if (!out) {
    json["problem"] = fmt::format("{} has no such port", topology.node(*reader).name);
    return json;
  }
  json["node"] = topology.node(topology.port({*reader, *out}).peer.node).name;
  return json;
}

/// What one uSID means; `row` is the T0 before it, which a NIC port hangs on.
Json explain_usid(const Topology& topology, Usid usid, std::optional<uint32_t>& row) {
  Json json{{"usid", fmt::format("{:04x}", usid.value)}};
  const std::optional<UsidFields> fields = topology.usids.parse(usid);
  if (!fields) {
    json["problem"] = fmt::format("no role has it in the address plan {}", topology.usids.name());
    return json;
  }
  json["role"] = role_word(fields->role);
  json["plane"] = fields->plane;
  json["index"] = fields->index;
  const uint32_t count = indices_in_fabric(topology, fields->role);
  if (fields->plane >= topology.planes) {
    json["problem"] = fmt::format("{} has {} planes", topology.name, topology.planes);
  } else if (fields->index >= count) {
    const bool end = fields->role == UsidRole::kNicPort || fields->role == UsidRole::kHostKernel;
    json["problem"] = fmt::format("{} has {} {}", topology.name, count,
                                  end ? "hosts at a T0" : "of them in a plane");
  } else if (fields->role == UsidRole::kT0) {
    row = fields->index;
    json["node"] = topology.node(topology.t0(fields->plane, fields->index)).name;
  } else if (fields->role == UsidRole::kT1) {
    json["node"] = topology.node(topology.t1(fields->plane, fields->index)).name;
  } else if (row) {
    json["node"] = topology.node(topology.host(*row * topology.hosts_per_t0 + fields->index)).name;
  } else {
    json["node"] = fmt::format("host at d{} of the T0 that reads it", fields->index);
  }
  return json;
}

struct CarrierEnds {
  Path path;
  uint32_t destination = 0;
};

/// Where switches send a packet that leaves by the NIC's port with that carrier: to a host, or to each host of the switch
/// that ends the carrier.
std::vector<std::vector<PortRef>> ways_of(const Topology& topology, PortRef nic,
                                          Ipv6Address carrier) {
  std::vector<PortRef> exits{nic};
  while (exits.size() <= kUsidsInCarrier + 1) {
    const NodeSite& site = topology.node(topology.port(exits.back()).peer.node);
    if (site.role == NodeRole::kHost) return {exits};
    auto out = port_of_adjacency(topology, site.id, active_usid(carrier));
    if (!out && active_usid(carrier) != site.usid) return {};
    const bool ends = end_of_carrier(carrier);
    shift_carrier(carrier);
    if (!out) out = port_toward(topology, site.id, active_usid(carrier));
    if (out) {
      exits.push_back({site.id, *out});
    } else if (ends && topology.decap == Decap::kLeaf) {
      std::vector<std::vector<PortRef>> ways;
      for (uint32_t i = 0; i < site.ports.size(); ++i) {
        if (topology.node(site.ports[i].peer.node).role != NodeRole::kHost) continue;
        ways.push_back(exits);
        ways.back().push_back({site.id, PortId{i}});
      }
      return ways;
    } else {
      return {};
    }
  }
  return {};
}

/// The path and host of a whole carrier. Empty if it is none of this fabric's or means several.
std::optional<CarrierEnds> ends_of(const Topology& topology, const Ipv6Address& carrier) {
  if (const auto route = parse_carrier(topology, carrier)) {
    return CarrierEnds{route->path,
                       route->destination_row * topology.hosts_per_t0 + route->downlink};
  }
  if (topology.regular()) return std::nullopt;
  std::optional<CarrierEnds> found;
  for (uint32_t from = 0; from < topology.host_count(); ++from) {
    for (uint32_t p = 0; p < topology.planes; ++p) {
      for (const std::vector<PortRef>& exits :
           ways_of(topology, {topology.host(from), PortId{p}}, carrier)) {
        const uint32_t to = topology.port(exits.back()).peer.node.value;
        const auto path = from == to ? std::nullopt : topology.graph->along(to, exits);
        if (!path || make_carrier(topology, from, to, *path) != carrier) continue;
        if (found && (found->destination != to || found->path != path)) return std::nullopt;
        found = CarrierEnds{*path, to};
      }
    }
  }
  return found;
}

/// "p3.t0-0:u1 -> p3.t1-1:d0": from the switch of one uSID to the node of the next.
std::optional<std::string> way(const Topology& topology, const Json& from, Usid next) {
  if (!from.contains("node")) return std::nullopt;
  const auto node = topology.find_node(from.at("node").get<std::string>());
  if (!node) return std::nullopt;
  const std::optional<PortId> port = port_toward(topology, *node, next);
  if (!port) return std::nullopt;
  return topology.wire_name(topology.port({*node, *port}).out);
}

}  // namespace

std::optional<Ipv6Address> parse_address(const std::string& text) {
  Ipv6Address address{};
  if (::inet_pton(AF_INET6, text.c_str(), address.data()) != 1) return std::nullopt;
  return address;
}

uint32_t numbered_host(const Topology& topology, const std::string& name) {
  const auto node = topology.find_node(name);
  if (node && topology.node(*node).role == NodeRole::kHost) return topology.node(*node).index;
  throw InputError(fmt::format("found {}, which is no host of the fabric {}: expected h0 to h{}",
                               in_quotes(name), topology.name, topology.host_count() - 1));
}

Path parse_path_or_ev(const std::string& text) {
  if (const auto path = parse_path(text)) return *path;
  uint32_t value = 0;
  const bool number = text.starts_with("0x");
  const char* end = text.data() + text.size();
  if (number) {
    const auto [stopped, error] = std::from_chars(text.data() + 2, end, value, 16);
    if (error == std::errc{} && stopped == end) {
      if (const auto path = path_of({value})) return *path;
      throw InputError(fmt::format(
          "found EV 0x{:08x}, which names no path: expected bits 31-24 zero and bits 15-14 set, "
          "such as {} of p3/u1",
          value, ev_word({3, 1})));
    }
  }
  throw InputError("found " + in_quotes(text) +
                   ", which is no path: expected p3/u1, p3/-, or an entropy value such as " +
                   ev_word({3, 1}));
}

Json explain_path(const Topology& topology, Path path, const std::string& from,
                  const std::string& to) {
  const uint32_t source = numbered_host(topology, from), destination = numbered_host(topology, to);
  if (source == destination) throw InputError("found one host twice: expected two hosts");
  const std::optional<Path> built =
      analysis::built_path(topology, source, destination, ev_of(path));
  if (!built) {
    const auto paths = paths_between(topology, source, destination);
    throw InputError(fmt::format("{} and {} have no path {} in the fabric {}: expected {} to {}",
                                 from, to, to_string(path), topology.name, to_string(paths.front()),
                                 to_string(paths.back())));
  }
  // Without a carrier the hosts' addresses stay as they are, and the first T0 hashes.
  Ipv6Address carrier = path.named() ? make_carrier(topology, source, destination, path)
                        : path.chosen == Chosen::kByHashIpv4 ? host_address_ipv4(destination)
                                                             : host_address(topology, destination);
  Json json{{"ev", ev_word(path)},
            {"path", to_string(path)},
            {"fabric", topology.name},
            {"from", from},
            {"to", to},
            {"carrier", to_string(carrier)},
            {"hops", Json::array()}};
  if (!path.named()) json["leads_over"] = to_string(*built);
  const std::vector<WireId> wires = analysis::wires_of(topology, source, destination, *built);
  for (const WireId id : wires) {
    const Wire& wire = topology.wire(id);
    if (id != wires.front() && path.named()) shift_carrier(carrier);
    json["hops"].push_back(
        {{"wire", topology.wire_name(id)},
         {"from", topology.port_name(wire.from)},
         {"to", topology.port_name(wire.to)},
         {"carrier", to_string(carrier)},
         {"usid", path.named() ? Json(fmt::format("{:04x}", active_usid(carrier).value)) : Json()},
         {"rate_bps", wire.rate.bps},
         {"propagation_ns", wire.propagation.ns()}});
  }
  constexpr Bytes kShortest{84};  // the smallest Ethernet frame with preamble and gap
  json["idle_shortest_ns"] = analysis::idle_transit(topology, wires, kShortest).ns();
  return json;
}

Json explain_carrier(const Topology& topology, const std::string& text) {
  const std::optional<Ipv6Address> carrier = parse_address(text);
  if (!carrier) {
    throw InputError("found " + in_quotes(text) +
                     ", which is no IPv6 address: expected a carrier such as "
                     "5f00:0:2300:1301:2301:e301::");
  }
  if (!in_usid_block(*carrier)) {
    throw InputError("found " + to_string(*carrier) +
                     ", which is no carrier: expected an address in 5f00:0::/32");
  }
  Json json{{"carrier", to_string(*carrier)}, {"fabric", topology.name}, {"usids", Json::array()}};
  std::optional<uint32_t> row;
  bool exists = true;
  std::vector<Usid> usids;
  for (size_t at = kBlockBytes; at < carrier->size(); at += kUsidBytes) {
    const Usid usid{load_be<uint16_t>(carrier->data() + at)};
    if (usid.value == 0) break;  // ends a carrier (RFC 9800 section 4.1)
    usids.push_back(usid);
  }
  std::optional<NodeId> reader;
  for (const Usid usid : usids) {
    json["usids"].push_back(topology.regular() ? explain_usid(topology, usid, row)
                                               : explain_usid_of_graph(topology, usid, reader));
    exists = exists && !json["usids"].back().contains("problem");
  }
  for (size_t i = 0; i + 1 < usids.size(); ++i) {
    Json& entry = json["usids"][i];
    if (const auto wire = way(topology, entry, usids[i + 1])) {
      entry["leads_over"] = *wire;
    } else if (entry.contains("node") && !json["usids"][i + 1].contains("problem")) {
      entry["problem"] = "it has no route for " + fmt::format("{:04x}", usids[i + 1].value);
      exists = false;
    }
  }
  if (usids.empty()) exists = false;
  if (const auto ends = ends_of(topology, *carrier)) {
    json["path"] = to_string(ends->path);
    json["ev"] = ev_word(ends->path);
    json["destination"] = topology.node(topology.host(ends->destination)).name;
  }
  json["exists"] = exists;
  return json;
}

std::string path_trace_text(const Json& path) {
  const std::string over = path.contains("leads_over")
                               ? ", which leads over " + path.at("leads_over").get<std::string>()
                               : "";
  std::string text =
      fmt::format("path     {}{}\nEV       {}\n{}  {}\nfabric   {}, {} to {}\n\n",
                  path.at("path").get<std::string>(), over, path.at("ev").get<std::string>(),
                  over.empty() ? "carrier" : "address", path.at("carrier").get<std::string>(),
                  path.at("fabric").get<std::string>(), path.at("from").get<std::string>(),
                  path.at("to").get<std::string>());
  std::vector<std::vector<std::string>> rows{{"FROM", "TO", "OUTER DESTINATION", "READS"}};
  for (const Json& hop : path.at("hops")) {
    rows.push_back({hop.at("from").get<std::string>(), hop.at("to").get<std::string>(),
                    hop.at("carrier").get<std::string>(),
                    hop.at("usid").is_null() ? "address" : hop.at("usid").get<std::string>()});
  }
  text += table(rows);
  const double us = static_cast<double>(path.at("idle_shortest_ns").get<int64_t>()) / 1'000;
  return text + fmt::format("\nthe shortest frame takes {:.3f} us where nothing else is\n", us);
}

std::string carrier_trace_text(const Json& carrier) {
  std::string text =
      fmt::format("carrier  {}\nfabric   {}\n", carrier.at("carrier").get<std::string>(),
                  carrier.at("fabric").get<std::string>());
  if (carrier.contains("path")) {
    text += fmt::format("path     {}, EV {}, to {}\n", carrier.at("path").get<std::string>(),
                        carrier.at("ev").get<std::string>(),
                        carrier.at("destination").get<std::string>());
  } else if (carrier.at("exists").get<bool>()) {
    text += "path     not whole: it was read on the way, what is left of it is below\n";
  }
  std::vector<std::vector<std::string>> rows{{"uSID", "ROLE", "IS", "LEADS OVER"}};
  for (const Json& usid : carrier.at("usids")) {
    std::string is = usid.value("node", "");
    if (is.empty() && usid.contains("index")) {
      is = fmt::format("plane {}, number {}", usid.at("plane").get<uint32_t>(),
                       usid.at("index").get<uint32_t>());
    }
    const std::string problem = usid.value("problem", "");
    rows.push_back({usid.at("usid").get<std::string>(), usid.value("role", "?"), is,
                    problem.empty() ? usid.value("leads_over", "-") : "! " + problem});
  }
  if (rows.size() == 1) return text + "\nit is at its end: no uSID is left\n";
  return text + "\n" + table(rows);
}

}  // namespace mrclab::lab
