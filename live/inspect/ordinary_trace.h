#pragma once
// `mrclab trace h0 h5`: the ways of ordinary traffic (ping, iperf3, ssh) between two hosts, in a lab that is
// up as their kernels have them now, else as built.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "fabric/topology/topology.h"
#include "live/bringup/lab_record.h"

namespace mrclab::lab {

/// {"fabric", "lab"?, "from", "to", "address", "ways": [{"path", "ev", "port", "carrier"}]}. `lab` empty: as
/// built. Needs root for a lab. Throws InputError for names that are no two hosts.
nlohmann::ordered_json explain_ordinary(const Topology& topology, const std::string& from,
                                        const std::string& to, const std::optional<LabRecord>& lab);
/// As text for people, 80 columns.
std::string ordinary_trace_text(const nlohmann::ordered_json& ordinary);

}  // namespace mrclab::lab
