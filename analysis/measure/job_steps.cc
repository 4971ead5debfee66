#include "analysis/measure/job_steps.h"

#include <algorithm>
#include <set>

namespace mrclab::analysis {
namespace {

/// Which flows carry the job's data, by flow number.
std::vector<bool> flows_of(const JobResult& job, const Topology& topology,
                           const PacketHistory& history) {
  const std::set<std::pair<uint32_t, Qpn>> ends(job.queue_pairs.begin(), job.queue_pairs.end());
  std::set<uint32_t> hosts;
  for (const std::string& name : job.ranks) {
    if (const auto node = topology.find_node(name)) hosts.insert(topology.node(*node).index);
  }
  std::vector<bool> of_job;
  of_job.reserve(history.flows().size());
  for (const Flow& flow : history.flows()) {
    of_job.push_back(ends.empty() ? hosts.contains(flow.source) && hosts.contains(flow.destination)
                                  : ends.contains({flow.destination, flow.destination_qp}));
  }
  return of_job;
}

/// When they were lost, in order.
std::vector<FabricTime> losses_of(const std::vector<bool>& flows, const PacketHistory& history) {
  std::vector<FabricTime> times;
  for (const Attempt& attempt : history.attempts()) {
    if (attempt.lost() && flows[history.packets()[attempt.packet].flow]) {
      times.push_back(attempt.ended);
    }
  }
  std::sort(times.begin(), times.end());
  return times;
}

}  // namespace

void mark_faults(JobResult& job, std::span<const FaultSpan> faults, FabricTime end) {
  for (JobStep& step : job.steps) {
    step.faults.clear();
    for (uint32_t i = 0; i < faults.size() && step.faults.size() < kMaxFaultsOfStep; ++i) {
      const bool on = faults[i].start < std::min(step.end, end) && faults[i].healed_at > step.begin;
      if (on) step.faults.push_back(i);
    }
  }
}

void mark_power_loss(JobResult& job, const Topology& topology,
                     std::span<const ScheduledEffect> schedule, FabricTime end) {
  const FabricTime until = std::min(job.done.value_or(end), end);
  for (const ScheduledEffect& scheduled : schedule) {
    const auto* const state = std::get_if<HostState>(&scheduled.effect);
    if (state == nullptr || state->work != HostWork::kDown) continue;
    if (scheduled.at < job.begin || scheduled.at >= until) continue;
    const auto rank =
        std::find(job.ranks.begin(), job.ranks.end(), topology.node(state->host).name);
    // Where the job went on behind it, it did so without this host.
    const bool went_on = std::any_of(job.turns.begin(), job.turns.end(), [&](const JobTurn& turn) {
      return turn.went_on() && scheduled.at < turn.begun;
    });
    if (rank == job.ranks.end() || went_on || (job.died && job.died->at <= scheduled.at)) continue;
    job.died = JobDeath{static_cast<uint32_t>(rank - job.ranks.begin()), "its host lost its power",
                        scheduled.at};
  }
}

void count_losses(JobResult& job, const Topology& topology, const PacketHistory& history,
                  FabricTime end) {
  const std::vector<FabricTime> lost = losses_of(flows_of(job, topology, history), history);
  for (JobStep& step : job.steps) {
    const auto first = std::lower_bound(lost.begin(), lost.end(), step.begin);
    const auto behind = std::lower_bound(first, lost.end(), std::min(step.end, end));
    step.lost = static_cast<uint64_t>(behind - first);
  }
}

std::vector<FabricTime> step_times(const JobResult& job, uint32_t from) {
  std::vector<FabricTime> times;
  for (size_t i = from; i < job.steps.size(); ++i) {
    if (job.steps[i].ended()) times.push_back(job.steps[i].time());
  }
  return times;
}

FabricTime mean_of(const std::vector<FabricTime>& times) {
  if (times.empty()) return {};
  __extension__ __int128 sum = 0;
  for (const FabricTime t : times) sum += t.ps();
  return FabricTime::from_ps(static_cast<int64_t>(sum / static_cast<int64_t>(times.size())));
}

}  // namespace mrclab::analysis
