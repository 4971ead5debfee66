#include "scenario/judging/job_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "endpoint/host/host_account.h"
#include "fabric/history/report_json.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

using endpoint::JobAttempt;
using endpoint::JobReport;
using endpoint::JobWorkload;

/// Null if the workload is no job.
const JobWorkload* job_at(const Scenario& scenario, uint32_t workload) {
  if (workload >= scenario.workload.size()) return nullptr;
  return std::get_if<JobWorkload>(&scenario.workload[workload]);
}

std::filesystem::path file_of(const std::filesystem::path& run, uint32_t workload, uint32_t attempt,
                              uint32_t rank) {
  const std::string name = attempt == 0 ? fmt::format("{}-{}.times", workload, rank)
                                        : fmt::format("{}-a{}-{}.times", workload, attempt, rank);
  return run / kJobsFolder / name;
}

std::filesystem::path turns_file(const std::filesystem::path& run, uint32_t workload) {
  return run / kJobsFolder / fmt::format("{}.turns", workload);
}

constexpr const char* kTurnsKey = "turns";
constexpr size_t kTurnsBytesMax = size_t{16} << 20;

const JobAttempt* later_attempt(const JobWorkload& job, uint32_t attempt) {
  if (!job.recovery || attempt == 0 || attempt > job.recovery->later.size()) return nullptr;
  return &job.recovery->later[attempt - 1];
}

std::shared_ptr<const endpoint::JobPlan> plan_of(const JobWorkload& job, uint32_t attempt) {
  const JobAttempt* const later = later_attempt(job, attempt);
  return later != nullptr ? later->plan : job.plan;
}

/// Can this host have that rank then?
bool may_have(const JobWorkload& job, uint32_t host, uint32_t attempt, uint32_t rank) {
  if (attempt == 0) return rank < job.spec.hosts.size() && job.spec.hosts[rank] == host;
  const JobAttempt* const later = later_attempt(job, attempt);
  if (later == nullptr || rank >= later->plan->program.graph().ranks()) return false;
  const std::vector<uint32_t>& hosts = job.recovery->hosts;
  return std::find(hosts.begin(), hosts.end(), host) != hosts.end();
}

/// Throws ReportError for notes that no launcher of this job can have made.
void check_turns(const JobWorkload& job, const std::vector<job::JobTurn>& turns) {
  const size_t hosts = job.spec.hosts.size();
  for (const job::JobTurn& turn : turns) {
    const JobAttempt* const next = later_attempt(job, turn.next);
    const bool begun = turn.begun != FabricTime::never();
    const bool fits = !begun || (next != nullptr && turn.from_step <= job.plan->planned.steps &&
                                 turn.hosts.size() == next->plan->program.graph().ranks());
    if (fits && turn.lost.size() <= hosts && turns.size() <= job::kMaxAttempts + 1) continue;
    throw ReportError(
        fmt::format("jobs: found attempt {} with {} hosts from step {}, which the "
                    "job has not",
                    turn.next, turn.hosts.size(), turn.from_step));
  }
}

/// Of several the one that died first, of one instant that with the lowest rank.
void take_death(std::optional<JobDeath>& first, const job::RankTimes& rank) {
  if (rank.died_at == FabricTime::never()) return;
  const auto key = [](FabricTime at, uint32_t number) { return std::pair(at, number); };
  if (first && key(first->at, first->rank) < key(rank.died_at, rank.rank)) return;
  first = JobDeath{rank.rank, rank.died, rank.died_at};
}

}  // namespace

void add_jobs(WorldOutcome& outcome, const Scenario& scenario, uint32_t host,
              std::vector<JobReport> jobs) {
  for (JobReport& report : jobs) {
    const JobWorkload* const job = job_at(scenario, report.workload);
    if (job != nullptr && report.of_launcher && job->recovery && job->recovery->launcher == host) {
      check_turns(*job, report.turns);
      outcome.jobs.push_back(std::move(report));
      continue;
    }
    const uint32_t rank = report.rank.rank;
    if (job == nullptr || report.of_launcher || !may_have(*job, host, report.attempt, rank)) {
      throw ReportError(fmt::format("jobs: found rank {} of workload {}, which host {} has not",
                                    rank, report.workload, host));
    }
    const size_t operations = plan_of(*job, report.attempt)->program.ops_of(rank).size();
    if (report.rank.times.size() != operations) {
      throw ReportError(fmt::format("jobs: found times of {} operations: rank {} has {}",
                                    report.rank.times.size(), rank, operations));
    }
    outcome.jobs.push_back(std::move(report));
  }
}

namespace {

/// Its times and what ended it, of one attempt.
JobOutcome outcome_of(const JobWorkload& job, uint32_t workload, uint32_t attempt,
                      const std::vector<JobReport>& reports) {
  JobOutcome outcome;
  outcome.workload = workload;
  outcome.attempt = attempt;
  outcome.plan = plan_of(job, attempt);
  outcome.start = job.at;
  outcome.hosts = job.spec.hosts;
  std::vector<job::RankTimes> ranks;
  for (const JobReport& report : reports) {
    if (report.workload != workload || report.attempt != attempt || report.of_launcher) continue;
    outcome.start =
        ranks.empty() ? report.rank.origin : std::min(outcome.start, report.rank.origin);
    take_death(outcome.died, report.rank);
    ranks.push_back(report.rank);
  }
  outcome.reported = static_cast<uint32_t>(ranks.size());
  outcome.times = job::joined_times(ranks, outcome.plan->program);
  return outcome;
}

}  // namespace

