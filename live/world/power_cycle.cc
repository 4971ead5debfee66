#include "live/world/power_cycle.h"

#include <algorithm>
#include <map>

#include "live/bringup/bring_up.h"
#include "netio/runtime/gate.h"

namespace mrclab::lab {
namespace {

/// Ethernet's header, frame check, preamble and gap, of a frame of any size.
constexpr uint64_t kFraming = 14 + 4 + 20;

/// When what had started at `off` at the latest has been taken in or is off the wire.
FabricTime settled_on(const Topology& topology, WireId id, FabricTime off,
                      const std::vector<ScheduledEffect>& schedule, const SettledPast& past) {
  const Wire& wire = topology.wire(id);
  BitRate slowest = std::min(wire.rate, past.slowest(id));
  FabricTime delay = past.delay(id);
  for (const ScheduledEffect& scheduled : schedule) {
    if (scheduled.at > off) break;
    if (const auto* rate = std::get_if<WireRate>(&scheduled.effect)) {
      if (rate->wire == id && rate->rate.bps > 0) slowest = std::min(slowest, rate->rate);
    } else if (const auto* slower = std::get_if<WireDelay>(&scheduled.effect)) {
      if (slower->wire == id) delay = std::max(delay, slower->fixed + slower->jitter);
    }
  }
  return off + serialization_time(Bytes{port_mtu() + kFraming}, slowest) + wire.propagation +
         delay + topology.ingress_latency(wire.to.node) + kPicosecond;
}

/// The switch that remembers this effect: it has drawn random numbers or counted frames for it,
/// which a successor process would not have. Invalid if no switch does.
NodeId remembering_switch(const Topology& topology, const Effect& effect) {
  return std::visit(
      [&](const auto& e) {
        using E = std::decay_t<decltype(e)>;
        if constexpr (std::is_same_v<E, WireLoss> || std::is_same_v<E, WireErrors> ||
                      std::is_same_v<E, WireDelay> || std::is_same_v<E, WireDuplicates>) {
          return topology.wire(e.wire).from.node;
        } else if constexpr (std::is_same_v<E, SwitchErrors>) {
          return e.node;
        } else {
          return NodeId{};
        }
      },
      effect);
}

bool has_memory(const Topology& topology, NodeId node, FabricTime at,
                const std::vector<ScheduledEffect>& schedule, const SettledPast& past) {
  if (past.has_memory(node)) return true;
  for (const ScheduledEffect& scheduled : schedule) {
    if (scheduled.at > at) break;
    if (remembering_switch(topology, scheduled.effect) == node) return true;
  }
  return false;
}

/// The instants between which the switch's process may be killed; empty if it must not be.
std::optional<PowerCut> cut_of(const Topology& topology, NodeId node, uint32_t process,
                               FabricTime off, FabricTime on,
                               const std::vector<ScheduledEffect>& schedule,
                               const SettledPast& past) {
  PowerCut cut{process, off, off, off};
  FabricTime lookahead;
  for (const Port& port : topology.node(node).ports) {
    for (const WireId wire : {port.in, port.out}) {
      cut.settled = std::max(cut.settled, settled_on(topology, wire, off, schedule, past));
      lookahead = std::max(lookahead, topology.lookahead(wire));
    }
  }
  // A neighbour may be so much ahead, and must not start anything before the successor listens. A
  // switch that stays dark is killed at once: else a run might end before the lab gets round to it.
  cut.last = on == FabricTime::never() ? cut.settled : on - lookahead - kPicosecond;
  if (cut.last < cut.settled || has_memory(topology, node, cut.settled, schedule, past)) {
    return std::nullopt;
  }
  return cut;
}

}  // namespace

void SettledPast::add(const Topology& topology, const std::vector<ScheduledEffect>& schedule,
                      FabricTime until) {
  for (const ScheduledEffect& scheduled : schedule) {
    if (scheduled.at > until) break;
    if (const auto* rate = std::get_if<WireRate>(&scheduled.effect)) {
      if (rate->rate.bps > 0) slowest_[rate->wire] = std::min(slowest(rate->wire), rate->rate);
    } else if (const auto* slower = std::get_if<WireDelay>(&scheduled.effect)) {
      delay_[slower->wire] = std::max(delay(slower->wire), slower->fixed + slower->jitter);
    }
    const NodeId node = remembering_switch(topology, scheduled.effect);
    if (node.valid()) remembering_.insert(node);
  }
}

BitRate SettledPast::slowest(WireId wire) const {
  const auto found = slowest_.find(wire);
  return found == slowest_.end() ? BitRate{UINT64_MAX} : found->second;
}

FabricTime SettledPast::delay(WireId wire) const {
  const auto found = delay_.find(wire);
  return found == delay_.end() ? FabricTime::zero() : found->second;
}

std::vector<PowerCut> power_cuts(const Topology& topology,
                                 const std::vector<uint32_t>& process_of_node,
                                 const std::vector<ScheduledEffect>& schedule,
                                 const SettledPast& past) {
  std::map<NodeId, FabricTime> off;
  std::vector<PowerCut> cuts;
  const auto add = [&](NodeId node, FabricTime from, FabricTime on) {
    const uint32_t process = process_of_node[node.value];
    const auto nodes = std::count(process_of_node.begin(), process_of_node.end(), process);
    if (process == netio::kNoProcess || nodes > 1) return;
    if (const auto cut = cut_of(topology, node, process, from, on, schedule, past))
      cuts.push_back(*cut);
  };
  for (const ScheduledEffect& scheduled : schedule) {
    const auto* state = std::get_if<SwitchState>(&scheduled.effect);
    if (state == nullptr) continue;
    const auto found = off.find(state->node);
    if (state->work == SwitchWork::kDown) {
      off.try_emplace(state->node, scheduled.at);
    } else if (found != off.end()) {
      add(state->node, found->second, scheduled.at);
      off.erase(found);
    }
  }
  for (const auto& [node, from] : off) add(node, from, FabricTime::never());
  std::sort(cuts.begin(), cuts.end(), [](const PowerCut& a, const PowerCut& b) {
    return std::tie(a.off, a.process) < std::tie(b.off, b.process);
  });
  return cuts;
}

PowerCycle::PowerCycle(const Topology& topology, const std::vector<uint32_t>& process_of_node,
                       const std::vector<ScheduledEffect>& schedule)
    : topology_(topology), process_of_node_(process_of_node) {
  replace(schedule, FabricTime::zero());
}

void PowerCycle::settle(const std::vector<ScheduledEffect>& schedule, FabricTime until) {
  past_.add(topology_, schedule, until);
}

void PowerCycle::replace(const std::vector<ScheduledEffect>& schedule, FabricTime from) {
  const std::vector<Item> before = std::move(items_);
  items_.clear();
  for (const PowerCut& cut : power_cuts(topology_, process_of_node_, schedule, past_)) {
    const bool done = std::any_of(before.begin(), before.end(), [&](const Item& item) {
      return item.done && item.cut.process == cut.process && item.cut.off == cut.off;
    });
    if (done || cut.last >= from) items_.push_back({cut, done});
  }
}

std::vector<uint32_t> PowerCycle::due(const std::function<FabricTime(uint32_t)>& done) {
  std::vector<uint32_t> processes;
  for (Item& item : items_) {
    if (item.done || done(item.cut.process) < item.cut.settled) continue;
    item.done = true;
    processes.push_back(item.cut.process);
  }
  return processes;
}

FabricTime PowerCycle::limit() const {
  FabricTime limit = FabricTime::never();
  for (const Item& item : items_) {
    if (!item.done) limit = std::min(limit, item.cut.last);
  }
  return limit;
}

}  // namespace mrclab::lab
