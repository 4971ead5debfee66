#pragma once
// One text line per scheduled effect: how a schedule travels to the daemons and into a run folder.
//   <at_ps> <sequence> <fault> <heals 0|1> wire <id> up|down
//   ...                                    loss <wire id> <ppb>
//   ...                                    carrier <node id> <port id> up|down
//   ...                                    ev <host node id> <ev> <node id>|all denied|good

#include <optional>
#include <string>
#include <string_view>

#include "fabric/effect.h"
#include "fabric/topology.h"

namespace mrclab {

std::string to_text(const ScheduledEffect& effect);
/// Any text at all; empty if it is not such a line or names nothing in the topology.
std::optional<ScheduledEffect> parse_effect(const Topology& topology, std::string_view line);

/// "h0:p0 carrier down", for event logs.
std::string describe(const Topology& topology, const Effect& effect);

/// The nodes that must be told: both ends of a wire, the port's own node,
/// the host whose path it is.
void for_each_concerned(const Topology& topology, const Effect& effect, auto&& tell) {
  if (const auto* state = std::get_if<WireState>(&effect)) {
    tell(topology.wire(state->wire).from.node);
    tell(topology.wire(state->wire).to.node);
  } else if (const auto* loss = std::get_if<WireLoss>(&effect)) {
    tell(topology.wire(loss->wire).from.node);
    tell(topology.wire(loss->wire).to.node);
  } else if (const auto* carrier = std::get_if<PortCarrier>(&effect)) {
    tell(carrier->port.node);
  } else if (const auto* denial = std::get_if<EvDenial>(&effect)) {
    tell(denial->host);
  }
}

}  // namespace mrclab
