#pragma once
// What effects make of a switch that is not ours, as the objects that carry them out there: rules of the
// packet filter at its ports, the shaper of a port, routes. Pure; foreign_switches.h puts them in place.
//
//   wire dark, a port without carrier, a switch        a rule that drops what leaves
//   that hangs or has no table
//   loss at random or of every n-th frame              a rule that drops a share
//   bit errors on a wire                               rules that drop a share, by the frame's length
//   bit errors inside a switch                         rules that overwrite a byte behind the headers of
//                                                      the outer packet: only the ICRC can find it
//   rate, buffer                                       the shaper: its rate, its queue; where a BPF program
//                                                      forwards also its account of that queue
//   trimming, marks                                    the program's account of the queue
//   wrong or missing route                             a route replaced or deleted

#include <string>
#include <vector>

#include "fabric/node/effect.h"
#include "fabric/topology/topology.h"
#include "netio/kernel/shaper.h"

namespace mrclab::lab {

/// State of a port and the wire that leaves it; as built by default.
struct PortImpairment {
  bool dark = false;
  Probability loss;
  uint32_t every = 0;
  BitErrorRate errors;      ///< on the wire
  BitErrorRate corruption;  ///< inside the switch
  BitRate rate;             ///< zero: the link's own
  Probability buffer_lost;
  bool trim_off = false;  ///< only switches that trim, and mark, are impaired by these two
  EcnKind ecn = EcnKind::kAsBuilt;
  bool operator==(const PortImpairment&) const = default;
};

struct SwitchImpairment {
  std::vector<PortImpairment> ports;
  std::vector<SwitchRoute> routes;  ///< by uSID
  bool operator==(const SwitchImpairment&) const = default;
};

/// `degraded`: effects that are in force (faults::FaultState). A link without carrier at both ends
/// is down as a whole, which foreign_switches.h carries out; if it leads to a node of ours, a rule
/// here drops frames, too.
SwitchImpairment impairment_of(const Topology& topology, NodeId node,
                               const std::vector<Effect>& degraded);

/// The node whose objects an effect changes; invalid where that is a node of ours.
NodeId concerned_switch(const Topology& topology, const Effect& effect);

/// In the packet filter's language; empty where nothing is wrong. `by`: of the switch. The kernel's own
/// forwarding gets no error for a drop. Open vSwitch does, in the middle of a batch, and would send the frame
/// again: there the rule takes the frame away to an interface that leads nowhere.
std::vector<std::string> egress_rules(const PortImpairment& impairment, Forwarding by);

/// The shaper for an emulation that is `dilation` times slower than the modelled hardware.
netio::Shaper shaper_of(const Topology& topology, PortRef port, const PortImpairment& impairment,
                        double dilation);

}  // namespace mrclab::lab
