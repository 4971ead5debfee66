#pragma once
// A fabric as JSON, for `inspect`: nodes, links, and the entropy values between two hosts.

#include <functional>
#include <nlohmann/json.hpp>

#include "fabric/topology/topology.h"

namespace mrclab::lab {

/// {"fabric", "planes", "forwarding", "base_rtt_ns", "nodes": [...], "links": [...]}.
nlohmann::json describe_fabric(const Topology& topology, std::string_view lab,
                               const std::function<bool(LinkId)>& link_is_up);

/// [{"ev", "path", "carrier"}] for every path from one host to another, by plane and uplink.
nlohmann::json describe_paths(const Topology& topology, uint32_t from, uint32_t to);

/// The same as text for people.
std::string fabric_text(const nlohmann::json& description);
std::string paths_text(const nlohmann::json& paths);

}  // namespace mrclab::lab
