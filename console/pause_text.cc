#include "console/pause_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "console/terminal.h"
#include "fabric/history/report_json.h"
#include "fabric/node/pause_account.h"
#include "fabric/text/yaml.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

std::string size_text(Bytes size) {
  if (size.value < 10'000) return fmt::format("{} B", size.value);
  return fmt::format("{:.1f} kB", static_cast<double>(size.value) / 1e3);
}

bool has_paused(const PortPauses& port) {
  return port.xoff_sent + port.xon_sent + port.xoff_received + port.xon_received > 0;
}

/// "stands, asks", for now; "-" is neither.
std::string state_text(const PortPauses& port) {
  if (port.storm) return "STORM";
  if (port.stands) return port.asks ? "stands, asks" : "stands";
  return port.asks ? "asks" : "-";
}

std::string head_text(const std::string& name, const NodePauses& node) {
  if (node.watchdog.empty()) {
    return fmt::format("{}'s NIC: {} of {} held, XOFF above {}\n", name, size_text(node.held),
                       size_text(node.buffer), size_text(node.xoff_above));
  }
  return fmt::format(
      "{}: {} of {} held, of these shared {} of {}\n{:{}}  XOFF above {}, watchdog {}\n", name,
      size_text(node.held), size_text(node.buffer), size_text(node.shared_held),
      size_text(node.shared), "", name.size(), size_text(node.xoff_above), node.watchdog);
}

std::vector<std::string> row_of(const PortPauses& port, bool is_switch) {
  std::vector<std::string> row{port.port,
                               std::to_string(port.priority),
                               fmt::format("{}/{}", port.xoff_sent, port.xon_sent),
                               fmt::format("{}/{}", port.xoff_received, port.xon_received),
                               to_string(port.stood),
                               state_text(port)};
  if (!is_switch) return row;
  row.push_back(std::to_string(port.storms));
  row.push_back(size_text(port.held));
  row.push_back(size_text(port.most_held));
  row.push_back(size_text(port.headroom_held));
  return row;
}

}  // namespace

json pauses_of(json answer, const std::string& node) {
  if (node.empty()) return answer;
  json& nodes = answer.at("nodes");
  const auto found = nodes.find(node);
  if (found == nodes.end()) {
    throw InputError("found " + in_quotes(node) +
                     ": expected a node of ours, in a fabric that pauses RoCE's data");
  }
  nodes = json{{node, json(*found)}};
  return answer;
}

std::string pauses_text(const json& answer, bool all_ports) {
  const json& nodes = answer.at("nodes");
  if (nodes.empty()) return "nothing pauses in this fabric: no RoCE, or roce without pfc\n";
  std::string text;
  for (const auto& [name, said] : nodes.items()) {
    const auto node = report_from_json<NodePauses>(said);
    const bool is_switch = !node.watchdog.empty();
    std::vector<std::vector<std::string>> rows{
        {"PORT", "PRIO", "SENT", "RECEIVED", "PAUSED FOR", "NOW"}};
    if (is_switch) rows[0].insert(rows[0].end(), {"STORMS", "HELD", "MOST", "HEADROOM"});
    for (const PortPauses& port : node.ports) {
      if (all_ports || has_paused(port)) rows.push_back(row_of(port, is_switch));
    }
    if (rows.size() == 1) continue;
    text += (text.empty() ? "" : "\n") + head_text(name, node) + table(rows);
  }
  if (text.empty()) return "no pause frame was sent so far\n";
  return text +
         "\nSENT, RECEIVED: pause frames, XOFF/XON. NOW: the port stands, or asks its neighbour "
         "to.\n";
}

}  // namespace mrclab::lab
