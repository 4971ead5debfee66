// What each kind of fault holds degraded, and what follows from that.

#include <algorithm>
#include <map>

#include "fabric/base/random.h"
#include "fabric/node/effect_fields.h"
#include "fabric/node/impairment.h"
#include "fabric/topology/path.h"
#include "fabric/topology/routes.h"
#include "faults/fault.h"
#include "faults/out_of_use.h"
#include "faults/retraining.h"

namespace mrclab::faults {
namespace {

/// 1 in `mean`, rounded up so that it is never none.
Probability one_in(int64_t mean) {
  return {static_cast<uint32_t>((Probability::kOne + mean - 1) / mean)};
}

/// Collects the holds of one fault.
class Holder {
 public:
  Holder(const Fault& fault, const Topology& topology) : fault_(fault), topology_(topology) {}

  std::vector<Hold> take() && {
    hold_all();
    return std::move(holds_);
  }

 private:
  using P = Parameter;
  const Targets& targets() const { return fault_.targets; }
  const Settings& set() const { return fault_.settings; }

  void hold(const Effect& effect, FabricTime from, FabricTime until) {
    holds_.push_back({effect, from, until});
  }
  void hold(const Effect& effect) { hold(effect, fault_.at, fault_.until()); }

  /// Both directions lose light, and both ends see it.
  void dark(const Link& link, FabricTime from, FabricTime until) {
    for (const WireId wire : {link.a_to_b(), link.b_to_a()})
      hold(WireState{wire, false}, from, until);
    for (const PortRef port : {link.a, link.b}) hold(PortCarrier{port, false}, from, until);
  }
  void dark(LinkId link) { dark(topology_.link(link), fault_.at, fault_.until()); }
  void dark(NodeId node, FabricTime from, FabricTime until) {
    for (const Port& port : topology_.node(node).ports)
      dark(topology_.link(port.link), from, until);
  }

  void hold_all();
  void wire_loss();
  void bit_errors();
  void optic_glitch();
  void flap();
  void reboot();
  void restart();
  void routes();
  void stale_table();
  void lossy_ev();
  void plane_down();
  void denials();
  void power_loss();
  void slow_receiver();
  void attack();
  void end_queue_pairs();
  BitRate share_of_line(NodeId host, Probability share) const;
  WireDelay delay(WireId wire, Probability share, bool overtaken) const {
    return {wire, set().time(P::kBy), set().time(P::kUpTo), share, overtaken};
  }

