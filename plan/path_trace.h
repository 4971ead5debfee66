#pragma once
// EV <-> path <-> carrier <-> hops, explained: `mrclab trace p3/u1 h0 h5`, `--ev 0x0003c001 h0 h5`,
// `mrclab trace 5f00:0:2300:1301:2301:e301::`.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fabric/topology/path.h"
#include "fabric/topology/topology.h"

namespace mrclab::lab {

/// {"ev", "path", "from", "to", "carrier", "hops": [{"wire", "link", "carrier", "usid", "rate_bps",
/// "propagation_ns"}], "idle_ns"}. Throws InputError if the hosts have no such path.
nlohmann::ordered_json explain_path(const Topology& topology, Path path, const std::string& from,
                                    const std::string& to);

/// {"carrier", "read_at", "usids": [{"usid", "role", "plane", "index", "node"?, "leads_to"?,
/// "problem"?}], "path"?, "ev"?, "destination"?, "whole", "exists"}: `exists` is false if the fabric
/// lacks something that the carrier names. Throws InputError for what is no carrier at all.
nlohmann::ordered_json explain_carrier(const Topology& topology, const std::string& text);

/// Both as text for people, 80 columns.
std::string path_trace_text(const nlohmann::ordered_json& path);
std::string carrier_trace_text(const nlohmann::ordered_json& carrier);

/// The number of a host by its name. Throws InputError.
uint32_t numbered_host(const Topology& topology, const std::string& name);
/// "p3/u1", or an EV such as 0x0003c001. Throws InputError that names the wrong bits.
Path parse_path_or_ev(const std::string& text);
/// An IPv6 address, whatever block it is in.
std::optional<Ipv6Address> parse_address(const std::string& text);

}  // namespace mrclab::lab
