#include "scenario/spec/queue_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "console/terminal.h"
#include "endpoint/options/profile_maker.h"
#include "endpoint/plan/connection_plan.h"
#include "fabric/topology/path.h"
#include "scenario/spec/connections.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

std::string qp_name(const Topology& topology, uint32_t host, Qpn qpn) {
  return fmt::format("{}:0x{:06x}", topology.node(topology.host(host)).name, qpn.value);
}

std::optional<uint32_t> parse_qpn(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  uint32_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

QueuePairEnd find_queue_pair(const Topology& topology, const Scenario& scenario,
                             const std::string& text) {
  const size_t colon = text.find(':');
  const std::string host = colon == std::string::npos ? "" : text.substr(0, colon);
  const std::optional<uint32_t> qpn =
      parse_qpn(colon == std::string::npos ? std::string_view(text)
                                           : std::string_view(text).substr(colon + 1));
  std::vector<QueuePairEnd> found;
  for (const QueuePairEnd& end : queue_pairs(scenario)) {
    const bool here = host.empty() || topology.node(topology.host(end.host)).name == host;
    if (here && qpn && end.qpn.value == *qpn) found.push_back(end);
  }
  if (found.size() == 1) return found.front();
  throw InputError(fmt::format("--qp: found {}, which names {}; 'mrclab inspect --qps' lists them",
                               in_quotes(text),
                               found.empty() ? "no queue pair" : "queue pairs of several hosts"));
}

}  // namespace

std::vector<QueuePairEnd> queue_pairs(const Scenario& scenario) {
  const endpoint::TransportKind all =
      endpoint::make_profile(scenario.transport, scenario.topology).transport;
  std::vector<QueuePairEnd> ends;
  for (const endpoint::ConnectionPlan& plan : connections_of(scenario)) {
    const endpoint::EndPlan& a = plan.initiator;
    const endpoint::EndPlan& b = plan.acceptor;
    const endpoint::TransportKind kind = plan.transport.value_or(all);
    ends.push_back({a.host, a.qpn, b.host, b.qpn, plan.workload, kind});
    ends.push_back({b.host, b.qpn, a.host, a.qpn, plan.workload, kind});
  }
  std::stable_sort(ends.begin(), ends.end(),
                   [](const QueuePairEnd& a, const QueuePairEnd& b) { return a.host < b.host; });
  return ends;
}

json describe_queue_pairs(const Scenario& scenario) {
  json list = json::array();
  for (const QueuePairEnd& end : queue_pairs(scenario)) {
    list.push_back({{"qp", qp_name(scenario.topology, end.host, end.qpn)},
                    {"host", scenario.topology.node(scenario.topology.host(end.host)).name},
                    {"qpn", end.qpn.value},
                    {"peer", qp_name(scenario.topology, end.peer_host, end.peer_qpn)},
                    {"workload", endpoint::name_of(scenario.workload[end.workload])}});
  }
  return list;
}

std::string queue_pairs_text(const json& pairs) {
  std::vector<std::vector<std::string>> rows{{"QUEUE PAIR", "PEER", "WORKLOAD"}};
  for (const json& pair : pairs) {
    rows.push_back({pair.at("qp").get<std::string>(), pair.at("peer").get<std::string>(),
                    pair.at("workload").get<std::string>()});
  }
  return table(rows);
}

RecordFilter step_filter(const Topology& topology, const Scenario* scenario,
                         const std::string& node, const std::string& port, const std::string& qp) {
  RecordFilter filter;
  if (!node.empty()) {
    filter.node = topology.find_node(node);
    if (!filter.node) {
      throw InputError("--node: found " + in_quotes(node) + ", which names no node of this lab");
    }
  }
  if (!port.empty()) {
    const std::optional<PortRef> found = topology.find_port(port);
    if (!found) {
      throw InputError("--port: found " + in_quotes(port) +
                       ", which names no port of this lab: expected a name such as \"h0:p0\"");
    }
    filter.node = found->node;
    filter.port = found->port;
  }
  if (!qp.empty()) {
    if (scenario == nullptr) throw InputError("--qp: this lab runs no scenario: no queue pairs");
    const QueuePairEnd end = find_queue_pair(topology, *scenario, qp);
    filter.node = topology.host(end.host);
    filter.qp = {end.qpn, end.peer_qpn, host_address(topology, end.peer_host)};
  }
  return filter;
}

FabricTime parse_instant(const std::string& text, const Topology& topology, FabricTime now,
                         const Scenario* scenario) {
  if (text == "end") {
    if (scenario == nullptr || scenario->end == FabricTime::never()) {
      throw InputError("this lab runs no scenario that has an end");
    }
    return scenario->end;
  }
  const bool relative = text.starts_with('+');
  const YamlValue value =
      read_yaml_text(relative ? text.substr(1) : text, "time").with_rtt(topology.base_rtt);
  return (relative ? now : FabricTime::zero()) + value.as_time();
}

}  // namespace mrclab::lab
