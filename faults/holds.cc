// What each kind of fault holds degraded, and what follows from that.

#include <algorithm>

#include "fabric/path.h"
#include "faults/fault.h"

namespace mrclab::faults {
namespace {

/// An instant plus a duration, either of which may be never().
FabricTime later(FabricTime at, FabricTime by) { return by == FabricTime::never() ? by : at + by; }

void hold_link_down(const Link& link, FabricTime from, FabricTime until, std::vector<Hold>& out) {
  for (const WireId wire : {link.a_to_b, link.b_to_a}) {
    out.push_back({{TargetKind::kWireLight, wire, {}}, from, until, {}});
  }
  for (const PortRef port : {link.a, link.b}) {
    out.push_back({{TargetKind::kCarrier, {}, port}, from, until, {}});
  }
}

struct HoldsOf {
  const Topology& topology;
  FabricTime at;
  std::vector<Hold>& out;

  void operator()(const LinkDown& fault) const {
    for (const LinkId link : fault.links) {
      hold_link_down(topology.link(link), at, later(at, fault.duration), out);
    }
  }
  void operator()(const WireLossFault& fault) const {
    const FabricTime until = later(at, fault.duration);
    for (const WireId id : fault.wires) {
      if (fault.carrier_lost) {
        out.push_back({{TargetKind::kWireLight, id, {}}, at, until, {}});
        out.push_back({{TargetKind::kCarrier, {}, topology.wire(id).to}, at, until, {}});
      } else {
        out.push_back({{TargetKind::kWireFrames, id, {}}, at, until, fault.loss});
      }
    }
  }
  void operator()(const OpticGlitch& fault) const {
    for (const OpticId optic : fault.optics) {
      FabricTime from = at;
      for (const LinkId link : topology.optic(optic).links) {
        hold_link_down(topology.link(link), from, from + fault.down, out);
        from += fault.stagger;
      }
    }
  }
  void operator()(const DenylistFault& fault) const {
    const FabricTime until = later(at, fault.duration);
    const std::vector<NodeId> everybody{NodeId{}};
    for (const NodeId host : fault.hosts) {
      for (const EntropyValue ev : fault.evs) {
        for (const NodeId toward : fault.toward.empty() ? everybody : fault.toward) {
          out.push_back({{TargetKind::kPath, {}, {}, host, ev, toward}, at, until, {}});
        }
      }
    }
  }
};

}  // namespace

std::vector<Hold> holds_of(const Fault& fault, const Topology& topology) {
  std::vector<Hold> holds;
  std::visit(HoldsOf{topology, fault.at, holds}, fault.kind);
  return holds;
}

std::vector<WireId> affected_wires(const Fault& fault, const Topology& topology) {
  std::vector<WireId> wires;
  for (const Hold& hold : holds_of(fault, topology)) {
    if (hold.target.kind == TargetKind::kPath) continue;
    // A port without carrier starts no frames, so its outgoing wire carries none either.
    wires.push_back(hold.target.kind == TargetKind::kCarrier ? topology.port(hold.target.port).out
                                                             : hold.target.wire);
  }
  std::sort(wires.begin(), wires.end());
  wires.erase(std::unique(wires.begin(), wires.end()), wires.end());
  return wires;
}

std::vector<LinkId> affected_links(const Fault& fault, const Topology& topology) {
  std::vector<LinkId> links;
  for (const WireId wire : affected_wires(fault, topology)) {
    links.push_back(topology.wire(wire).link);
  }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  return links;
}

Interval interval_of(const Fault& fault, const Topology& topology) {
  Interval interval{FabricTime::never(), fault.at};
  for (const Hold& hold : holds_of(fault, topology)) {
    interval.start = std::min(interval.start, hold.from);
    interval.last_heal = std::max(interval.last_heal, hold.until);
  }
  return interval;
}

std::string to_string(const Target& target, const Topology& topology) {
  switch (target.kind) {
    case TargetKind::kWireLight: return "wire " + topology.wire_name(target.wire);
    case TargetKind::kWireFrames: return "frames on " + topology.wire_name(target.wire);
    case TargetKind::kCarrier: return "carrier of " + topology.port_name(target.port);
    case TargetKind::kPath:
      return "path " + mrclab::to_string(path_of(target.ev).value_or(Path{})) + " on " +
             topology.node(target.host).name +
             (target.toward.valid() ? " toward " + topology.node(target.toward).name : "");
  }
  return "";
}

}  // namespace mrclab::faults
