#pragma once
// Effects as text: one line per scheduled effect is how a schedule travels to the daemons and into
// a run folder.
//   <at_ps> <sequence> <fault> <heals 0|1> <effect> <field>...
// The fields stand in the order of fabric/node/effect_fields.h: ids by number ("-" if invalid), a port as
// <node>/<port>, words as they are, everything else in the smallest unit of its type.

#include <optional>
#include <string>
#include <string_view>

#include "fabric/node/effect_fields.h"
#include "fabric/topology/topology.h"

namespace mrclab {

std::string to_text(const ScheduledEffect& effect);
/// Any text at all; empty if it is not such a line or names nothing in the topology.
std::optional<ScheduledEffect> parse_effect(const Topology& topology, std::string_view line);

/// What the effect is about, by name: "h0:p0", "p0.t0-0:u1->p0.t1-1:d0", "h0 p0/u1 toward h4".
std::string target_name(const Topology& topology, const Effect& effect);
/// For event logs: "port_carrier h0:p0 up=no", "wire_loss h0:p0->p0.t0-0:d0 as built".
std::string describe(const Topology& topology, const Effect& effect);

/// The nodes that must get it: both ends of a wire, else the one node that executes it.
void for_each_concerned(const Topology& topology, const Effect& effect, auto&& tell) {
  std::visit(
      [&](const auto& e) {
        if constexpr (requires { e.wire; }) {
          tell(topology.wire(e.wire).from.node);
          tell(topology.wire(e.wire).to.node);
        } else if constexpr (requires { e.port.node; }) {
          tell(e.port.node);
        } else if constexpr (requires { e.host; }) {
          tell(e.host);
        } else {
          tell(e.node);
        }
      },
      effect);
}

}  // namespace mrclab