  const Fault& fault_;
  const Topology& topology_;
  std::vector<Hold> holds_;
};

void Holder::wire_loss() {
  for (const WireId wire : targets().wires) {
    if (set().count(P::kCarrier) == 1) {
      hold(WireState{wire, false});
      hold(PortCarrier{topology_.wire(wire).to, false});
      continue;
    }
    WireLoss loss = random_loss(wire, set().share(P::kLoss));
    if (set().has(P::kEvery)) {
      loss.kind = LossKind::kEveryNth;
      loss.every = static_cast<uint32_t>(set().count(P::kEvery));
    } else if (set().has(P::kBurst)) {
      loss.kind = LossKind::kBursty;
      loss.enter_bad = one_in(set().count(P::kGap));
      loss.leave_bad = one_in(set().count(P::kBurst));
    }
    hold(loss);
  }
}

void Holder::bit_errors() {
  const BitErrorRate rate{static_cast<uint64_t>(set().count(P::kErrorRate))};
  for (const NodeId node : targets().nodes) hold(SwitchErrors{node, rate});
  if (!set().has(P::kFec)) {
    for (const WireId wire : targets().wires) hold(WireErrors{wire, rate});
    return;
  }
  std::map<LinkId, std::vector<WireCodewords>> links;
  for (const WireId wire : targets().wires) {
    const WireCodewords errors{wire, static_cast<FecCode>(set().count(P::kFec)), rate,
                               set().share(P::kDfe), static_cast<uint32_t>(set().count(P::kSeed))};
    hold(errors);
    links[topology_.wire(wire).link].push_back(errors);
  }
  if (!set().has(P::kRetrain)) return;
  const RetrainRule rule{static_cast<uint32_t>(set().count(P::kLimit, kBadCodewordsInARow)),
                         set().time(P::kRetrain), kMostCodewords / links.size(),
                         std::max<size_t>(kMostRetrainings / links.size(), 1)};
  for (const auto& [id, errors] : links) {
    const Link& link = topology_.link(id);
    for (const Retraining& gap : retrainings(errors, link.rate, fault_.at, fault_.until(), rule)) {
      dark(link, gap.from, gap.until);
    }
  }
}

void Holder::optic_glitch() {
  for (const OpticId optic : targets().optics) {
    FabricTime from = fault_.at;
    for (const LinkId link : topology_.optic(optic).links) {
      dark(topology_.link(link), from, from + set().time(P::kDown));
      from += set().time(P::kStagger);
    }
  }
}

void Holder::flap() {
  const auto jitter = static_cast<uint64_t>(set().count(P::kUpTo));
  const auto seed = static_cast<uint64_t>(set().count(P::kSeed));
  for (const LinkId link : targets().links) {
    uint64_t draws = 0;
    const auto longer = [&](FabricTime t) {
      const uint64_t bits = draw(seed, NodeId{link.value}, {}, DrawPurpose::kFault, draws++);
      return t + FabricTime::from_ps(static_cast<int64_t>(below(bits, jitter + 1)));
    };
    FabricTime from = fault_.at;
    for (int64_t i = 0; i < set().count(P::kCount); ++i) {
      const FabricTime until = from + longer(set().time(P::kDown));
      dark(topology_.link(link), from, until);
      from = until + longer(set().time(P::kUp));
    }
  }
}

void Holder::reboot() {
  const FabricTime boots = fault_.at + set().time(P::kDown);
  for (const NodeId node : targets().nodes) {
    hold(SwitchState{node, SwitchWork::kDown}, fault_.at, boots);
    hold(SwitchState{node, SwitchWork::kNoTable}, boots, boots + set().time(P::kReload));
    dark(node, fault_.at, boots);
  }
}

void Holder::restart() {
  const FabricTime boots = fault_.at + set().time(P::kDown);
  for (const NodeId host : targets().nodes) {
    hold(HostState{host, HostWork::kDown}, fault_.at, boots);
    dark(host, fault_.at, boots);
  }
}

/// Switches boot and load their table as after a crash, hosts as after a restart.
void Holder::power_loss() {
  const FabricTime boots = fault_.at + set().time(P::kDown);
  for (const uint32_t zone : targets().zones) {
    for (const NodeId node : topology_.power_zones[zone].nodes) {
      if (topology_.node(node).role == NodeRole::kHost) {
        hold(HostState{node, HostWork::kDown}, fault_.at, boots);
      } else {
        hold(SwitchState{node, SwitchWork::kDown}, fault_.at, boots);
        hold(SwitchState{node, SwitchWork::kNoTable}, boots, boots + set().time(P::kReload));
      }
      dark(node, fault_.at, boots);
    }
  }
}

void Holder::routes() {
  for (const PortRef port : targets().ports) {
    for (const Usid usid : usids_behind(topology_, port)) {
      const bool missing = fault_.kind == FaultKind::kSwitchMissingRoute;
      hold(missing ? SwitchRoute{port.node, usid, RouteKind::kMissing, {}}
                   : SwitchRoute{port.node, usid, RouteKind::kWrong, targets().to->port});
    }
  }
}

/// The cables of a switch's ports were moved one place on, and its table is stale: it sends to each port what
/// belongs to the next one.
void Holder::stale_table() {
  std::map<NodeId, std::vector<PortId>> ports;
  for (const PortRef port : targets().ports) ports[port.node].push_back(port.port);
  for (const auto& [node, of_switch] : ports) {
    for (size_t i = 0; i < of_switch.size(); ++i) {
      const PortId next = of_switch[(i + 1) % of_switch.size()];
      for (const Usid usid : usids_behind(topology_, {node, of_switch[i]})) {
        hold(SwitchRoute{node, usid, RouteKind::kWrong, next});
      }
    }
  }
}

/// Loses frames on the wire that leaves the NIC in the plane of the path.
void Holder::lossy_ev() {
  for (const NodeId host : targets().nodes) {
    for (const EntropyValue ev : targets().evs) {
      const auto path = path_of(ev);
      if (!path || path->plane >= topology_.node(host).ports.size()) continue;
      WireLoss loss =
          random_loss(topology_.node(host).ports[path->plane].out, set().share(P::kLoss));
      loss.one_ev = true;
      loss.ev = ev;
      hold(loss);
    }
  }
}

void Holder::plane_down() {
  for (const Link& link : topology_.links) {
    // In a listed fabric, plane p is the set of NIC ports numbered p; switches belong to no plane.
    const bool of_host = topology_.node(link.a.node).role == NodeRole::kHost;
    if (!topology_.has_planes() && !of_host) continue;
    const uint32_t plane = topology_.port(link.a).plane;
    if (std::count(targets().planes.begin(), targets().planes.end(), plane) > 0) dark(link.id);
  }
}

void Holder::denials() {
  const std::vector<NodeId> everybody{NodeId{}};
  for (const NodeId host : targets().nodes) {
    for (const EntropyValue ev : targets().evs) {
      for (const NodeId toward : targets().toward.empty() ? everybody : targets().toward) {
        hold(EvDenial{host, ev, toward, true});
      }
    }
  }
}

/// A share of what all ports of the host take together.
BitRate Holder::share_of_line(NodeId host, Probability share) const {
  uint64_t line = 0;
  for (const Port& port : topology_.node(host).ports) line += topology_.link(port.link).rate.bps;
  const unsigned __int128 part = static_cast<unsigned __int128>(line) * share.ppb;
  return {std::max<uint64_t>(static_cast<uint64_t>(part / Probability::kOne), 1)};
}

void Holder::slow_receiver() {
  for (const NodeId host : targets().nodes) {
    BitRate rate{static_cast<uint64_t>(set().count(P::kTo))};
    if (set().has(P::kShare)) rate = share_of_line(host, set().share(P::kShare));
    hold(HostDrain{host, DrainKind::kSlow, rate});
  }
}

void Holder::attack() {
  const auto share = static_cast<uint32_t>(set().count(P::kShare, Probability::kOne));
  for (const NodeId host : targets().nodes) {
    hold(HostAttack{host, targets().toward.at(0), static_cast<AttackKind>(set().count(P::kAttack)),
                    share_of_line(host, {share})});
  }
}

void Holder::end_queue_pairs() {
  const auto qp = static_cast<uint32_t>(set().count(P::kQp));
  const auto status = static_cast<VerbsStatus>(set().count(P::kStatus) + 1);
  for (const NodeId host : targets().nodes) {
    hold(HostVerbs{host, qp, status}, fault_.at, fault_.at);
  }
}

void Holder::hold_all() {
  const auto each_wire = [&](auto effect_of) {
    for (const WireId wire : targets().wires) hold(effect_of(wire));
  };
  const auto each_node = [&](auto effect_of) {
    for (const NodeId node : targets().nodes) hold(effect_of(node));
  };
  const Probability all{Probability::kOne};
  switch (fault_.kind) {
    case FaultKind::kLinkDown:
      for (const LinkId link : targets().links) dark(link);
      return;
    case FaultKind::kBlackhole:
      return each_wire([&](WireId wire) { return random_loss(wire, all); });
    case FaultKind::kWireLoss: return wire_loss();
    case FaultKind::kBitErrors: return bit_errors();
    case FaultKind::kDelay:
    case FaultKind::kJitter: return each_wire([&](WireId wire) { return delay(wire, all, false); });
    case FaultKind::kReorder:
      return each_wire([&](WireId wire) { return delay(wire, set().share(P::kShare), true); });
    case FaultKind::kDuplicate:
      return each_wire([&](WireId wire) { return WireDuplicates{wire, set().share(P::kShare)}; });
    case FaultKind::kRate: {
      const BitRate rate{static_cast<uint64_t>(set().count(P::kTo))};
      return each_wire([&](WireId wire) { return WireRate{wire, rate}; });
    }
    case FaultKind::kOpticGlitch: return optic_glitch();
    case FaultKind::kOpticDead:
      for (const OpticId optic : targets().optics) {
        for (const LinkId link : topology_.optic(optic).links) dark(link);
      }
      return;
    case FaultKind::kFlap: return flap();
    case FaultKind::kPortDown:
      for (const PortRef port : targets().ports) dark(topology_.port(port).link);
      return;
    case FaultKind::kNicDead:
      for (const NodeId host : targets().nodes) dark(host, fault_.at, fault_.until());
      return;
    case FaultKind::kSwitchHang:
      return each_node([](NodeId node) { return SwitchState{node, SwitchWork::kHung}; });
    case FaultKind::kSwitchCrash:
      each_node([](NodeId node) { return SwitchState{node, SwitchWork::kDown}; });
      for (const NodeId node : targets().nodes) dark(node, fault_.at, fault_.until());
      return;
    case FaultKind::kSwitchReboot: return reboot();
    case FaultKind::kSwitchWrongRoute:
    case FaultKind::kSwitchMissingRoute: return routes();
    case FaultKind::kStaleTable: return stale_table();
    case FaultKind::kTrimOff: return each_node([](NodeId node) { return SwitchTrim{node, true}; });
    case FaultKind::kEcnOff:
      return each_node([](NodeId node) { return SwitchEcn{node, EcnKind::kOff}; });
    case FaultKind::kEcnAlways:
      return each_node([](NodeId node) { return SwitchEcn{node, EcnKind::kAlways}; });
    case FaultKind::kBuffer:
      return each_node([&](NodeId node) { return SwitchBuffer{node, set().share(P::kLost)}; });
    case FaultKind::kPlaneDown: return plane_down();
    case FaultKind::kHostPause:
      return each_node([](NodeId host) { return HostState{host, HostWork::kPaused}; });
    case FaultKind::kHostRestart: return restart();
    case FaultKind::kLossyEv: return lossy_ev();
    case FaultKind::kIncast:
      for (const NodeId host : targets().nodes) {
        const Bytes size{static_cast<uint64_t>(set().count(P::kSize))};
        hold(HostBurst{host, targets().toward.at(0), size}, fault_.at, fault_.at);
      }
      return;
    case FaultKind::kDenylist: return denials();
    case FaultKind::kSlowReceiver: return slow_receiver();
    case FaultKind::kPcieStall:
      return each_node([](NodeId host) { return HostDrain{host, DrainKind::kStalled, {}}; });
    case FaultKind::kPauseStorm:
      return each_node([](NodeId host) { return HostStorm{host, true}; });
    case FaultKind::kLineCard:
      for (const PortRef card : targets().ports) {
        for (const PortRef port : topology_.line_card_of(card)) dark(topology_.port(port).link);
      }
      return;
    case FaultKind::kPowerLoss: return power_loss();
    case FaultKind::kAttack: return attack();
    case FaultKind::kVerbs: return end_queue_pairs();
    case FaultKind::kDrain:
      for (const EvDenial& denial : denials_around(targets(), topology_)) hold(denial);
      return;
  }
}

}  // namespace

std::vector<Hold> holds_of(const Fault& fault, const Topology& topology) {
  std::vector<Hold> holds = Holder(fault, topology).take();
  if (fault.healed == FabricTime::never()) return holds;
  std::erase_if(holds, [&](const Hold& hold) { return hold.from >= fault.healed; });
  for (Hold& hold : holds) hold.until = std::min(hold.until, fault.healed);
  return holds;
}

Interval interval_of(const Fault& fault, const Topology& topology) {
  Interval interval{FabricTime::never(), fault.at};
  for (const Hold& hold : holds_of(fault, topology)) {
    interval.start = std::min(interval.start, hold.from);
    interval.last_heal = std::max(interval.last_heal, hold.until);
  }
  return interval;
}

}  // namespace mrclab::faults
