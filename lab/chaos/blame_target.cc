#include "lab/chaos/blame_target.h"

#include <algorithm>

#include "analysis/blame/blame.h"
#include "analysis/history/path_wires.h"
#include "analysis/measure/pause_times.h"
#include "fabric/paths/path_list.h"
#include "fabric/topology/path.h"
#include "faults/schedule.h"

namespace mrclab::lab {
namespace {

using faults::FaultKind;

BlameTarget of_links(const Topology& t, const std::vector<LinkId>& links) {
  BlameTarget target;
  for (const LinkId id : links) {
    target.links.insert(id);
    target.wires.insert({t.link(id).a_to_b, t.link(id).b_to_a});
  }
  return target;
}

BlameTarget of_node(const Topology& t, NodeId node) {
  std::vector<LinkId> links;
  for (const Port& port : t.node(node).ports) links.push_back(port.link);
  BlameTarget target = of_links(t, links);
  target.nodes.insert(node);
  const bool host = t.node(node).role == NodeRole::kHost;
  target.names.insert((host ? "host " : "switch ") + t.node(node).name);
  return target;
}

BlameTarget of_plane(const Topology& t, uint32_t plane) {
  std::vector<LinkId> links;
  for (const Link& link : t.links) {
    if (t.port(link.a).plane == plane) links.push_back(link.id);
  }
  BlameTarget target = of_links(t, links);
  target.names.insert("plane p" + std::to_string(plane));
  return target;
}

BlameTarget of_wire(const Topology& t, WireId wire) {
  BlameTarget target;
  target.names = {"wire " + t.wire_name(wire), "link " + t.link_name(t.wire(wire).link)};
  target.wires = {wire};
  target.links = {t.wire(wire).link};
  return target;
}

bool is_route(FaultKind kind) {
  return kind == FaultKind::kSwitchWrongRoute || kind == FaultKind::kStaleTable ||
         kind == FaultKind::kSwitchMissingRoute;
}

/// The routes out of a port; several of one switch are its table.
BlameTarget of_route(const Topology& t, PortRef port, size_t routes) {
  const Port& p = t.port(port);
  BlameTarget target = of_links(t, {p.link});
  target.names = {"link " + t.link_name(p.link), "route " + t.port_name(port),
                  "wire " + t.wire_name(p.out)};
  if (routes > 1) target.names.insert("switch " + t.node(port.node).name);
  target.wires = {p.out};
  return target;
}

BlameTarget of_port(const Topology& t, PortRef port) {
  const Port& p = t.port(port);
  BlameTarget target = of_links(t, {p.link});
  target.names = {"link " + t.link_name(p.link)};
  return target;
}

BlameTarget of_link(const Topology& t, LinkId link) {
  BlameTarget target = of_links(t, {link});
  target.names = {"link " + t.link_name(link)};
  return target;
}

/// A line card. What has the same links looks the same: a switch of one card, an optic of all its ports.
BlameTarget of_card(const Topology& t, PortRef first) {
  std::vector<LinkId> links;
  for (const PortRef port : t.line_card_of(first)) links.push_back(t.port(port).link);
  BlameTarget target = of_links(t, links);
  target.names = {"line_card " + t.line_card_name(first)};
  if (links.size() == t.node(first.node).ports.size()) {
    target.names.insert("switch " + t.node(first.node).name);
  }
  for (const Optic& optic : t.optics) {
    if (std::set<LinkId>(optic.links.begin(), optic.links.end()) == target.links) {
      target.names.insert("optic " + optic.name);
    }
  }
  for (const LinkId link : links) target.parts.push_back(of_link(t, link));
  return target;
}

BlameTarget of_zone(const Topology& t, const PowerZone& zone) {
  BlameTarget target;
  target.names = {"power_zone " + zone.name};
  for (const NodeId node : zone.nodes) {
    BlameTarget part = of_node(t, node);
    target.links.insert(part.links.begin(), part.links.end());
    target.wires.insert(part.wires.begin(), part.wires.end());
    target.nodes.insert(node);
    target.parts.push_back(std::move(part));
  }
  return target;
}

/// Could this kind have made a node write down this cause?
bool makes(FaultKind kind, DropCause cause) {
  const bool dark = cause == DropCause::kWireDown || cause == DropCause::kPortDown;
  const bool astray = cause == DropCause::kUnknownUsid || cause == DropCause::kNoReceiver ||
                      cause == DropCause::kEndOfCarrier || cause == DropCause::kForeignCarrier ||
                      cause == DropCause::kHopLimit;
  switch (kind) {
    case FaultKind::kBlackhole: return cause == DropCause::kWireLoss;
    case FaultKind::kWireLoss: return cause == DropCause::kWireLoss || dark;
    case FaultKind::kLossyEv: return cause == DropCause::kWireLoss;
    case FaultKind::kDuplicate:
    case FaultKind::kEcnAlways: return false;  // neither loses a packet nor darkens a port
    case FaultKind::kBitErrors:
      return cause == DropCause::kFrameCheck || cause == DropCause::kBadIcrc;
    case FaultKind::kSwitchHang: return cause == DropCause::kSwitchHung;
    case FaultKind::kSwitchCrash: return dark || cause == DropCause::kSwitchDown;
    case FaultKind::kSwitchReboot:
      return dark || cause == DropCause::kSwitchDown || cause == DropCause::kUnknownUsid;
    case FaultKind::kSlowReceiver:
    case FaultKind::kPcieStall: return cause == DropCause::kReceiveBufferFull;
    case FaultKind::kPowerLoss:
      return dark || astray || cause == DropCause::kSwitchDown || cause == DropCause::kHostDown;
    case FaultKind::kHostRestart: return dark || astray || cause == DropCause::kHostDown;
    case FaultKind::kSwitchWrongRoute:
    case FaultKind::kStaleTable:
    case FaultKind::kSwitchMissingRoute: return astray;
    default: return dark;
  }
}

class HitCounter {
 public:
  HitCounter(const Topology& t, const analysis::Evidence& evidence, const analysis::TakenWays& ways,
             const faults::Fault& fault, const BlameTarget& target)
      : t_(t),
        packets_(evidence.packets()),
        fault_(fault),
        target_(target),
        on_(faults::interval_of(fault, t)),
        ways_(ways) {}

