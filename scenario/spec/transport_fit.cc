#include "scenario/spec/transport_fit.h"

#include <fmt/format.h>

#include <algorithm>

#include "endpoint/options/profile_maker.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/forwarding_file.h"

namespace mrclab::lab {

bool has_carrier_routes_alone(const Topology& topology) {
  return topology.has_forwarding(Forwarding::kKernel) || topology.has_forwarding(Forwarding::kBpf);
}

bool uses_roce(const Scenario& scenario) {
  const bool by_default = endpoint::make_profile(scenario.transport, scenario.topology).transport ==
                          endpoint::TransportKind::kRoce;
  return std::any_of(scenario.workload.begin(), scenario.workload.end(), [&](const auto& spec) {
    const auto transport = endpoint::transport_of(spec);
    return transport ? *transport == endpoint::TransportKind::kRoce : by_default;
  });
}

std::optional<std::string_view> why_without_roce(const Topology& topology) {
  if (!topology.regular() && topology.planes != 1) {
    return "a listed fabric whose NICs have several ports";
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
  // A transport must not make a fabric that no fabric file may hold: the run could not read its own scenario.
  if (const auto misfit = forwarding_misfit(scenario.fabric)) {
    throw InputError(
        fmt::format("{}: found {}: expected {}", scenario.name, misfit->found, misfit->expected));
  }
  scenario.topology.lossless = lossless;
}

}  // namespace mrclab::lab
