#include "live/world/lab_pace.h"

#include <algorithm>

namespace mrclab::lab {

FabricTime shortest_lookahead(const Topology& topology) {
  FabricTime shortest = FabricTime::never();
  for (const Wire& wire : topology.all_wires()) {
    shortest = std::min(shortest, topology.lookahead(wire.id));
  }
  return shortest;
}

FabricTime leash_of(FabricTime lookahead) { return FabricTime::from_ps(lookahead.ps() * 3 / 4); }

FabricTime leash_of_fixed_pace(double dilation, const Topology& topology) {
  // Labs of 2 and of 56 processes beside two busy loops on two processors were behind by 8 ms at most.
  constexpr double kLeashLabNs = 20e6;
  if (!topology.carries_time()) return FabricTime::zero();
  const auto leash = FabricTime::from_ps(static_cast<int64_t>(kLeashLabNs * 1000 / dilation));
  return std::max(leash, leash_of(shortest_lookahead(topology)));
}

namespace {

FabricTime leash_at(std::optional<double> dilation, const Topology& topology) {
  return dilation ? leash_of_fixed_pace(*dilation, topology)
                  : leash_of(shortest_lookahead(topology));
}

}  // namespace

LabPace::LabPace(netio::GatePage& gate, const Topology& topology, std::optional<double> dilation,
                 FabricTime end)
    : gate_(gate),
      lookahead_(shortest_lookahead(topology)),
      end_(end),
      pace_(gate.clock, dilation, leash_at(dilation, topology)) {
  gate_.leash_ps.store(leash_at(dilation, topology).ps(), std::memory_order_relaxed);
}

void LabPace::adjust_pace(FabricTime limit) {
  const netio::LabTime now = netio::LabTime::now();
  Pace::Reading reading{gate_.slowest_done(), {}};
  for (uint32_t i = 0; i < gate_.process_count; ++i) {
    const int64_t slack = gate_.slot(i).window_slack_ns.exchange(INT64_MAX);
    if (slack != INT64_MAX) curve_.note_slack(i, slack);
  }
  if (!pace_.fixed()) {
    const auto quiet = gate_.quiet_until();
    if (quiet && !stays()) reading.quiet_until = std::min({*quiet, limit, end_});
    gate_.tick_ns.store(tick_for(pace_.dilation(), lookahead_, gate_.process_count, stays()),
                        std::memory_order_relaxed);
  }
  const std::optional<FabricTime> jumped = pace_.step(reading, now);
  if (jumped) gate_.quiet_ps.store(jumped->ps(), std::memory_order_release);
  curve_.step(gate_, now);
}

}  // namespace mrclab::lab
