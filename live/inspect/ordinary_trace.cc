#include "live/inspect/ordinary_trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "console/terminal.h"
#include "fabric/paths/path_list.h"
#include "fabric/text/yaml.h"
#include "live/bringup/node_plan.h"
#include "live/bringup/ordinary_paths.h"
#include "netio/kernel/route.h"
#include "plan/path_trace.h"

namespace mrclab::lab {
namespace {

using Json = nlohmann::ordered_json;

/// Two hosts, and how the kernel of the first reaches the second.
class OrdinaryWays {
 public:
  OrdinaryWays(const Topology& topology, uint32_t from, uint32_t to)
      : topology_(topology), from_(from), to_(to) {}

  Ipv6Address carrier(Path path) const {
    return make_carrier(topology_, from_, to_, path, UsidRole::kHostKernel);
  }

  /// Empty for what is no way of the lab's.
  std::optional<Path> path_of(const netio::RouteWay& way) const {
    const auto* encap = std::get_if<netio::EncapRed>(&way.action);
    if (encap == nullptr) return std::nullopt;
    for (const Path path : paths_between(topology_, from_, to_)) {
      if (port(path) == way.dev && carrier(path) == encap->segment) return path;
    }
    return std::nullopt;
  }

  std::vector<Path> ways(const LabRecord& lab) const {
    std::vector<Path> paths;
    auto netlink = open(lab);
    for (const netio::RouteWay& way :
         netio::installed_ways(netlink, kStubPeer, host_address(topology_, to_))) {
      if (const auto path = path_of(way)) paths.push_back(*path);
    }
    // The kernel has them in the order in which ports came up.
    std::sort(paths.begin(), paths.end(),
              [](Path a, Path b) { return ev_of(a).value < ev_of(b).value; });
    return paths;
  }

  std::string port(Path path) const {
    return topology_.port({topology_.host(from_), PortId{path.plane}}).name();
  }

 private:
  netio::NamespaceNetlink open(const LabRecord& lab) const {
    return netio::NamespaceNetlink(netio::NetworkNamespace::open(
        namespace_name(lab.lab, topology_.node(topology_.host(from_)).name)));
  }

  const Topology& topology_;
  uint32_t from_, to_;
};

}  // namespace

Json explain_ordinary(const Topology& topology, const std::string& from, const std::string& to,
                      const std::optional<LabRecord>& lab) {
  const uint32_t source = numbered_host(topology, from), destination = numbered_host(topology, to);
  if (source == destination) throw InputError("found one host twice: expected two hosts");
  const OrdinaryWays there(topology, source, destination);
  Json json{{"fabric", topology.name}};
  if (lab) json["lab"] = lab->lab;
  json["from"] = from;
  json["to"] = to;
  json["address"] = to_string(host_address(topology, destination));
  json["ways"] = Json::array();
  const std::vector<Path> paths =
      lab ? there.ways(*lab) : ordinary_paths(topology, source, destination, DeadParts(topology));
  for (const Path path : paths) {
    json["ways"].push_back({{"path", to_string(path)},
                            {"ev", fmt::format("0x{:08x}", ev_of(path).value)},
                            {"port", from + ":" + there.port(path)},
                            {"carrier", to_string(there.carrier(path))}});
  }
  return json;
}

std::string ordinary_trace_text(const Json& ordinary) {
  const bool live = ordinary.contains("lab");
  const auto from = ordinary.at("from").get<std::string>();
  const auto to = ordinary.at("to").get<std::string>();
  std::string text = fmt::format(
      "ordinary traffic (ping, iperf3, ssh) from {} to {}, {}\n{}\n\n", from, to,
      ordinary.at("address").get<std::string>(),
      live ? "in lab " + ordinary.at("lab").get<std::string>() + ", as the kernels have it now"
           : "in the fabric " + ordinary.at("fabric").get<std::string>() + ", as built");
  if (ordinary.at("ways").empty()) return text + "no way is left\n";
  std::vector<std::vector<std::string>> rows{{"PATH", "EV", "OUT OF", "OUTER DESTINATION"}};
  for (const Json& way : ordinary.at("ways")) {
    rows.push_back({way.at("path").get<std::string>(), way.at("ev").get<std::string>(),
                    way.at("port").get<std::string>(), way.at("carrier").get<std::string>()});
  }
  return text + table(rows) +
         "\nA flow takes one of these; which, its host's kernel decides: see ip -s link.\n";
}

}  // namespace mrclab::lab
