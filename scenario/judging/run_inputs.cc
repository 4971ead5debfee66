#include "scenario/judging/run_inputs.h"

#include <algorithm>

#include "console/all_cores.h"
#include "console/version.h"
#include "endpoint/base/connection_attributes.h"
#include "endpoint/plan/connection_plan.h"
#include "endpoint/roce/rc_timers.h"
#include "fabric/topology/pattern.h"
#include "faults/fault.h"
#include "scenario/judging/alone_run.h"
#include "scenario/judging/dependences.h"
#include "scenario/judging/job_results.h"
#include "scenario/judging/twin_run.h"
#include "scenario/simulation/work_end.h"
#include "scenario/spec/connections.h"
#include "scenario/spec/queue_pairs.h"
#include "scenario/spec/transport_fit.h"

namespace mrclab::lab {
namespace {

/// From the last news to the error: all timeouts of the retry policy, one after the other
/// (endpoint/base/connection_attributes.h).
FabricTime retry_span(const Scenario& scenario) {
  const endpoint::TransportProfile profile =
      endpoint::make_profile(scenario.transport, scenario.topology);
  const endpoint::RetryPolicy policy{profile.ack_timeout, profile.linear_retries,
                                     profile.exponential_retries};
  if (policy.for_ever()) return scenario.end;
  FabricTime wait = policy.ack_timeout, span = wait * (policy.linear_retries + 1);
  for (uint32_t i = 0; i < policy.exponential_retries && span < scenario.end; ++i) {
    wait = wait * 2;
    span += wait;
  }
  return span;
}

/// Programs are cut short by the run's end, or end by themselves: nothing records which.
bool work_ends(const Scenario& scenario) {
  return scenario.programs.empty() &&
         std::all_of(scenario.workload.begin(), scenario.workload.end(), endpoint::ends);
}

/// The span of an RC queue pair: zero where there is none.
FabricTime rc_retry_span(const Scenario& scenario) {
  if (!uses_roce(scenario)) return FabricTime::zero();
  const auto profile = endpoint::make_profile(scenario.transport, scenario.topology);
  return endpoint::rc_times(profile).until_failure(profile.rc_retries);
}

std::string loss_timers(const Scenario& scenario) {
  bool mrc = false, rc = false;
  for (const QueuePairEnd& end : queue_pairs(scenario)) {
    (end.transport == endpoint::TransportKind::kRoce ? rc : mrc) = true;
  }
  if (!mrc && !rc) return "";
  return endpoint::loss_timers_text(scenario.transport, scenario.topology, mrc, rc);
}

std::vector<analysis::MemoryRegion> regions_of(const Scenario& scenario) {
  std::vector<analysis::MemoryRegion> regions;
  const auto add = [&](uint32_t host, const endpoint::RegionPlan& region) {
    regions.push_back({host, region.rkey, region.va, region.size});
  };
  for (const endpoint::ConnectionPlan& connection : connections_of(scenario)) {
    add(connection.acceptor.host, connection.region);
    if (connection.way_back) add(connection.initiator.host, *connection.way_back);
  }
  return regions;
}

std::vector<analysis::QueuePairName> names_of_queue_pairs(const Scenario& scenario) {
  std::vector<analysis::QueuePairName> names;
  for (const QueuePairEnd& end : queue_pairs(scenario)) {
    const bool roce = end.transport == endpoint::TransportKind::kRoce;
    names.push_back({end.host, end.qpn, end.peer_host, end.peer_qpn, roce});
  }
  return names;
}

}  // namespace

std::vector<analysis::FaultSpan> fault_spans_of(const Scenario& scenario) {
  std::vector<analysis::FaultName> names;
  for (const faults::Fault& fault : scenario.faults) {
    names.push_back(
        {faults::describe(fault, scenario.topology), std::string(faults::name_of(fault))});
  }
  return analysis::fault_spans(scenario.topology, names, scenario.schedule, scenario.stop());
}

analysis::Evidence::AtSwitches watched_at_switches(const Scenario& scenario) {
  using enum analysis::Evidence::AtSwitches;
  return scenario.captures == CaptureScope::kAll ? kDropsAndTrims : kDrops;
}

analysis::FollowedSenders followed_senders(const Scenario& scenario) {
  if (scenario.follow.empty()) return {};
  std::vector<bool> hosts(scenario.topology.host_count());
  for (const NodeId node : NameResolver(scenario.topology, scenario.seed).hosts(scenario.follow)) {
    hosts[scenario.topology.node(node).index] = true;
  }
  return analysis::FollowedSenders(std::move(hosts));
}

analysis::RunInputs run_inputs(const Scenario& scenario, std::string world, WorldOutcome&& outcome,
                               IsInterrupted interrupted) {
  std::vector<analysis::FaultSpan> faults = fault_spans_of(scenario);
  std::optional<analysis::EarlyEnd> early_end;
  std::vector<analysis::FaultSpan> later;
  if (scenario.until) later = analysis::take_not_reached(faults, scenario.stop());
  const size_t more_faults = later.size();
  if (scenario.until && !scenario.work_ended) early_end = {scenario.end, std::move(later)};
  outcome.timing.mode = scenario.timing;
  outcome.timing.faithful =
      outcome.timing.reasons.empty() && scenario.timing == TimingMode::kCarried;
  // Live nodes capture what all hosts send.
  analysis::FollowedSenders followed;
  if (world == "sim") followed = followed_senders(scenario);
  return {.topology = scenario.topology,
          .captures = {},
          .faults = std::move(faults),
          .expectations = scenario.expect,
          .hosts = std::move(outcome.hosts),
          .timing = std::move(outcome.timing),
          .scenario = scenario.name,
          .world = std::move(world),
          .version = std::string(release_version()),
          .build = {std::string(commit_text()), std::string(build_type())},
          .seed = scenario.seed,
          .payload_elided = scenario.payload_elided,
          .without = scenario.without,
          .end = scenario.stop(),
          .base_rtt = scenario.topology.base_rtt,
          .history_sha256 = history_sha256(outcome.history),
          .history_version = history_version(outcome.history),
          .loss_timers = loss_timers(scenario),
          .work_ends = work_ends(scenario),
          .early_end = std::move(early_end),
          .end_note = end_note(scenario, more_faults),
          .schedule = scenario.schedule,
          .followed = std::move(followed),
          .retry_span = retry_span(scenario),
          .rc_retry_span = rc_retry_span(scenario),
          .regions = regions_of(scenario),
          .queue_pairs = names_of_queue_pairs(scenario),
          .capture_records = outcome.capture_records,
          .twin = twin_of(scenario, interrupted),
          .dependences = dependences_of(scenario),
          .jobs = job_results(scenario, outcome.jobs),
          .alone = alone_of(scenario, std::move(interrupted)),
          .side_by_side = on_all_cores()};
}

}  // namespace mrclab::lab
