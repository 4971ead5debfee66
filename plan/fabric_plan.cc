#include "plan/fabric_plan.h"
#include "fabric/topology/build_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "fabric/text/yaml.h"

namespace mrclab::lab {
namespace {

constexpr uint32_t kEvSetSizes[] = {32, 64, 128, 256};  // MRC paper §2.1: 128-256 at start

constexpr uint64_t quotient_up(uint64_t n, uint64_t by) { return (n + by - 1) / by; }

uint32_t radix_of(const PlanRequest& request) {
  const uint64_t radix =
      request.radix != 0 ? request.radix : kSwitchCapacity.bps / request.port_rate.bps;
  if (radix < 2 || radix > kMaxRadix || radix % 2 != 0) {
    throw InputError(
        fmt::format("found a radix of {}: expected an even number from 2 to {}", radix, kMaxRadix));
  }
  return static_cast<uint32_t>(radix);
}

bool addressable(const FabricShape& shape) {
  try {
    outline_topology(shape);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

void choose_address_plan(const PlanRequest& request, FabricShape& shape) {
  std::string rooms;
  for (const AddressPlan plan : {AddressPlan::kLab, AddressPlan::kFull}) {
    if (request.address_plan && *request.address_plan != plan) continue;
    shape.address_plan = plan;
    const UsidLayout usids = UsidLayout::of(plan);
    if (addressable(shape)) return;
    rooms +=
        fmt::format("{}at most {} planes of {} T0s with {} hosts and of {} T1s (address plan {})",
                    rooms.empty() ? "" : ", or ", usids.planes(), usids.count(UsidRole::kT0),
                    usids.count(UsidRole::kNicPort), usids.count(UsidRole::kT1), usids.name());
  }
  throw InputError(fmt::format("found {} planes of {} T0s with {} hosts and of {} T1s: expected {}",
                               shape.planes, shape.t0, shape.hosts_per_t0, shape.t1, rooms));
}

void require_ports(const char* role, uint64_t needed_bps, BitRate capacity, const std::string& of) {
  if (needed_bps <= capacity.bps) return;
  throw InputError(
      fmt::format("found {} Gb/s of ports at a {} ({}): expected at most the {} Gb/s "
                  "of one switch",
                  needed_bps / 1'000'000'000, role, of, capacity.bps / 1'000'000'000));
}

Transceivers transceivers_of(const FabricShape& shape, const FabricPlan& plan) {
  Transceivers t;
  t.links_each = std::max(shape.links_per_optic, 1u);
  // A transceiver is in one switch or NIC, so each rounds up by itself.
  t.nic = plan.hosts * quotient_up(shape.planes, t.links_each);
  t.t0_down = plan.t0 * quotient_up(shape.hosts_per_t0, t.links_each);
  t.t0_up = plan.tiers == 1 ? 0 : plan.t0 * quotient_up(shape.t1, t.links_each);
  t.t1 = plan.t1 * quotient_up(shape.t0, t.links_each);
  return t;
}

void count_routes(const FabricShape& shape, FabricPlan& plan) {
  plan.t0_routes.up = shape.t1;
  plan.t0_routes.down = plan.t0_routes.kernels = shape.hosts_per_t0;
  plan.t0_routes.by_destination = plan.t1_routes.by_destination = plan.hosts;
  plan.t0_routes.by_destination_aggregated = shape.hosts_per_t0 + (shape.t1 > 0 ? 1 : 0);
  plan.t1_routes.down = plan.t1_routes.by_destination_aggregated = shape.t0;
}

void count_entropy_values(const FabricShape& shape, FabricPlan& plan) {
  plan.evs_in_row = shape.planes;
  plan.evs_per_pair = plan.tiers == 1 ? 0 : uint64_t{shape.planes} * shape.t1;
  for (const uint32_t size : kEvSetSizes) {
    if (size > plan.evs_per_pair || size % shape.planes != 0) continue;
    const uint32_t per_plane = size / shape.planes;
    plan.ev_sets.push_back({size, per_plane, Ratio::of(size, plan.evs_per_pair)});
  }
}

std::optional<DesignComparison> compare(const FabricShape& shape, BitRate capacity) {
  const uint64_t radix = capacity.bps / shape.host_rate.bps;
  const uint64_t wide = radix / shape.planes;
  if (radix % 2 != 0 || wide % 2 != 0 || wide < 4 || radix > kMaxRadix) return std::nullopt;
  DesignComparison c;
  c.planes = shape.planes;
  c.plane = {radix, 2};
  c.single = c.larger = {wide, 3};
  if (c.larger.hosts() < c.plane.hosts()) c.larger.tiers = 4;
  c.switches = Ratio::of(c.planes * c.plane.switches() * c.single.hosts(),
                         c.plane.hosts() * c.single.switches());
  // A link of the NIC's whole rate, or the `planes` links that together have it: the same
  // transceivers, two per tier crossed.
  c.transceivers = Ratio::of(2 * c.plane.tiers, 2 * c.single.tiers);
  return c;
}

}  // namespace

FabricShape shape_of(const PlanRequest& request) {
  const uint32_t radix = radix_of(request);
  const uint64_t down = request.hosts_per_t0 != 0 ? request.hosts_per_t0
                                                  : std::min<uint64_t>(radix / 2, request.hosts);
  const uint64_t most = down * radix;
  if (request.hosts == 0 || request.hosts > most) {
    throw InputError(fmt::format(
        "found {} hosts: expected 1 to {}, as {} hosts per T0 and T1s with {} ports allow",
        request.hosts, most, down, radix));
  }
  if (request.hosts % down != 0) {
    const uint64_t fewer = request.hosts / down * down;
    throw InputError(fmt::format("found {} hosts, which do not fill T0s of {}: expected {}{}",
                                 request.hosts, down,
                                 fewer == 0 ? "" : fmt::format("{} or ", fewer), fewer + down));
  }
  FabricShape shape;
  shape.name = "plan";
  shape.planes = request.planes;
  shape.hosts_per_t0 = static_cast<uint32_t>(down);
  shape.t0 = static_cast<uint32_t>(request.hosts / down);
  shape.t1 = request.t1 != 0 ? request.t1 : shape.t0 > 1 ? shape.hosts_per_t0 : 0;
  shape.host_rate = shape.fabric_rate = request.port_rate;
  shape.links_per_optic = request.planes;  // the NIC's transceiver has all its planes' links
  choose_address_plan(request, shape);
  return shape;
}

FabricPlan plan_fabric(const FabricShape& shape, BitRate capacity) {
  FabricPlan plan;
  plan.shape = shape;
  plan.outline = outline_topology(shape);
  plan.switch_capacity = capacity;
  plan.tiers = shape.t1 == 0 || shape.t0 == 1 ? 1 : 2;
  plan.longest_path = plan.tiers == 1 ? 1 : 3;
  plan.hosts = plan.outline.host_count();
  plan.t0 = uint64_t{shape.planes} * shape.t0;
  plan.t1 = uint64_t{shape.planes} * shape.t1;
  plan.nic_links = plan.hosts * shape.planes;
  plan.fabric_links = plan.t0 * shape.t1;
  plan.t0_ports = shape.hosts_per_t0 + shape.t1;
  plan.t1_ports = shape.t0;
  const uint64_t down_bps = shape.hosts_per_t0 * shape.host_rate.bps;
  const uint64_t up_bps = shape.t1 * shape.fabric_rate.bps;
  require_ports("T0", down_bps + up_bps, capacity,
                fmt::format("{} down, {} up", shape.hosts_per_t0, shape.t1));
  require_ports("T1", shape.t0 * shape.fabric_rate.bps, capacity, fmt::format("{}", shape.t0));
  plan.transceivers = transceivers_of(shape, plan);
  plan.nic_rate = {shape.planes * shape.host_rate.bps};
  plan.oversubscription = plan.tiers == 1 ? Ratio{1, 1} : Ratio::of(down_bps, up_bps);
  plan.bisection_bps = plan.hosts * plan.nic_rate.bps / 2;
  if (plan.tiers == 2) plan.bisection_bps = std::min(plan.bisection_bps, plan.t0 * up_bps / 2);
  plan.plane_bdp = bytes_in(shape.host_rate, plan.outline.base_rtt);
  plan.nic_bdp = bytes_in(plan.nic_rate, plan.outline.base_rtt);
  count_routes(shape, plan);
  count_entropy_values(shape, plan);
  plan.comparison = compare(shape, capacity);
  return plan;
}

}  // namespace mrclab::lab