const std::vector<job::JobTurn>* turns_of(const std::vector<JobReport>& reports,
                                          uint32_t workload) {
  for (const JobReport& report : reports) {
    if (report.workload == workload && report.of_launcher && !report.turns.empty()) {
      return &report.turns;
    }
  }
  return nullptr;
}

namespace {

/// Where all ranks of an attempt were ended by the launcher, none had an error: a host did not answer when it was asked.
/// The first rank of that host is what was lost.
void name_silent_host(const job::JobTurn& turn, JobOutcome& attempt) {
  if (!attempt.died || attempt.died->reason != job::kEndedByLauncher) return;
  const auto rank = std::find(attempt.hosts.begin(), attempt.hosts.end(), turn.reporter);
  if (rank == attempt.hosts.end()) return;
  attempt.died = JobDeath{static_cast<uint32_t>(rank - attempt.hosts.begin()),
                          "its host did not answer the launcher's heartbeat", turn.reported};
}

}  // namespace

std::vector<JobOutcome> job_outcomes(const Scenario& scenario,
                                     const std::vector<JobReport>& reports) {
  std::vector<JobOutcome> outcomes;
  for (uint32_t workload = 0; workload < scenario.workload.size(); ++workload) {
    const JobWorkload* const job = job_at(scenario, workload);
    if (job == nullptr) continue;
    JobOutcome& first = outcomes.emplace_back(outcome_of(*job, workload, 0, reports));
    const std::vector<job::JobTurn>* const turns = turns_of(reports, workload);
    if (turns == nullptr) continue;
    first.turns = *turns;
    for (const job::JobTurn& turn : *turns) {
      if (turn.begun == FabricTime::never()) continue;
      JobOutcome& later = first.later.emplace_back(outcome_of(*job, workload, turn.next, reports));
      later.from_step = turn.from_step;
      later.hosts = turn.hosts;
    }
    for (const job::JobTurn& turn : *turns) {
      if (turn.attempt == 0) name_silent_host(turn, first);
      for (JobOutcome& later : first.later) {
        if (later.attempt == turn.attempt) name_silent_host(turn, later);
      }
    }
  }
  return outcomes;
}

void write_job_times(const Scenario& scenario, const std::vector<JobReport>& reports,
                     const std::filesystem::path& run) {
  for (const JobReport& report : reports) {
    const JobWorkload* const job = job_at(scenario, report.workload);
    if (job == nullptr) continue;
    if (report.of_launcher) {
      if (report.turns.empty()) continue;
      netio::write_file(turns_file(run, report.workload),
                        sealed_report({{kTurnsKey, report_value(report.turns)}}));
      continue;
    }
    netio::write_file(file_of(run, report.workload, report.attempt, report.rank.rank),
                      job::op_times_bytes(report.rank, plan_of(*job, report.attempt)->program));
  }
}

namespace {

void read_ranks(const std::filesystem::path& run, const JobWorkload& job, uint32_t workload,
                uint32_t attempt, std::vector<JobReport>& reports) {
  const auto plan = plan_of(job, attempt);
  for (uint32_t rank = 0; rank < plan->program.graph().ranks(); ++rank) {
    const std::filesystem::path file = file_of(run, workload, attempt, rank);
    std::error_code none;
    if (!std::filesystem::exists(file, none)) continue;
    JobReport& report = reports.emplace_back();
    report.workload = workload;
    report.attempt = attempt;
    report.rank = job::read_op_times(file, plan->program);
    if (report.rank.rank != rank) {
      throw InputError(fmt::format("{}: found rank {}", file.string(), report.rank.rank));
    }
  }
}

void read_turns(const std::filesystem::path& run, const JobWorkload& job, uint32_t workload,
                std::vector<JobReport>& reports) {
  const std::filesystem::path file = turns_file(run, workload);
  std::error_code none;
  if (!job.recovery || !std::filesystem::exists(file, none)) return;
  JobReport& report = reports.emplace_back();
  report.workload = workload;
  report.of_launcher = true;
  try {
    const nlohmann::json in = parse_sealed_report(netio::read_file(file, kTurnsBytesMax));
    const ReportPlace place{.key = kTurnsKey};
    read_value(required_key(in, kTurnsKey, place), report.turns, place);
    check_turns(job, report.turns);
  } catch (const ReportError& error) {
    throw InputError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

}  // namespace

std::vector<JobReport> read_job_times(const Scenario& scenario, const std::filesystem::path& run) {
  std::vector<JobReport> reports;
  for (uint32_t workload = 0; workload < scenario.workload.size(); ++workload) {
    const JobWorkload* const job = job_at(scenario, workload);
    if (job == nullptr) continue;
    read_ranks(run, *job, workload, 0, reports);
    const size_t ranks_of_first = reports.size();
    read_turns(run, *job, workload, reports);
    if (reports.size() == ranks_of_first) continue;
    const std::vector<job::JobTurn> turns = reports.back().turns;
    for (const job::JobTurn& turn : turns) {
      if (turn.begun != FabricTime::never()) read_ranks(run, *job, workload, turn.next, reports);
    }
  }
  return reports;
}

}  // namespace mrclab::lab
