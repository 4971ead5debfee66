#pragma once
// The forwarding table of a switch as people read it, whoever was asked for it: `inspect` and the live page show the
// same rows in the same words.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/topology/topology.h"

namespace mrclab::lab {

/// {"usid"?, "action", "port"?}; an empty word is left out.
nlohmann::json switch_row(const std::string& usid, std::string_view action,
                          const std::string& port = "");
std::string usid_text(uint16_t usid);  ///< "2100"
/// Empty for a port that the switch does not have.
std::string switch_port_name(const NodeSite& site, uint32_t port);

struct SwitchRowCount {
  uint64_t packets = 0, bytes = 0;
};
/// How one host is reached without a carrier.
struct HostRoute {
  uint32_t host = 0;
  std::vector<PortId> ports;  ///< more than one: a hash chooses, or each has its share
  std::optional<SwitchRowCount> counter = std::nullopt;
  std::vector<uint32_t> weights = {};  ///< of the ports, where switches route by themselves
};

/// Neighbours that are reached alike in one row. `routes` by host.
nlohmann::json rows_of_hosts(const NodeSite& site, const std::vector<HostRoute>& routes);

/// The rows of a switch of ours, out of its answer (switchd/table_json.h).
nlohmann::json rows_of_switch(const NodeSite& site, const nlohmann::json& table);

/// {"node", "forwarding", "rows"}.
nlohmann::json table_of_rows(const NodeSite& site, nlohmann::json rows);
/// The same out of the answer of a switch of ours, and its "speaker" if it has one.
nlohmann::json table_of_switch(const NodeSite& site, const nlohmann::json& said);

/// The same of a host whose NIC speaks (endpoint/host/host_table.h): which planes lead to whom.
nlohmann::json table_of_host(const NodeSite& site, const nlohmann::json& said);

/// {"node", "forwarding", "rows"} as columns, 80 wide; with "speaker" (switchd/table_json.h) also its sessions, and
/// the routes to each host that it received and announced.
std::string switch_table_text(const nlohmann::json& table);

}  // namespace mrclab::lab
