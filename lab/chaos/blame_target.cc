#include "lab/chaos/blame_target.h"

#include <algorithm>

#include "analysis/blame/blame.h"
#include "analysis/blame/blame_class.h"
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
    target.wires.insert({t.link(id).a_to_b(), t.link(id).b_to_a()});
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
    if (analysis::in_plane(t, link, plane)) links.push_back(link.id);
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

/// What a kind does to packets.
enum class Damage : uint8_t { kNone, kLoses, kCopies, kMarks, kRefuses, kBursts, kPauses };

Damage damage_of(FaultKind kind) {
  if (!without_evidence(kind).empty()) return Damage::kNone;
  switch (kind) {
    case FaultKind::kDuplicate: return Damage::kCopies;
    case FaultKind::kEcnAlways: return Damage::kMarks;
    case FaultKind::kSlowReceiver:
    case FaultKind::kPcieStall: return Damage::kRefuses;
    case FaultKind::kIncast:
    case FaultKind::kAttack: return Damage::kBursts;
    case FaultKind::kPauseStorm: return Damage::kPauses;
    default: return Damage::kLoses;
  }
}

class HitCounter {
 public:
  HitCounter(const Topology& t, const analysis::Evidence& evidence, const analysis::TakenWays& ways,
             const BlameCase& of, std::span<const BlameCase> rivals)
      : t_(t),
        packets_(evidence.packets()),
        fault_(*of.fault),
        target_(*of.target),
        on_(faults::interval_of(fault_, t)),
        ways_(ways) {
    for (const BlameCase& rival : rivals) {
      const faults::Interval on = faults::interval_of(*rival.fault, t);
      const bool meets = on.start <= on_.last_heal + kBlameSlack && on_.start <= on.last_heal;
      if (meets) rivals_.emplace_back(rival, on);
    }
  }

  TargetHits attempts() const {
    TargetHits hits;
    for (const analysis::Attempt& a : packets_.attempts()) {
      const bool late = a.start > on_.last_heal && !loses_queue_pairs(fault_.kind);
      if (a.start + kBlameSlack < on_.start || late || !is_hit(a)) continue;
      ++hits.all;
      hits.alone += rival_takes(a) ? 0 : 1;
    }
    return hits;
  }

  TargetHits words(const analysis::EventHistory& events) const {
    TargetHits hits;
    for (const analysis::PathNews& news : events.paths()) {
      if (news.ev || news.usable || !news.local || news.plane >= t_.planes) continue;
      if (news.t < on_.start || news.t > on_.last_heal + kBlameSlack) continue;
      const Port& port = t_.port({t_.host(news.host), PortId{news.plane}});
      const auto darkens = [&](FaultKind kind, const BlameTarget& target) {
        return darkens_ports(kind) && target.wires.contains(port.in);
      };
      if (!darkens(fault_.kind, target_)) continue;
      hits.all += kObservableHits;
      const bool alone = std::none_of(rivals_.begin(), rivals_.end(), [&](const auto& rival) {
        const auto& [of, on] = rival;
        return news.t >= on.start && news.t <= on.last_heal && darkens(of.fault->kind, *of.target);
      });
      hits.alone += alone ? kObservableHits : 0;
    }
    return hits;
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

  /// Switches mark MRC's data where they send it to another switch, and RoCE's everywhere.
  bool marks_at(const BlameTarget& target, WireId wire, bool roce) const {
    const Wire& w = t_.wire(wire);
    const bool last = t_.node(w.to.node).role == NodeRole::kHost;
    return target.nodes.contains(w.from.node) && (!last || roce || t_.queues_of(w).ecn_last_hop);
  }

  /// Could another broken part have done the same to this packet on its way?
  bool rival_takes(const analysis::Attempt& a) const {
    const auto& flow = packets_.flows()[packets_.packets()[a.packet].flow];
    const std::vector<WireId> wires = wires_of(a, flow);
    const FabricTime ended = a.ended == FabricTime::never() ? a.start : a.ended;
    return std::any_of(rivals_.begin(), rivals_.end(), [&](const auto& rival) {
      const auto& [of, on] = rival;
      if (a.start > on.last_heal || ended < on.start) return false;
      if (!same_damage(of.fault->kind, fault_.kind)) return false;
      const BlameTarget& target = *of.target;
      if (of.fault->kind == FaultKind::kLossyEv) {
        const auto& evs = of.fault->targets.evs;
        return std::count(evs.begin(), evs.end(), a.ev) > 0 &&
               target.nodes.contains(t_.host(flow.source));
      }
      return std::any_of(wires.begin(), wires.end(), [&](WireId wire) {
        if (fault_.kind == FaultKind::kEcnAlways) return marks_at(target, wire, flow.roce);
        return target.wires.contains(wire) || target.nodes.contains(t_.wire(wire).to.node);
      });
    });
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
      const auto marks = [&](WireId w) { return marks_at(target_, w, flow.roce); };
      return a.start >= on_.start && a.marked && over(marks);
    }
    if (a.fate != analysis::Fate::kDropped || !makes(fault_.kind, a.cause)) return false;
    const bool lasting = a.cause == DropCause::kNoReceiver && loses_queue_pairs(fault_.kind);
    if (a.ended < on_.start || (!lasting && a.ended > on_.last_heal + kBlameSlack)) return false;
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
  std::vector<std::pair<BlameCase, faults::Interval>> rivals_;  ///< that were broken meanwhile
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
    case FaultKind::kVerbs: return "a NIC's own queue pair: no packet is lost";
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

bool darkens_ports(FaultKind kind) { return makes(kind, DropCause::kPortDown); }

bool loses_queue_pairs(FaultKind kind) {
  return kind == FaultKind::kHostRestart || kind == FaultKind::kPowerLoss;
}

bool same_part(const BlameTarget& a, const BlameTarget& b) {
  return std::any_of(a.names.begin(), a.names.end(),
                     [&](const std::string& name) { return b.names.contains(name); });
}

bool same_damage(FaultKind a, FaultKind b) { return damage_of(a) == damage_of(b); }

TargetHits hits_of(const Topology& topology, const analysis::Evidence& evidence,
                   const analysis::TakenWays& ways, const BlameCase& of,
                   std::span<const BlameCase> rivals) {
  const faults::Fault& fault = *of.fault;
  constexpr uint64_t kBurst = 17;  // so many datagrams and no less are a burst
  if (fault.kind == FaultKind::kIncast) {
    const auto size = static_cast<uint64_t>(fault.settings.count(faults::Parameter::kSize));
    const uint64_t hits = size >= kBurst * topology.pmtu ? kObservableHits : 0;
    return {hits, hits};
  }
  if (fault.kind == FaultKind::kAttack) {
    uint64_t sent = 0;  // none where it sends probes, or nothing of its own
    for (const auto& [way, datagrams] : evidence.senders().sent) {
      if (of.target->nodes.contains(topology.host(way.first))) sent += datagrams;
    }
    const uint64_t hits = sent >= kBurst ? kObservableHits : 0;
    return {hits, hits};
  }
  if (fault.kind == FaultKind::kPauseStorm) {
    const uint64_t hits = pauses_by(topology, evidence, fault, *of.target);
    return {hits, hits};
  }
  const HitCounter counter(topology, evidence, ways, of, rivals);
  const TargetHits packets = counter.attempts(), words = counter.words(evidence.events());
  return {packets.all + words.all, packets.alone + words.alone};
}

}  // namespace mrclab::lab
