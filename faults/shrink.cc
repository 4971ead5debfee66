#include "faults/shrink.h"

namespace mrclab::faults {
namespace {

/// Below this an outage is shorter than what a packet takes to cross a wire.
constexpr int64_t kShortest = 100'000;  // ps

/// A stale table has its rows one place off, which takes at least two ports.
bool needs_all_ports(const Fault& fault) { return info(fault.kind).name == "stale_table"; }

class Simpler {
 public:
  Simpler(const Fault& fault, const Topology& topology) : fault_(fault), topology_(topology) {}

  std::vector<Fault> all() {
    halve(&Targets::links);
    halve(&Targets::wires);
    halve(&Targets::optics);
    if (!needs_all_ports(fault_)) halve(&Targets::ports);
    halve(&Targets::nodes);
    halve(&Targets::planes);
    halve(&Targets::evs);
    for (const ParameterUse& use : info(fault_.kind).parameters) {
      if (use.required || !fault_.settings.has(use.parameter)) continue;
      if (!may_go(use.parameter)) continue;
      Fault without = fault_;
      without.settings.unset(use.parameter);
      offer(std::move(without));
    }
    for (const ParameterUse& use : info(fault_.kind).parameters) lessen(use.parameter);
    return std::move(simpler_);
  }

 private:
  /// Its first half, then its second.
  template <class List>
  void halve(List Targets::*list) {
    const List& all = fault_.targets.*list;
    if (all.size() < 2) return;
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>((all.size() + 1) / 2);
    for (const List& half : {List(all.begin(), middle), List(middle, all.end())}) {
      Fault with = fault_;
      with.targets.*list = half;
      offer(std::move(with));
    }
  }

  /// May the parameter be left out? Not if the fault would become another one instead of a smaller
  /// one.
  bool may_go(Parameter parameter) const {
    if (parameter == Parameter::kFor) return false;  // it would never heal
    return fault_.kind != FaultKind::kWireLoss;      // loss, every, carrier: ways to lose frames
  }

  void lessen(Parameter parameter) {
    const auto value = fault_.settings.get(parameter);
    if (!value) return;
    const ParameterInfo& about = info(parameter);
    // More of these is less of a fault; and a seed or a word is no amount.
    if (parameter == Parameter::kGap || parameter == Parameter::kEvery ||
        parameter == Parameter::kTo || parameter == Parameter::kUp ||
        parameter == Parameter::kSeed || parameter == Parameter::kCarrier) {
      return;
    }
    const int64_t least = about.quantity == Quantity::kTime ? kShortest : about.min;
    if (*value / 2 < std::max(least, about.min)) return;
    Fault with = fault_;
    with.settings.set(parameter, *value / 2);
    offer(std::move(with));
  }

  void offer(Fault fault) {
    if (!holds_of(fault, topology_).empty()) simpler_.push_back(std::move(fault));
  }

  const Fault& fault_;
  const Topology& topology_;
  std::vector<Fault> simpler_;
};

}  // namespace

Fault fewest_targets(Fault fault, const Topology& topology,
                     const std::function<bool(const Fault&)>& fulfils) {
  const auto reduce = [&]<class List>(List Targets::*list) {
    if ((fault.targets.*list).size() < 2) return;
    fault.targets.*list =
        minimize<typename List::value_type>(fault.targets.*list, [&](const List& fewer) {
          if (fewer.empty()) return false;  // no fault
          Fault with = fault;
          with.targets.*list = fewer;
          return !holds_of(with, topology).empty() && fulfils(with);
        });
  };
  reduce(&Targets::links);
  reduce(&Targets::wires);
  reduce(&Targets::optics);
  if (!needs_all_ports(fault)) reduce(&Targets::ports);
  reduce(&Targets::nodes);
  reduce(&Targets::planes);
  reduce(&Targets::evs);
  return fault;
}

std::vector<Fault> simpler(const Fault& fault, const Topology& topology) {
  return Simpler(fault, topology).all();
}

}  // namespace mrclab::faults
