#include "session/whole_look.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "fabric/text/input_error.h"
#include "session/session_order.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

constexpr size_t kWorstPorts = 16;

void require_tally(const Branch& branch) {
  if (branch.tally() == nullptr)
    throw InputError("this fabric is shown packet by packet: ask for its ports");
}

json counts_json(const FabricTally::SwitchCount& count) {
  return {{"sent_bytes", count.sent_bytes},
          {"lost", count.lost},
          {"trimmed", count.trimmed},
          {"marked", count.marked}};
}

struct PortTrouble {
  uint64_t lost = 0, trimmed = 0, marked = 0, queue = 0, most = 0;
};

/// By the port's name, from the switch's own counters ("u1.trimmed").
std::map<std::string, PortTrouble, std::less<>> troubles_of(
    const std::map<std::string, uint64_t>& counters) {
  std::map<std::string, PortTrouble, std::less<>> ports;
  for (const auto& [name, value] : counters) {
    const size_t dot = name.find('.');
    const std::string_view port = std::string_view(name).substr(0, dot);
    if (value == 0 || dot == std::string::npos || port == "total") continue;
    const std::string_view what = std::string_view(name).substr(dot + 1);
    PortTrouble& trouble = ports[std::string(port)];
    if (what == "trimmed") trouble.trimmed += value;
    if (what == "ecn_marked") trouble.marked += value;
    if (what == "data_depth_bytes") trouble.queue = value;
    if (what == "data_depth_max_bytes") trouble.most = value;
    if (what.starts_with("drop.") || what == "tx_lost") trouble.lost += value;
  }
  return ports;
}

}  // namespace

json switch_json(const Branch& branch, std::string_view name) {
  require_tally(branch);
  const Topology& topology = branch.topology();
  const std::optional<NodeId> node = topology.find_node(name);
  if (!node || topology.node(*node).role == NodeRole::kHost) {
    throw InputError("found " + in_quotes(std::string(name)) +
                     ", which names no switch of this fabric");
  }
  const NodeSite& site = topology.node(*node);
  const auto troubles = troubles_of(branch.status_of(site).counters);
  struct Row {
    PortTrouble trouble;
    Port port;
  };
  std::vector<Row> rows;
  for (const Port& port : site.ports) {
    const auto found = troubles.find(port.name());
    if (found != troubles.end()) rows.push_back({found->second, port});
  }
  const auto worse = [](const Row& a, const Row& b) {
    return std::tuple(a.trouble.lost, a.trouble.trimmed, a.trouble.most) >
           std::tuple(b.trouble.lost, b.trouble.trimmed, b.trouble.most);
  };
  std::stable_sort(rows.begin(), rows.end(), worse);
  rows.resize(std::min(rows.size(), kWorstPorts));
  json worst = json::array();
  for (const Row& row : rows) {
    worst.push_back({{"port", row.port.name()},
                     {"to", topology.port_name(row.port.peer)},
                     {"lost", row.trouble.lost},
                     {"trimmed", row.trouble.trimmed},
                     {"marked", row.trouble.marked},
                     {"queue_bytes", row.trouble.queue},
                     {"queue_max_bytes", row.trouble.most}});
  }
  constexpr std::array<std::string_view, 4> kRoles{"host", "t0", "t1", "t2"};
  return {{"switch", site.name},
          {"plane", site.plane},
          {"role", kRoles.at(static_cast<size_t>(site.role))},
          {"index", site.index},
          {"at_ps", branch.told_at().ps()},
          {"ports", site.ports.size()},
          {"counts", counts_json(branch.tally()->counted(*node))},
          {"worst", std::move(worst)}};
}

json rack_json(const Branch& branch, uint32_t rack) {
  require_tally(branch);
  const Topology& topology = branch.topology();
  if (rack >= topology.t0_per_plane) {
    throw InputError("found the rack " + std::to_string(rack) + ": the fabric has " +
                     std::to_string(topology.t0_per_plane));
  }
  const uint32_t first = rack * topology.hosts_per_t0;
  const uint32_t last = std::min(first + topology.hosts_per_t0, topology.host_count()) - 1;
  json planes = json::array(), hosts = json::array();
  for (uint32_t plane = 0; plane < topology.planes; ++plane) {
    const NodeId t0 = topology.t0(plane, rack);
    planes.push_back(counts_json(branch.tally()->counted(t0)));
    planes.back()["switch"] = topology.node(t0).name;
  }
  for (uint32_t host = first; host <= last; ++host) {
    const endpoint::HostStats stats = branch.account(host).stats;
    uint64_t received = 0;
    for (const endpoint::PlaneStats& plane : stats.planes) received += plane.rx_payload_bytes;
    hosts.push_back({received, stats.retransmissions, stats.losses_detected});
  }
  const std::vector<uint32_t>& followed = branch.recording().part().racks();
  return {{"rack", rack},
          {"first", first},
          {"last", last},
          {"followed", std::find(followed.begin(), followed.end(), rack) != followed.end()},
          {"at_ps", branch.told_at().ps()},
          {"planes", std::move(planes)},
          {"hosts", std::move(hosts)}};
}

SessionAnswer look_at_switch(const Order& order) {
  json answer = switch_json(order.session().branch(), order.words.at("name").get<std::string>());
  answer["say"] = "switch";
  return {std::move(answer)};
}

SessionAnswer look_at_rack(const Order& order) {
  json answer = rack_json(order.session().branch(), order.number("rack"));
  answer["say"] = "rack";
  return {std::move(answer)};
}

}  // namespace mrclab::lab
