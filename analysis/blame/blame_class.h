#pragma once
// What of a class of components that explain the same packets can be ruled out, because their
// failure would have shown elsewhere. Only analysis/blame/blame*.cc and the scores of chaos include this.
//
// A host with a queue pair reports at once when one of its ports goes dark (the paper's EV events), so
// its silence means light. A transceiver, a plane, and a switch without power turn all their ports
// dark, a dead NIC all of its own: where one of them stayed lit it was something smaller.

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analysis/blame/blame_search.h"

namespace mrclab::analysis {

/// Does the link share the fate of a plane? Of a listed fabric, the ports of hosts alone do.
bool in_plane(const Topology& topology, const Link& link, uint32_t plane);
/// The links that share the fate of a component.
std::vector<LinkId> links_of(const Topology& topology, const Component& component);

/// Which ports of hosts were lit, by their hosts' reports, or the lack of any.
class PortLight {
 public:
  /// By host and plane: from when to when a port was dark.
  using DarkSpans =
      std::map<std::pair<uint32_t, uint32_t>, std::vector<std::pair<FabricTime, FabricTime>>>;
  PortLight(const Topology& topology, const PacketHistory& packets, const EventHistory& events);
  /// `speaks`: by host, does it report its ports?
  PortLight(const Topology& topology, std::vector<bool> speaks, DarkSpans dark)
      : topology_(topology), speaks_(std::move(speaks)), dark_(std::move(dark)) {}
  /// Was the port lit beyond doubt, all the time? False where no host would have reported its loss.
  bool lit(uint32_t host, uint32_t plane, FabricTime from, FabricTime until) const;
  /// Did a host's port at one of these links stay lit?
  bool any_lit(const std::vector<LinkId>& links, FabricTime from, FabricTime until) const;
  /// Had a host's port at one of these links light at `t`, when something turned dark? It was not reported dark within
  /// kAtOnce, or not before its host did so itself, later.
  bool any_lit_at(const std::vector<LinkId>& links, FabricTime t) const;

 private:
  const Topology& topology_;
  std::vector<bool> speaks_;  // by host
  DarkSpans dark_;            ///< by any report
  DarkSpans own_;             ///< by hosts' reports of their own ports; empty of a mapper's
};

/// Ports without light among the bad samples of a suspicion.
struct DarkWords {
  bool any = false;                        ///< some port was dark
  std::set<uint32_t> speakers;             ///< hosts that reported a port of their own
  FabricTime first = FabricTime::never();  ///< when the first of them was found dark
};
DarkWords dark_words(std::span<const BlameSample> samples, const std::vector<uint32_t>& bad);
/// Would a fault of this component have shown elsewhere, too, where nothing was seen?
bool ruled_out(const Topology& topology, const PortLight& light, const DarkWords& dark,
               const Component& component, FabricTime from, FabricTime until);
/// Removes components that are ruled out, unless none would be left. A wire without light may stand
/// for its link: a host that sees no light sends nothing that would show the other direction; and for an optic whose other
/// links carried nothing meanwhile.
void narrow_class(const Topology& topology, const PortLight& light,
                  std::span<const BlameSample> samples, Suspicion& suspicion);
/// The two wires of a link are the link.
void join_wires(const Topology& topology, Component& component, std::vector<Component>& or_else);
/// How many different places: a wire, and its link, are one.
uint32_t places_of(const Topology& topology, const Component& component,
                   const std::vector<Component>& or_else);

}  // namespace mrclab::analysis
