#include "scenario/judging/job_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fabric/history/report_json.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

using endpoint::JobReport;
using endpoint::JobWorkload;

/// Null if the workload is no job.
const JobWorkload* job_at(const Scenario& scenario, uint32_t workload) {
  if (workload >= scenario.workload.size()) return nullptr;
  return std::get_if<JobWorkload>(&scenario.workload[workload]);
}

std::filesystem::path file_of(const std::filesystem::path& run, uint32_t workload, uint32_t rank) {
  return run / kJobsFolder / fmt::format("{}-{}.times", workload, rank);
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
    const uint32_t rank = report.rank.rank;
    if (job == nullptr || rank >= job->spec.hosts.size() || job->spec.hosts[rank] != host) {
      throw ReportError(fmt::format("jobs: found rank {} of workload {}, which host {} has not",
                                    rank, report.workload, host));
    }
    const size_t operations = job->plan->program.ops_of(rank).size();
    if (report.rank.times.size() != operations) {
      throw ReportError(fmt::format("jobs: found times of {} operations: rank {} has {}",
                                    report.rank.times.size(), rank, operations));
    }
    outcome.jobs.push_back(std::move(report));
  }
}

std::vector<JobOutcome> job_outcomes(const Scenario& scenario,
                                     const std::vector<JobReport>& reports) {
  std::vector<JobOutcome> outcomes;
  for (uint32_t workload = 0; workload < scenario.workload.size(); ++workload) {
    const JobWorkload* const job = job_at(scenario, workload);
    if (job == nullptr) continue;
    JobOutcome& outcome = outcomes.emplace_back();
    outcome.workload = workload;
    outcome.plan = job->plan;
    outcome.start = job->at;
    std::vector<job::RankTimes> ranks;
    for (const JobReport& report : reports) {
      if (report.workload != workload) continue;
      outcome.start =
          ranks.empty() ? report.rank.origin : std::min(outcome.start, report.rank.origin);
      take_death(outcome.died, report.rank);
      ranks.push_back(report.rank);
    }
    outcome.reported = static_cast<uint32_t>(ranks.size());
    outcome.times = job::joined_times(ranks, job->plan->program);
  }
  return outcomes;
}

void write_job_times(const Scenario& scenario, const std::vector<JobReport>& reports,
                     const std::filesystem::path& run) {
  for (const JobReport& report : reports) {
    const JobWorkload* const job = job_at(scenario, report.workload);
    if (job == nullptr) continue;
    netio::write_file(file_of(run, report.workload, report.rank.rank),
                      job::op_times_bytes(report.rank, job->plan->program));
  }
}

std::vector<JobReport> read_job_times(const Scenario& scenario, const std::filesystem::path& run) {
  std::vector<JobReport> reports;
  for (uint32_t workload = 0; workload < scenario.workload.size(); ++workload) {
    const JobWorkload* const job = job_at(scenario, workload);
    if (job == nullptr) continue;
    for (uint32_t rank = 0; rank < job->spec.hosts.size(); ++rank) {
      const std::filesystem::path file = file_of(run, workload, rank);
      std::error_code none;
      if (!std::filesystem::exists(file, none)) continue;
      JobReport& report = reports.emplace_back();
      report.workload = workload;
      report.rank = job::read_op_times(file, job->plan->program);
      if (report.rank.rank != rank) {
        throw InputError(fmt::format("{}: found rank {}", file.string(), report.rank.rank));
      }
    }
  }
  return reports;
}

}  // namespace mrclab::lab
