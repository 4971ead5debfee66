#include "plan/mapper_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "analysis/mapper/mapper_collector.h"
#include "analysis/mapper/probe_statistics.h"
#include "fabric/base/random.h"
#include "fabric/probes/probe_frame.h"
#include "fabric/probes/probe_plan.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/build_topology.h"

namespace mrclab::lab {
namespace {

/// Cross probes take another T0 and another T1 in each period; after so many, wires that differ have differing probes.
constexpr uint32_t kPeriodsLookedAt = 8;
constexpr std::array kLosses{1.0, 0.2, 0.05, 0.01, 0.001};

/// The wires of one plane by number: hosts' up and down, then links' up and down.
class PlaneWires {
 public:
  explicit PlaneWires(const ProbeGrid& grid)
      : grid_(grid), hosts_(uint64_t{grid.t0} * grid.hosts_per_t0) {}

  uint64_t count() const { return 2 * (hosts_ + uint64_t{grid_.t0} * grid_.t1); }
  uint64_t of_host(uint32_t host, bool up) const { return up ? host : hosts_ + host; }
  uint64_t between(uint32_t row, uint32_t uplink, bool up) const {
    const uint64_t links = uint64_t{grid_.t0} * grid_.t1;
    return 2 * hosts_ + (up ? 0 : links) + uint64_t{row} * grid_.t1 + uplink;
  }
  uint64_t first_between() const { return 2 * hosts_; }

  std::vector<uint64_t> of(uint32_t host, const Probe& probe) const {
    const uint32_t row = host / grid_.hosts_per_t0;
    std::vector<uint64_t> wires{of_host(host, true)};
    if (probe.kind == ProbeKind::kT1) {
      wires.push_back(between(row, probe.uplink, true));
      wires.push_back(between(row, probe.uplink, false));
    } else if (probe.kind == ProbeKind::kCross) {
      wires.push_back(between(row, probe.uplink, true));
      wires.push_back(between(probe.far_row, probe.uplink, false));
      wires.push_back(between(probe.far_row, probe.back, true));
      wires.push_back(between(row, probe.back, false));
    }
    wires.push_back(of_host(host, false));
    return wires;
  }