  uint64_t attempts() const {
    uint64_t count = 0;
    for (const analysis::Attempt& a : packets_.attempts()) {
      if (a.start + kBlameSlack < on_.start || a.start > on_.last_heal) continue;
      count += is_hit(a) ? 1 : 0;
    }
    return count;
  }

  uint64_t words(const analysis::EventHistory& events) const {
    uint64_t count = 0;
    for (const analysis::PathNews& news : events.paths()) {
      if (news.ev || news.usable || !news.local || news.plane >= t_.planes) continue;
      if (news.t < on_.start || news.t > on_.last_heal + kBlameSlack) continue;
      const Port& port = t_.port({t_.host(news.host), PortId{news.plane}});
      const bool dark = makes(fault_.kind, DropCause::kPortDown);
      count += dark && target_.wires.contains(port.in) ? 1 : 0;
    }
    return count;
  }

 private:
  /// Its way, as far as it is known; where switches chose it and none shows it, the first wire.
  std::vector<WireId> wires_of(const analysis::Attempt& a, const analysis::Flow& flow) const {
    if (analysis::chosen_on_the_way(t_, flow, a.ev)) {
      if (const auto way = ways_.of(a)) return way->wires;
      const auto path = path_of(a.ev);
      return {t_.port({t_.host(flow.source), PortId{path ? path->plane : 0}}).out};
    }
    const auto path = analysis::built_path(t_, flow.source, flow.destination, a.ev);
    if (!path) return {};
    return analysis::wires_of(t_, flow.source, flow.destination, *path);
  }

  bool is_hit(const analysis::Attempt& a) const {
    const auto& flow = packets_.flows()[packets_.packets()[a.packet].flow];
    const std::vector<WireId> wires = wires_of(a, flow);
    if (wires.empty()) return false;
    const auto over = [&](auto belongs) {
      return std::any_of(wires.begin(), wires.end(), belongs);
    };
    const auto over_wire = [&](WireId w) { return target_.wires.contains(w); };
    const auto over_node = [&](WireId w) { return target_.nodes.contains(t_.wire(w).to.node); };
    if (fault_.kind == FaultKind::kDuplicate) {
      return a.start >= on_.start && a.copies > 0 && over(over_wire);
    }
    if (fault_.kind == FaultKind::kEcnAlways) {
      return a.start >= on_.start && a.marked && over(over_node);
    }
    if (a.fate != analysis::Fate::kDropped || !makes(fault_.kind, a.cause)) return false;
    if (a.ended < on_.start || a.ended > on_.last_heal + kBlameSlack) return false;
    if (fault_.kind == FaultKind::kLossyEv) {
      const auto& evs = fault_.targets.evs;
      return std::count(evs.begin(), evs.end(), a.ev) > 0 &&
             target_.nodes.contains(t_.host(flow.source));
    }
    if (is_route(fault_.kind)) return over(over_wire);
    if (a.cause == DropCause::kBadIcrc) return over(over_node);
    if (a.where.port.value >= t_.node(a.where.node).ports.size()) return false;
    const Port& port = t_.port(a.where);
    return target_.wires.contains(port.in) || target_.wires.contains(port.out) ||
           target_.nodes.contains(a.where.node);
  }

