#pragma once
// What a transport asks of the fabric that is to carry it.

#include <optional>
#include <string_view>

#include "fabric/topology/topology.h"
#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {

/// Is there a switch that has routes for carriers only?
bool has_carrier_routes_alone(const Topology& topology);
/// Is a workload carried by RoCE?
bool uses_roce(const Scenario& scenario);
/// What a fabric has that cannot carry RoCE, in words; empty if it can.
std::optional<std::string_view> why_without_roce(const Topology& topology);
/// What a transport asks of the rest: pauses and adaptive routing of the switches where RoCE is used, and
/// the queue pairs of workloads that name no number. To be called again when the transport is exchanged.
/// Throws InputError for RoCE where the fabric cannot carry it.
void fit_fabric_to_transport(Scenario& scenario);

}  // namespace mrclab::lab
