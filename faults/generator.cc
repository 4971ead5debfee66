#include "faults/generator.h"

#include <algorithm>
#include <array>

#include "fabric/paths/path_list.h"
#include "faults/draws.h"
#include "faults/forwarding_limits.h"
#include "faults/survival.h"

namespace mrclab::faults {
namespace {

constexpr int kTries = 8;  // for one fault, until it fits and is survivable
/// Kinds that were added later have draws of their own, so that an old seed still generates the
/// same faults.
constexpr uint32_t kPatienceDraws = (1 << 16) - 1;
constexpr auto kFirstKinds = static_cast<size_t>(FaultKind::kSlowReceiver);

/// What chaos draws of a parameter, as counts of its quantity, each order of magnitude alike. Times
/// are in thousandths of the window that faults have.
struct Range {
  Parameter parameter;
  int64_t min, max;
};
constexpr int64_t kPercent = Probability::kOne / 100;
constexpr int64_t kNanosecond = 1'000;
constexpr int64_t kWindow = 1'000;
constexpr std::array kRanges{
    Range{Parameter::kFor, kWindow / 64, kWindow},
    Range{Parameter::kLoss, kPercent / 8, 60 * kPercent},
    Range{Parameter::kBurst, 2, 64},
    Range{Parameter::kGap, 16, 2'048},
    Range{Parameter::kEvery, 2, 512},
    Range{Parameter::kErrorRate, 1'000'000,
          10'000'000'000},  // 1e-9 to 1e-5: a third of the packets
    Range{Parameter::kBy, 50 * kNanosecond, 4'000 * kNanosecond},
    Range{Parameter::kUpTo, 50 * kNanosecond, 4'000 * kNanosecond},
    Range{Parameter::kShare, kPercent / 8, 30 * kPercent},
    Range{Parameter::kTo, 10 * kPercent, 80 * kPercent},  // of the host rate
    Range{Parameter::kDown, kWindow / 64, kWindow / 2},
    Range{Parameter::kUp, kWindow / 64, kWindow / 2},
    Range{Parameter::kStagger, kWindow / 256, kWindow / 8},
    Range{Parameter::kCount, 2, 5},
    Range{Parameter::kReload, kWindow / 64, kWindow / 4},
    Range{Parameter::kLost, 10 * kPercent, 95 * kPercent},
    Range{Parameter::kSize, 8 << 10, 256 << 10},
    Range{Parameter::kSeed, 1, 999'999},
};

class Generator {
 public:
  Generator(const Topology& topology, const GeneratorOptions& options)
      : topology_(topology), options_(options), draws_(options.seed, 1) {}

  DrawnFaults run() {
    DrawnFaults drawn;
    for (const FaultInfo& kind : all_faults().first(kFirstKinds)) {
      if (draws_.one_in(2)) drawn.kinds.push_back(kind.kind);
    }
    if (drawn.kinds.empty()) drawn.kinds.push_back(FaultKind::kLinkDown);
    const bool anything = draws_.one_in(kUnsurvivableOneIn);
    patient_ = options_.patience && !Draws(options_.seed, kPatienceDraws).one_in(kFatalOneIn);
    Outages outages(topology_);
    const int64_t least = anything ? kMaxDrawnFaults / 2 : 1;
    for (int64_t left = draws_.by_magnitude(least, kMaxDrawnFaults); left > 0; --left) {
      add_one_of(drawn.kinds, anything, outages, drawn);
    }
    for (size_t later = kFirstKinds; later < all_faults().size(); ++later) {
      draws_ = Draws(options_.seed, 1 + static_cast<uint32_t>(later));
      const FaultKind kind = all_faults()[later].kind;
      // Scenarios have these: of the one nothing breaks, the other no transport can survive.
      if (kind == FaultKind::kAttack || kind == FaultKind::kVerbs) continue;
      if (kind == FaultKind::kPauseStorm && !topology_.lossless.pfc) continue;  // none would notice
      if (!draws_.one_in(4)) continue;
      drawn.kinds.push_back(kind);
      for (int64_t left = draws_.between(1, 2); left > 0; --left) {
        add_one_of({kind}, anything, outages, drawn);
      }
    }
    drawn.survivable = survives(outages, options_.patience.has_value());
    std::stable_sort(drawn.faults.begin(), drawn.faults.end(),
                     [](const Fault& a, const Fault& b) { return a.at < b.at; });
    return drawn;
  }

 private:
  /// Adds a fault of one of these kinds if one fits and is survivable, or need not be.
  void add_one_of(const std::vector<FaultKind>& kinds, bool anything, Outages& outages,
                  DrawnFaults& drawn) {
    for (int tries = 0; tries < kTries; ++tries) {
      const auto fault = draw_fault(draws_.one_of(std::span<const FaultKind>(kinds)));
      if (!fault) continue;
      Outages with = outages;
      with.add_holds(holds_of(*fault, topology_));
      if (!anything && !survives(with, patient_)) continue;
      outages = std::move(with);
      drawn.faults.push_back(*fault);
      return;
    }
  }

  bool survives(const Outages& outages, bool patient) const {
    return outages.survivable(options_.hosts) &&
           (!patient || outages.survivable_by_patience(options_.hosts, *options_.patience));
  }

  /// Rounds down to a time that is easy to read.
  static FabricTime rounded(FabricTime t) { return FabricTime::from_ns(t.ns() / 10 * 10); }
  FabricTime window() const { return options_.heal_by - options_.from; }

  /// A fault of this kind; empty if the topology has no target for it, or it would not heal in
  /// time.
  std::optional<Fault> draw_fault(FaultKind kind) {
    Fault fault;
    fault.kind = kind;
    fault.at = rounded(options_.from + window() / kWindow * draws_.between(0, kWindow * 3 / 4));
    if (!draw_targets(info(kind).targets, fault.targets)) return std::nullopt;
    draw_settings(fault);
    const Interval interval = interval_of(fault, topology_);
    if (interval.last_heal > options_.heal_by) {
      if (!fault.settings.has(Parameter::kFor)) return std::nullopt;
      fault.settings.set(Parameter::kFor, rounded(options_.heal_by - fault.at).ps());
    }
    if (refusal(topology_, fault)) return std::nullopt;
    return fault;
  }

  // ---- targets -----------------------------------------------------------------------------------

  template <class Id, class Things>
  std::vector<Id> few(const Things& of, uint64_t at_most) {
    std::vector<Id> chosen;
    if (of.size() == 0) return chosen;
    for (uint64_t left = 1 + draws_.below(at_most); left > 0; --left) {
      chosen.push_back(Id{static_cast<uint32_t>(draws_.below(of.size()))});
    }
    return sorted(std::move(chosen));
  }
  template <class Value>
  static std::vector<Value> sorted(std::vector<Value> values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
  }
  NodeId any_host() { return topology_.host(static_cast<uint32_t>(draws_.below(host_count()))); }
  NodeId any_switch() {
    return NodeId{host_count() +
                  static_cast<uint32_t>(draws_.below(topology_.nodes.size() - host_count()))};
  }
  uint32_t host_count() const { return topology_.host_count(); }
  PortRef any_port_of(NodeId node) {
    return {node, PortId{static_cast<uint32_t>(draws_.below(topology_.node(node).ports.size()))}};
  }
  /// Both directions of a link as often as one.
  std::vector<WireId> any_wires() {
    if (draws_.one_in(2)) return few<WireId>(topology_.all_wires(), 2);
    const Link& link = topology_.links[draws_.below(topology_.links.size())];
    return sorted(std::vector{link.a_to_b(), link.b_to_a()});
  }
  std::vector<EntropyValue> any_paths() {
    std::vector<EntropyValue> values;
    const auto plane = static_cast<uint32_t>(draws_.below(topology_.planes));
    for (const Path path : all_paths(topology_)) {
      const bool nobodys = path.uplink == kT0LocalUplink && topology_.hosts_per_t0 == 1;
      if (path.plane == plane && !nobodys) values.push_back(ev_of(path));
    }
    return sorted(draws_.some_of(values, 1 + draws_.below(values.size())));
  }
  /// Ports of one switch that have routes.
  std::vector<PortRef> any_ports_of_a_switch(size_t at_least) {
    const NodeId node = any_switch();
    std::vector<PortRef> ports;
    for (uint32_t i = 0; i < topology_.node(node).ports.size(); ++i)
      ports.push_back({node, PortId{i}});
    if (ports.size() < at_least) return {};
    return draws_.some_of(ports, at_least + draws_.below(ports.size() - at_least + 1));
  }

  bool draw_targets(TargetForm form, Targets& out) {
    switch (form) {
      case TargetForm::kLinks: out.links = few<LinkId>(topology_.links, 2); return true;
      case TargetForm::kWires: out.wires = any_wires(); return true;
      case TargetForm::kWiresOrSwitches:
        if (draws_.one_in(2)) {
          out.wires = any_wires();
        } else {
          out.nodes = {any_switch()};
        }
        return true;
      case TargetForm::kOptics:
        out.optics = few<OpticId>(topology_.optics, 1);
        return !out.optics.empty();
      case TargetForm::kPorts:
        out.ports = {any_port_of(draws_.one_in(2) ? any_host() : any_switch())};
        return true;
      case TargetForm::kHosts: out.nodes = {any_host()}; return true;
      case TargetForm::kSwitches:
        out.nodes = sorted(draws_.one_in(2) ? std::vector{any_switch()}
                                            : std::vector{any_switch(), any_switch()});
        return true;
      case TargetForm::kPlanes:
        out.planes = {static_cast<uint32_t>(draws_.below(topology_.planes))};
        return true;
      case TargetForm::kHostPaths:
      case TargetForm::kDenials:
        out.nodes = {any_host()};
        out.evs = any_paths();
        if (form == TargetForm::kDenials && draws_.one_in(2)) out.toward = {any_host()};
        return !out.evs.empty() && out.toward != out.nodes;
      case TargetForm::kRoutes: out.ports = any_ports_of_a_switch(2); return !out.ports.empty();
      case TargetForm::kRoutesTo: {
        const std::vector<PortRef> ports = any_ports_of_a_switch(2);
        if (ports.empty()) return false;
        out.ports = {ports.front()};
        out.to = ports.back();
        return true;
      }
      case TargetForm::kLineCards:
        out.ports = {topology_.line_card_of(any_port_of(any_switch())).front()};
        return true;
      case TargetForm::kPowerZones:
        if (topology_.power_zones.empty()) return false;
        out.zones = {static_cast<uint32_t>(draws_.below(topology_.power_zones.size()))};
        return true;
      case TargetForm::kOutOfUse:
        if (draws_.one_in(2)) {
          out.nodes = {any_switch()};
        } else {
          out.links = few<LinkId>(topology_.links, 1);
        }
        return true;
      case TargetForm::kBurst:
        out.nodes = sorted(std::vector{any_host(), any_host(), any_host()});
        out.toward = {any_host()};
        std::erase(out.nodes, out.toward.front());
        return !out.nodes.empty();
    }
    return false;
  }

  // ---- parameters --------------------------------------------------------------------------------

  void draw(Parameter parameter, Settings& out) {
    const auto range = std::find_if(kRanges.begin(), kRanges.end(),
                                    [&](const Range& r) { return r.parameter == parameter; });
    if (range == kRanges.end()) return;  // drawn only where it must agree with others
    int64_t value = draws_.by_magnitude(range->min, range->max);
    const bool of_window = parameter == Parameter::kFor || parameter == Parameter::kDown ||
                           parameter == Parameter::kUp || parameter == Parameter::kStagger ||
                           parameter == Parameter::kReload;
    if (of_window) value *= window().ps() / kWindow;
    if (parameter == Parameter::kTo) {
      value = static_cast<int64_t>(topology_.host_rate.bps / Probability::kOne) * value;
    }
    switch (info(parameter).quantity) {
      case Quantity::kTime: value = rounded(FabricTime::from_ps(value)).ps(); break;
      case Quantity::kShare: value -= value % (kPercent / 100); break;
      case Quantity::kBitRate: value -= value % 1'000'000'000; break;
      default: break;
    }
    out.set(parameter, std::clamp(value, info(parameter).min, info(parameter).max));
  }

  void draw_settings(Fault& fault) {
    for (const ParameterUse& use : info(fault.kind).parameters) {
      // Chaos draws errors that no code has corrected, and whose frames are lost one by one.
      const bool of_code = fault.kind == FaultKind::kBitErrors &&
                           use.parameter != Parameter::kErrorRate &&
                           use.parameter != Parameter::kFor;
      if (of_code) continue;
      const bool always =
          use.required || use.parameter == Parameter::kFor || use.parameter == Parameter::kSeed;
      const bool one_of_several =
          fault.kind == FaultKind::kWireLoss || fault.kind == FaultKind::kSlowReceiver;
      if (one_of_several && !always) continue;
      if (always || draws_.one_in(2)) draw(use.parameter, fault.settings);
    }
    if (fault.kind == FaultKind::kSlowReceiver) {
      draw(draws_.one_in(2) ? Parameter::kTo : Parameter::kShare, fault.settings);
    }
    if (fault.kind != FaultKind::kWireLoss) return;
    switch (draws_.below(4)) {  // exactly one way to lose frames
      case 0: draw(Parameter::kLoss, fault.settings); break;
      case 1: draw(Parameter::kEvery, fault.settings); break;
      case 2: fault.settings.set(Parameter::kCarrier, 1); break;
      default:
        for (const Parameter p : {Parameter::kLoss, Parameter::kBurst, Parameter::kGap}) {
          draw(p, fault.settings);
        }
    }
  }

  const Topology& topology_;
  const GeneratorOptions& options_;
  Draws draws_;
  bool patient_ = false;  // faults must not outlast the patience
};

}  // namespace

DrawnFaults draw_faults(const Topology& topology, const GeneratorOptions& options) {
  return Generator(topology, options).run();
}

}  // namespace mrclab::faults
