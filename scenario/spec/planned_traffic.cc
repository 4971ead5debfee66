#include "scenario/spec/planned_traffic.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "scenario/spec/connections.h"

namespace mrclab::lab {
namespace {

/// Where the start of a workload stands in the file, or the whole of it if it is the fabric's.
YamlValue start_in(const YamlValue& entry) {
  const YamlValue body = entry.members().front().second;
  const auto at = body.get("at");
  return at ? *at : entry;
}

/// The bytes that every sender of a paced workload offers in a while.
template <class Spec>
uint64_t offered_bytes(const Spec& spec, const Topology& topology, FabricTime time) {
  const auto line = static_cast<unsigned __int128>(topology.host_rate.bps) * topology.planes;
  const auto bits = line * spec.load.ppb / Probability::kOne * static_cast<uint64_t>(time.ps());
  return static_cast<uint64_t>(bits / 8u / 1'000'000'000'000u);
}

using Jobs = std::vector<const endpoint::JobPlan*>;

Jobs jobs_of(const Scenario& scenario) {
  Jobs jobs;
  for (const endpoint::WorkloadSpec& spec : scenario.workload) {
    const auto* const work = std::get_if<endpoint::JobWorkload>(&spec);
    if (work != nullptr && work->plan != nullptr) jobs.push_back(work->plan.get());
  }
  return jobs;
}

/// Where the key stands; behind a word alone, or with one value for all, that itself.
YamlValue place_of(const YamlValue& body, std::string_view key) {
  const auto value = body.is_map() ? body.get(key) : std::nullopt;
  return value ? *value : body;
}

bool exchanges_in(const job::PlannedJob& job, const std::string& group) {
  return std::any_of(job.labels.begin(), job.labels.end(),
                     [&](const job::OpLabel& label) { return label.group == group; });
}

}  // namespace

std::vector<PlannedFlow> planned_flows(const Scenario& scenario) {
  std::vector<PlannedFlow> flows;
  try {
    for (const endpoint::ConnectionPlan& plan : connections_of(scenario)) {
      if (plan.queue != 0) continue;
      const FabricTime start = endpoint::start_of(scenario.workload.at(plan.workload));
      flows.push_back({plan.initiator.host, plan.acceptor.host, start});
      if (plan.way_back) flows.push_back({plan.acceptor.host, plan.initiator.host, start});
    }
  } catch (const std::invalid_argument&) {
    return {};  // too many queue pairs: refused when it runs
  }
  return flows;
}

bool names_paths(const Scenario& scenario) {
  const bool roce = endpoint::make_profile(scenario.transport, scenario.topology).transport ==
                    endpoint::TransportKind::kRoce;
  return std::any_of(scenario.workload.begin(), scenario.workload.end(), [&](const auto& spec) {
    const auto transport = endpoint::transport_of(spec);
    const bool by_roce = transport ? *transport == endpoint::TransportKind::kRoce : roce;
    const Routing routing =
        endpoint::routing_of(spec).value_or(scenario.topology.routing.by_default);
    return !by_roce && routing == Routing::kSrv6;
  });
}

void require_possible_work(const YamlValue& entry, const endpoint::WorkloadSpec& spec,
                           const Topology& topology, FabricTime end) {
  const FabricTime start = endpoint::start_of(spec);
  if (start >= end) {
    start_in(entry).fail("work that begins at " + exact(start),
                         "an instant before the end at " + exact(end));
  }
  if (end == FabricTime::never()) return;
  std::visit(
      [&](const auto& any) {
        if constexpr (requires { any.load; }) {
          const uint64_t packet = std::min<uint64_t>(topology.pmtu, any.message.value);
          if (offered_bytes(any, topology, end - start) >= packet) return;
          entry.members().front().second.require("load").fail(
              exact(any.load) + ", which is less than one packet until the end at " + exact(end),
              "a load that sends something");
        }
      },
      spec);
}

void require_possible(const Scenario& scenario, const AskedOfJob& asked, const YamlValue& entry,
                      const YamlValue& body) {
  Jobs jobs = jobs_of(scenario);
  if (jobs.empty()) {
    entry.fail(std::string(asked.word) + ", without a job", "a \"job\" in \"workload\"");
  }
  if (asked.serves) {
    std::erase_if(jobs, [](const endpoint::JobPlan* job) { return !job->serve; });
    if (jobs.empty()) {
      entry.fail(std::string(asked.word) + ", without a service", "a \"serve\" in \"workload\"");
    }
  }
  std::vector<std::string> names;
  for (const endpoint::JobPlan* job : jobs) names.push_back(job->planned.name);
  if (!asked.job.empty()) {
    std::erase_if(jobs,
                  [&](const endpoint::JobPlan* job) { return job->planned.name != asked.job; });
    if (jobs.empty()) {
      place_of(body, "job").fail("the job " + in_quotes(asked.job), one_of(asked.job, names));
    }
  }
  for (const endpoint::JobPlan* plan : jobs) {
    const job::PlannedJob* const job = &plan->planned;
    if (asked.objective && !plan->serve->objective) {
      entry.fail(std::string(asked.word) + " of " + job->name + ", which has no objective",
                 "\"objective: {ttft: ..., tpot: ...}\" in the service");
    }
    const std::string has = job->name + " has steps 0 to " + std::to_string(job->steps - 1);
    if (asked.from_step.value.value_or(0) >= job->steps) {
      place_of(body, "from_step").fail_expecting("a step that counts: " + has);
    }
    if (asked.steps > job->steps) {
      place_of(body, "at_least")
          .fail_expecting("at most " + std::to_string(job->steps) + ": " + has);
    }
    if (!asked.group.empty() && !exchanges_in(*job, asked.group)) {
      place_of(body, "group")
          .fail("the group " + in_quotes(asked.group),
                "one in which " + job->name + " exchanges anything");
    }
  }
}

}  // namespace mrclab::lab
