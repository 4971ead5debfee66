#include "fabric/probes/probe_plan.h"

#include "fabric/base/random.h"

namespace mrclab {
namespace {

/// How far a period's cross probes go to the side.
struct CrossStep {
  uint32_t rows = 0, uplinks = 0;  ///< s and r
  enum class Half : uint8_t { kAll, kRows, kUplinks } half = Half::kAll;
};

CrossStep cross_step(const ProbeGrid& grid, uint64_t period) {
  CrossStep step;
  step.rows = 1 + static_cast<uint32_t>(period % (grid.t0 - 1));
  step.uplinks = 1 + static_cast<uint32_t>(period % (grid.t1 - 1));
  if (grid.t0 % 2 == 0 && step.rows % 2 == 1) {
    step.half = CrossStep::Half::kRows;
  } else if (grid.t1 % 2 == 0) {
    if (step.uplinks % 2 == 0) ++step.uplinks;  // t1 - 1 is odd, so this is below t1
    step.half = CrossStep::Half::kUplinks;
  }
  return step;
}

bool is_crossed(const CrossStep& step, uint32_t row, uint32_t uplink, uint64_t period) {
  switch (step.half) {
    case CrossStep::Half::kAll: return true;
    case CrossStep::Half::kRows: return (row + period) % 2 == 0;
    case CrossStep::Half::kUplinks: return (uplink + period) % 2 == 0;
  }
  return true;
}

char letter_of(ProbeKind kind) {
  return kind == ProbeKind::kT0 ? 't' : kind == ProbeKind::kT1 ? 'u' : 'x';
}

}  // namespace

std::string_view name_of(ProbeKind kind) {
  switch (kind) {
    case ProbeKind::kT0: return "t0";
    case ProbeKind::kT1: return "t1";
    case ProbeKind::kCross: return "cross";
  }
  return "unknown";
}

std::vector<Probe> probes_of(const ProbeGrid& grid, const MapperProfile& mapper, uint32_t host,
                             uint32_t plane, uint64_t period) {
  std::vector<Probe> probes;
  const uint32_t row = host / grid.hosts_per_t0, own = host % grid.hosts_per_t0;
  if (mapper.t0) probes.push_back({ProbeKind::kT0, plane});
  const uint32_t turn = static_cast<uint32_t>(period % grid.hosts_per_t0);
  const uint32_t first = (own + grid.hosts_per_t0 - turn) % grid.hosts_per_t0;
  const bool cross = mapper.cross && grid.t0 > 1 && grid.t1 > 1;
  const CrossStep step = cross ? cross_step(grid, period) : CrossStep{};
  for (uint32_t u = first; u < grid.t1; u += grid.hosts_per_t0) {
    if (mapper.t1) probes.push_back({ProbeKind::kT1, plane, u});
    if (!cross || !is_crossed(step, row, u, period)) continue;
    probes.push_back(
        {ProbeKind::kCross, plane, u, (row + step.rows) % grid.t0, (u + step.uplinks) % grid.t1});
  }
  return probes;
}

uint32_t most_probes(const ProbeGrid& grid, const MapperProfile& mapper) {
  const uint32_t links = (grid.t1 + grid.hosts_per_t0 - 1) / grid.hosts_per_t0;
  const bool cross = mapper.cross && grid.t0 > 1 && grid.t1 > 1;
  return (mapper.t0 ? 1 : 0) + links * ((mapper.t1 ? 1 : 0) + (cross ? 1 : 0));
}

FabricTime probe_offset(uint32_t host, uint32_t plane, FabricTime period) {
  const uint64_t place = mix64(uint64_t{host} << 32 | plane);
  return FabricTime::from_ps(
      static_cast<int64_t>(below(place, static_cast<uint64_t>(period.ps()))));
}

std::string to_string(const Probe& probe) {
  const uint32_t number = probe.kind == ProbeKind::kT0 ? 0 : probe.uplink;
  return "p" + std::to_string(probe.plane) + "/" + letter_of(probe.kind) + std::to_string(number);
}

}  // namespace mrclab