 private:
  const ProbeGrid& grid_;
  uint64_t hosts_;
};

/// One period of one plane: how often each wire is crossed; and what each wire has in common with others.
void cross_wires(const ProbeGrid& grid, const PlaneWires& wires, uint64_t period, MapperPlan& plan,
                 std::vector<uint32_t>& crossed, std::vector<uint64_t>& marks) {
  std::fill(crossed.begin(), crossed.end(), 0);
  for (uint32_t host = 0; host < grid.t0 * grid.hosts_per_t0; ++host) {
    const std::vector<Probe> probes = probes_of(grid, plan.mapper, host, 0, period);
    plan.most_a_port = std::max(plan.most_a_port, static_cast<uint32_t>(probes.size()));
    for (const Probe& probe : probes) {
      const std::vector<uint64_t> over = wires.of(host, probe);
      uint64_t mark = 0;  // by its wires: a probe over the same ones says the same
      for (const uint64_t wire : over) mark = mix64(mark ^ wire);
      for (const uint64_t wire : over) {
        ++crossed[wire];
        marks[wire] += mix64(mark);
      }
      if (period > 0) continue;
      (probe.kind == ProbeKind::kT0   ? plan.t0
       : probe.kind == ProbeKind::kT1 ? plan.t1
                                      : plan.cross) += grid.planes;
    }
  }
  const auto missed = static_cast<uint64_t>(std::count(crossed.begin(), crossed.end(), 0u));
  plan.crossed = std::min(plan.crossed, (wires.count() - missed) * grid.planes);
  const auto between = crossed.begin() + static_cast<ptrdiff_t>(wires.first_between());
  if (between != crossed.end()) {
    plan.most_a_wire = std::max(plan.most_a_wire, *std::max_element(between, crossed.end()));
  }
}

std::string percent(double share) { return fmt::format("{:.3g} %", share * 100); }

std::string kinds_text(const MapperProfile& mapper) {
  std::string text = mapper.t0 ? "t0" : "";
  if (mapper.t1) text += text.empty() ? "t1" : ", t1";
  if (mapper.cross) text += text.empty() ? "cross" : ", cross";
  return text;
}

}  // namespace

MapperPlan plan_mapper(const FabricShape& shape) {
  if (!shape.graph.empty()) {
    throw InputError(
        "--mapper: found a fabric that is no regular planes: expected planes of T0s and T1s");
  }
  const Topology outline = outline_topology(shape);
  const ProbeGrid grid{outline.planes, outline.t0_per_plane, outline.t1_per_plane,
                       outline.hosts_per_t0};
  MapperPlan plan;
  plan.mapper = outline.mapper;
  if (!plan.mapper.on) plan.mapper.period = {0, FabricTime::from_ms(1)};
  plan.mapper.on = true;
  plan.period = plan.mapper.period.at(outline.base_rtt);
  plan.planes = grid.planes;
  plan.hosts = grid.t0 * grid.hosts_per_t0;
  plan.hosts_per_t0 = grid.hosts_per_t0;
  const PlaneWires wires(grid);
  plan.wires = plan.crossed = wires.count() * grid.planes;
  std::vector<uint32_t> crossed(wires.count());
  std::vector<uint64_t> marks(wires.count());
  // Whatever period it is that a host's turn comes in, all hosts' turns are alike: at least one whole round of a few.
  plan.periods_looked_at = std::max(kPeriodsLookedAt, std::min(grid.hosts_per_t0, 32u));
  if (plan.wires > 1'000'000) plan.periods_looked_at = kPeriodsLookedAt;
  for (uint32_t period = 0; period < plan.periods_looked_at; ++period) {
    cross_wires(grid, wires, period, plan, crossed, marks);
  }
  std::unordered_map<uint64_t, uint32_t> sizes;
  for (const uint64_t mark : marks) ++sizes[mark];
  sizes.erase(0);  // crossed by none
  plan.classes = sizes.size();
  for (const auto& [mark, size] : sizes) plan.alone += size == 1 ? 1 : 0;
  const double bits = static_cast<double>(wire_length({probe_bytes(plan.mapper.form)}).value) * 8;
  plan.share =
      plan.most_a_port * bits /
      (static_cast<double>(plan.period.ps()) * 1e-12 * static_cast<double>(outline.host_rate.bps));
  plan.threshold = alarm_threshold(plan.t0 + plan.t1 + plan.cross);
  for (const double loss : kLosses) {
    const double bad = std::min(loss, 1 - kProbeChance);
    plan.delays.push_back({loss, std::max(1.0, std::ceil(analysis::probes_to_alarm(
                                                   bad, kProbeChance, plan.threshold)))});
  }
  return plan;
}

std::string mapper_plan_text(const MapperPlan& plan) {
  std::string text = fmt::format("mapper, a period of {}, probes {}\n", to_string(plan.period),
                                 kinds_text(plan.mapper));
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("  {:<22}{}\n", name, value);
  };
  line("probes a period", fmt::format("{} ({} t0, {} t1, {} cross)", plan.t0 + plan.t1 + plan.cross,
                                      plan.t0, plan.t1, plan.cross));
  line("wires crossed",
       fmt::format("{} of {} in every period, at most {} times each between switches", plan.crossed,
                   plan.wires, plan.most_a_wire));
  line("of a host's port",
       fmt::format("at most {} probes a period, {}", plan.most_a_port, percent(plan.share)));
  line("told apart", fmt::format("{} classes of wires a plane in {} periods, {} of them one wire",
                                 plan.classes, plan.periods_looked_at, plan.alone));
  line("not told apart",
       plan.alone == 0
           ? "the two directions of a link: cross probes would"
           : "the two directions of a host's port: what queue pairs report of their paths would");
  line("", "a wire, the optics at its ends and its entry in the table: light and");
  line("", "frame checks of the receiving port would");
  line("one false alarm",
       fmt::format("in {:.0g} periods: {:.1f} nats", kPeriodsPerAlarm, plan.threshold));
  text += "  loss     probes until it is named, in the mean\n";
  for (const MapperPlan::Delay& delay : plan.delays) {
    const auto ps = static_cast<double>(plan.period.ps()) * delay.probes;
    text += fmt::format("  {:<8} {:>6.0f}   {}\n", percent(delay.loss), delay.probes,
                        to_string(FabricTime::from_ps(static_cast<int64_t>(ps))));
  }
  return text;
}

nlohmann::ordered_json mapper_plan_json(const MapperPlan& plan) {
  nlohmann::ordered_json json{{"period_ns", plan.period.ns()},
                              {"hosts", plan.hosts},
                              {"planes", plan.planes},
                              {"t0", plan.t0},
                              {"t1", plan.t1},
                              {"cross", plan.cross},
                              {"wires", plan.wires},
                              {"crossed", plan.crossed},
                              {"most_a_wire", plan.most_a_wire},
                              {"most_a_port", plan.most_a_port},
                              {"share", plan.share},
                              {"periods_looked_at", plan.periods_looked_at},
                              {"classes_a_plane", plan.classes},
                              {"of_one_wire", plan.alone},
                              {"threshold", plan.threshold}};
  json["delays"] = nlohmann::ordered_json::array();
  for (const MapperPlan::Delay& delay : plan.delays) {
    json["delays"].push_back({{"loss", delay.loss}, {"probes", delay.probes}});
  }
  return json;
}

}  // namespace mrclab::lab
