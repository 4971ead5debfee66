#include "scenario/spec/contrast.h"

#include <algorithm>

#include "fabric/topology/build_topology.h"
#include "fabric/topology/fare.h"
#include "fabric/topology/keys/forwarding_file.h"
#include "scenario/spec/expectation_check.h"
#include "scenario/spec/fat_twin.h"
#include "scenario/spec/transport_fit.h"

namespace mrclab::lab {
ContrastName find_contrast(const Scenario& scenario, std::string_view name) {
  const auto found = std::find_if(scenario.contrasts.begin(), scenario.contrasts.end(),
                                  [&](const Contrast& each) { return each.name == name; });
  if (found != scenario.contrasts.end()) return {found->transport, &*found, found->on_fat_twin};
  if (const NamedTransport* transport = transport_called(name)) return {transport, nullptr};
  if (name.ends_with(kOnFatTwin)) {
    const auto base = name.substr(0, name.size() - kOnFatTwin.size());
    if (const auto* transport = transport_called(base)) return {transport, nullptr, true};
  }
  std::vector<std::string> names = transport_names();
  if (name.ends_with(kOnFatTwin)) {
    for (std::string& each : names) each += kOnFatTwin;
  }
  for (const Contrast& contrast : scenario.contrasts) names.push_back(contrast.name);
  throw NameError(in_quotes(std::string(name)) + ", which names no transport", one_of(name, names));
}

namespace {

/// What is written in the file may begin at once; where switches find their routes first it begins when they are there
/// (endpoint/workload/workload_spec.h), as it does in the scenario file that the run writes.
void begin_routed(const NamedTransport& transport, Scenario& scenario) {
  const FabricTime ready = fare_ready(scenario.topology);
  const Routing otherwise = scenario.topology.routing.by_default;
  for (auto& spec : scenario.workload) {
    if (endpoint::routing_of(spec).value_or(otherwise) != Routing::kFare) continue;
    const FabricTime at =
        std::visit([&](auto& of) { return of.at = std::max(of.at, ready); }, spec);
    if (at < scenario.end) continue;
    throw InputError(scenario.name + ", " + std::string(transport.name) + ": found an end at " +
                     to_string(scenario.end) + ": expected one after " + to_string(at) +
                     ", when such switches have found their routes");
  }
}

/// The same fabric with the transport's routing. Nodes, ports and links stay as they are numbered.
void route_as(const NamedTransport& transport, Scenario& scenario) {
  const YamlValue routing = read_yaml_text(transport.routing, "the transport's routing");
  scenario.fabric.routing = read_routing(routing);
  if (const auto misfit = forwarding_misfit(scenario.fabric)) {
    throw InputError(scenario.name + ", " + std::string(transport.name) + ": found " + misfit->key +
                     ": " + misfit->found + ": expected " + misfit->expected);
  }
  for (const auto& spec : scenario.workload) {
    const auto asked = endpoint::routing_of(spec);
    if (!asked || asked == Routing::kSrv6 || asked == scenario.fabric.routing.by_default) continue;
    throw InputError(scenario.name + ", " + std::string(transport.name) +
                     ": found a workload with a routing of its own: expected one without, which "
                     "another routing could carry");
  }
  scenario.topology = build_topology(scenario.fabric);
  if (scenario.topology.routing.is_fare()) begin_routed(transport, scenario);
}

}  // namespace

Scenario under_transport(const Scenario& scenario, const ContrastName& name) {
  Scenario result = name.on_fat_twin ? fat_twin(scenario) : scenario;
  const NamedTransport* const transport = name.transport;
  const Contrast* const contrast = name.contrast;
  if (!transport->routing.empty()) route_as(*transport, result);
  if (transport->set_queues != nullptr) {
    transport->set_queues(result.fabric.queues);
    result.topology = build_topology(result.fabric);
  }
  if (!transport->options.empty()) {
    const YamlValue options = read_yaml_text(transport->options, "the transport's options");
    const endpoint::TransportChoice choice = endpoint::parse_transport(options, scenario.topology);
    endpoint::replace_options(result.transport, choice);
    if (transport->family == TransportFamily::kRoce) result.transport.profile = choice.profile;
  }
  if (contrast != nullptr) {
    endpoint::replace_options(result.transport, contrast->options);
    result.expect = contrast->expect;
    if (const auto& dog = contrast->watchdog) {
      LosslessProfile& lossless = result.fabric.lossless;
      lossless.watchdog = dog->watchdog;
      lossless.detect = dog->detect;
      lossless.restore = dog->restore;
    }
  } else {
    std::erase_if(result.expect, [&, family = transport->family](const auto& expectation) {
      return !inapplicable(expectation, family).empty();
    });
  }
  fit_fabric_to_transport(result);
  if (contrast == nullptr) leave_out_impossible(result);
  return result;
}

std::string_view inapplicable(const analysis::Expectation& expectation, TransportFamily family) {
  using namespace analysis;
  if (family == TransportFamily::kSprays) return "";
  if (std::holds_alternative<ExpectShare>(expectation) ||
      std::holds_alternative<ExpectPortShare>(expectation) ||
      std::holds_alternative<ExpectPathUnused>(expectation) ||
      std::holds_alternative<ExpectLeave>(expectation)) {
    return "a queue pair has one path here";
  }
  if (family != TransportFamily::kRoce) return "";
  if (const auto* trims = std::get_if<ExpectTrims>(&expectation)) {
    return trims->at_least > 0 ? "RoCE is not trimmed" : "";
  }
  if (std::holds_alternative<ExpectEvsGood>(expectation)) return "RoCE has no entropy values";
  return "";
}

}  // namespace mrclab::lab
