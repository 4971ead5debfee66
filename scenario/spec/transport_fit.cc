#include "scenario/spec/transport_fit.h"

#include <fmt/format.h>

#include <algorithm>

#include "endpoint/options/profile_maker.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/keys/forwarding_file.h"
#include "fabric/topology/topology_builder.h"

namespace mrclab::lab {
namespace {

/// HPCC's tuning was made for its switches; what a fabric or an option states goes before. The fabric's statement is kept,
/// because the scenario may be run under another transport after this one.
void fit_switches(const endpoint::TransportProfile& profile, bool roce, Scenario& scenario) {
  LosslessProfile& lossless = scenario.fabric.lossless;
  if (!scenario.stated_switches) scenario.stated_switches = {lossless.red, lossless.asic};
  const auto [red, asic] = *scenario.stated_switches;
  const bool hpcc = roce && profile.dcqcn == endpoint::DcqcnChoice::kHpcc;
  const auto red_default = hpcc && red == RedProfile::kFabric ? RedProfile::kHpcc : red;
  const auto asic_default = hpcc && asic == SwitchAsic::kScaled ? SwitchAsic::kHpcc : asic;
  lossless.red = profile.red.value_or(red_default);
  lossless.asic = profile.asic.value_or(asic_default);
}

}  // namespace

bool has_carrier_routes_alone(const Topology& topology) {
  return topology.has_forwarding(Forwarding::kKernel) || topology.has_forwarding(Forwarding::kBpf);
}

bool uses_roce(const Scenario& scenario) {
  const bool by_default = endpoint::make_profile(scenario.transport, scenario.topology).transport ==
                          endpoint::TransportKind::kRoce;
  if (by_default && !scenario.programs.empty()) return true;  // their queue pairs are the host's
  return std::any_of(scenario.workload.begin(), scenario.workload.end(), [&](const auto& spec) {
    const auto transport = endpoint::transport_of(spec);
    return transport ? *transport == endpoint::TransportKind::kRoce : by_default;
  });
}

std::optional<std::string_view> why_without_roce(const Topology& topology) {
  if (!topology.planes_apart) {
    return "a listed fabric whose NICs have several ports";
  }
  if (!topology.regular() && topology.has_forwarding(Forwarding::kOvs)) {
    return "switches of Open vSwitch, and three tiers or links one by one";
  }
  if (topology.routing.underlay == Underlay::kIpv4) return "an IPv4 underlay";
  if (has_carrier_routes_alone(topology)) return "switches of the kernel";
  return std::nullopt;
}

void fit_fabric_to_transport(Scenario& scenario) {
  const auto profile = endpoint::make_profile(scenario.transport, scenario.topology);
  endpoint::set_default_qps(scenario.workload, profile.qps);
  const bool roce = uses_roce(scenario);
  if (const auto found = why_without_roce(scenario.topology); roce && found) {
    throw InputError(
        fmt::format("{}: found RoCE in a fabric with {}: expected regular planes, or "
                    "NICs of one port, IPv6, and switches that hash",
                    scenario.name, *found));
  }
  LosslessProfile& lossless = scenario.fabric.lossless;
  lossless.pfc = roce && profile.pfc;
  lossless.adaptive = roce && profile.adaptive_routing;
  fit_switches(profile, roce, scenario);
  // A transport must not make a fabric that no fabric file may hold: the run could not read its own scenario.
  if (const auto misfit = forwarding_misfit(scenario.fabric)) {
    throw InputError(
        fmt::format("{}: found {}: expected {}", scenario.name, misfit->found, misfit->expected));
  }
  derive_queues(scenario.fabric, scenario.topology);
}

}  // namespace mrclab::lab
