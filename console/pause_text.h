#pragma once
// `inspect --pauses`: pauses as reported by the nodes of a persistent lab, as text for people.

#include <nlohmann/json.hpp>
#include <string>

namespace mrclab::lab {

/// The answer of `pauses`, {"fabric_ps", "nodes": {name: NodePauses}}, with the node of that name alone; empty: all.
/// Throws InputError if none has it, ReportError.
nlohmann::json pauses_of(nlohmann::json answer, const std::string& node);

/// A block for each node, with its buffer, its watchdog and a line for each port. `all_ports`: without it ports
/// and nodes are left out of which no pause frame was sent or received.
std::string pauses_text(const nlohmann::json& answer, bool all_ports);

}  // namespace mrclab::lab
