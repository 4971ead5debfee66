#include "fabric/history/event_text.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace mrclab {
namespace {

constexpr std::array<std::string_view, 9> kEventKeys{"t_ps", "node", "port",  "kind",  "qp",
                                                     "ev",   "psn",  "cause", "detail"};

bool knows_keys(const nlohmann::json& line) {
  if (!line.is_object()) return false;
  for (const auto& item : line.items()) {
    if (std::find(kEventKeys.begin(), kEventKeys.end(), item.key()) == kEventKeys.end())
      return false;
  }
  return true;
}

}  // namespace

std::string event_line(const Topology& topology, NodeId node, const EventRecord& record) {
  nlohmann::ordered_json line{{"t_ps", record.t.ps()}, {"node", topology.node(node).name}};
  if (record.port) line["port"] = topology.port({node, *record.port}).name();
  line["kind"] = record.kind;
  if (record.qp) line["qp"] = record.qp->value;
  if (record.ev) line["ev"] = record.ev->value;
  if (record.psn) line["psn"] = record.psn->value();
  if (!record.cause.empty()) line["cause"] = record.cause;
  if (!record.detail.empty()) line["detail"] = record.detail;
  return line.dump();
}

std::optional<ParsedEvent> parse_event(const Topology& topology, const nlohmann::json& line) {
  if (!knows_keys(line)) return std::nullopt;
  ParsedEvent event;
  event.t = FabricTime::from_ps(line.at("t_ps").get<int64_t>());
  const auto node = line.at("node").get<std::string>();
  event.node = topology.find_node(node);
  line.at("kind").get_to(event.kind);
  if (line.contains("qp")) event.qp = Qpn{line["qp"].get<uint32_t>()};
  if (line.contains("ev")) event.ev = EntropyValue{line["ev"].get<uint32_t>()};
  if (line.contains("psn")) event.psn = Psn{line["psn"].get<uint32_t>()};
  event.cause = line.value("cause", std::string());
  event.detail = line.value("detail", std::string());
  if (event.node && line.contains("port")) {
    const auto port = topology.find_port(node + ":" + line["port"].get<std::string>());
    if (port) event.port = port->port;
  }
  return event;
}

}  // namespace mrclab