  const Topology& t_;
  const analysis::PacketHistory& packets_;
  const faults::Fault& fault_;
  const BlameTarget& target_;
  faults::Interval on_;
  const analysis::TakenWays& ways_;
};

/// A storm loses no packet. It is observable if it paused a switch's port without a gap for longer than a slow
/// NIC does.
uint64_t pauses_by(const Topology& t, const analysis::Evidence& evidence,
                   const faults::Fault& fault, const BlameTarget& target) {
  const faults::Interval on = faults::interval_of(fault, t);
  const analysis::PauseTimes times(t, evidence.packets().pauses(), {}, FabricTime::never());
  uint64_t hits = 0;
  for (const analysis::PausedSpan& span : times.spans()) {
    if (!target.nodes.contains(t.port(span.port).peer.node)) continue;
    const FabricTime held =
        std::min(span.until, on.last_heal + kBlameSlack) - std::max(span.from, on.start);
    if (held >= t.base_rtt * analysis::kStormRtts) return kObservableHits;
    hits = std::max<uint64_t>(hits, held > FabricTime::zero() ? 1 : 0);
  }
  return hits;
}

}  // namespace

std::vector<BlameTarget> blame_targets(const Topology& t, const faults::Fault& fault) {
  std::vector<BlameTarget> targets;
  const faults::Targets& aimed = fault.targets;
  for (const LinkId link : aimed.links) {
    targets.push_back(of_link(t, link));
  }
  for (const WireId wire : aimed.wires) targets.push_back(of_wire(t, wire));
  for (const OpticId optic : aimed.optics) {
    targets.push_back(of_links(t, t.optic(optic).links));
    targets.back().names = {"optic " + t.optic(optic).name};
  }
  for (const PortRef port : aimed.ports) {
    if (fault.kind == FaultKind::kLineCard) {
      targets.push_back(of_card(t, port));
      continue;
    }
    targets.push_back(is_route(fault.kind) ? of_route(t, port, aimed.ports.size())
                                           : of_port(t, port));
  }
  for (const NodeId node : aimed.nodes) {
    targets.push_back(of_node(t, node));
    if (fault.kind != FaultKind::kLossyEv) continue;
    std::set<std::string>& names = targets.back().names;
    names.clear();
    for (const EntropyValue ev : aimed.evs) {
      names.insert("path " + t.node(node).name + " " + to_string(*path_of(ev)));
    }
  }
  for (const uint32_t zone : aimed.zones) targets.push_back(of_zone(t, t.power_zones[zone]));
  for (const uint32_t plane : aimed.planes) targets.push_back(of_plane(t, plane));
  return targets;
}

std::string_view without_evidence(FaultKind kind) {
  switch (kind) {
    case FaultKind::kTrimOff:
    case FaultKind::kBuffer: return "shows under congestion only, as discards of full queues";
    case FaultKind::kEcnOff: return "a missing mark looks like one that was not due";
    case FaultKind::kHostPause: return "a host without work looks the same";
    case FaultKind::kDrain:
    case FaultKind::kDenylist: return "nothing is broken: an operator's act";
    case FaultKind::kDelay:
    case FaultKind::kJitter:
    case FaultKind::kReorder:
    case FaultKind::kRate: return "looks like a queue: nothing is lost";
    default: return "";
  }
}

uint64_t hits_of(const Topology& topology, const analysis::Evidence& evidence,
                 const analysis::TakenWays& ways, const faults::Fault& fault,
                 const BlameTarget& target) {
  if (fault.kind == FaultKind::kIncast) {  // so many datagrams and no less are a burst
    const auto size = static_cast<uint64_t>(fault.settings.count(faults::Parameter::kSize));
    return size >= 17 * topology.pmtu ? kObservableHits : 0;
  }
  if (fault.kind == FaultKind::kPauseStorm) return pauses_by(topology, evidence, fault, target);
  const HitCounter counter(topology, evidence, ways, fault, target);
  return counter.attempts() + counter.words(evidence.events()) * kObservableHits;
}

}  // namespace mrclab::lab
