#include <algorithm>

#include "analysis/checks/expectation_rules.h"
#include "analysis/expect/expect_jobs.h"

namespace mrclab::analysis {
namespace {

using Jobs = std::vector<const JobResult*>;

// --- steps_done, job_alive, job_dies -----------------------------------------------------------------

CheckResult judge(const ExpectStepsDone& e, const JudgedRun& run) {
  CheckResult check;
  const uint32_t bound = e.at_least.value.value_or(1);
  check.bound = bound;
  const Jobs jobs = run.jobs_named(e.job);
  if (jobs.empty()) return unjudged(check, "the run had no such job");
  const JobResult* fewest = nullptr;
  uint64_t looked = 0;
  for (const JobResult* job : jobs) {
    if (!job->missing.empty()) return unjudged(check, job->missing);
    looked += job->steps_done();
    if (fewest == nullptr || job->steps_done() < fewest->steps_done()) fewest = job;
  }
  const size_t done = fewest->steps_done();
  check.measured = static_cast<double>(done);
  check.looked = run.of_whole_run(looked, "step", Source::kOperations);
  if (done >= bound) return passed(check, *check.looked);
  check.where = {fewest->begin, run.end_of_job(*fewest), fewest->name};
  std::string why = std::to_string(done) + " of " + fewest->name;
  if (fewest->died) {
    why += "; " + fewest->rank_name(fewest->died->rank) + " died at " +
           to_string(fewest->died->at) + ": " + fewest->died->reason;
  } else if (done < fewest->steps.size()) {
    why +=
        "; step " + std::to_string(done) + " is open since " + to_string(fewest->steps[done].begin);
  }
  return fewest->died || fewest->done ? proven(check, why) : failed(check, why);
}

CheckResult judge(const ExpectJobAlive& e, const JudgedRun& run) {
  CheckResult check;
  check.bound = 0;
  const Jobs jobs = run.jobs_named(e.job);
  if (jobs.empty()) return unjudged(check, "the run had no such job");
  uint64_t died = 0;
  std::string open;
  for (const JobResult* job : jobs) {
    if (job->died) {
      const JobDeath& death = *job->died;
      if (died++ > 0) continue;
      check.note = job->rank_name(death.rank) + " of " + job->name + " at " + to_string(death.at) +
                   ": " + death.reason;
      check.where = {death.at, run.measurements.end, job->rank_name(death.rank)};
    } else if (!job->missing.empty()) {
      open = job->missing;
    } else if (job->steps.empty()) {
      open = job->name + " has not begun";
    }
  }
  check.measured = static_cast<double>(died);
  check.looked = run.of_whole_run(jobs.size(), "job", Source::kOperations);
  const std::string why = check.note;
  if (died > 0) return proven(check, why);
  return open.empty() ? passed(check, *check.looked) : unjudged(check, open);
}

/// The death with these words that came first, and the job.
std::pair<const JobResult*, const JobDeath*> first_death(const Jobs& jobs, const std::string& by) {
  std::pair<const JobResult*, const JobDeath*> first{};
  for (const JobResult* job : jobs) {
    if (!job->died || job->died->reason.find(by) == std::string::npos) continue;
    if (first.second == nullptr || job->died->at < first.second->at) first = {job, &*job->died};
  }
  return first;
}

CheckResult judge(const ExpectJobDies& e, const JudgedRun& run) {
  CheckResult check;
  check.unit = "us";
  if (e.within > FabricTime::zero()) check.bound = e.within.us();
  const Jobs jobs = run.jobs_named(e.job);
  if (jobs.empty()) return unjudged(check, "the run had no such job");
  const FabricTime end = run.measurements.end, fault = run.first_fault();
  check.looked = run.of_whole_run(jobs.size(), "job", Source::kOperations);
  const auto counts_from = [&](const JobResult& job) {
    return fault == FabricTime::never() ? job.begin : std::max(fault, job.begin);
  };
  for (const JobResult* job : jobs) {  // another rank may have died before, of something else
    if (!job->missing.empty()) return unjudged(check, job->missing);
  }
  if (const auto [job, death] = first_death(jobs, e.by); death != nullptr) {
    const FabricTime after = std::max(death->at - counts_from(*job), FabricTime::zero());
    check.measured = after.us();
    check.where = {counts_from(*job), death->at, job->rank_name(death->rank) + " of " + job->name};
    if (e.within > FabricTime::zero() && after > e.within)
      return failed(check, "later than the bound");
    check.note = job->rank_name(death->rank) + " of " + job->name + ": " + death->reason;
    return passed(check, *check.looked);
  }
  const JobResult& first = *jobs.front();
  check.where = {counts_from(first), end, first.name};
  for (const JobResult* job : jobs) {
    if (job->died) {
      return proven(check, job->name + " died of something else: " + job->died->reason);
    }
    const FabricTime waited = end - counts_from(*job);
    if (!job->done && e.within > FabricTime::zero() && waited < e.within) {
      return unjudged(check, job->name + " is alive at the end, too early to judge");
    }
  }
  return failed(check, first.name + (first.done ? " was done at " + to_string(*first.done)
                                                : " is alive at the end"));
}

/// What is short now could have come.
template <class E>
CheckResult could_come(const E&, const EarlyResult& result) {
  if (result.check().result != Result::kFail || result.check().proven) return result.check();
  return result.inconclusive("there was time left at " + result.at());
}

}  // namespace

const Rules<ExpectStepsDone>& rules_of(const ExpectStepsDone&) {
  static constexpr Rules<ExpectStepsDone> kRules{
      .sentence = [](const ExpectStepsDone& e, const Wording& in) -> std::string {
        return "steps done" + Wording::of_job(e.job) +
               in.at_least(std::to_string(e.at_least.value.value_or(1)));
      },
      .evidence = needs<ExpectStepsDone>,
      .early_end = could_come<ExpectStepsDone>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectJobAlive>& rules_of(const ExpectJobAlive&) {
  static constexpr Rules<ExpectJobAlive> kRules{
      .sentence = [](const ExpectJobAlive& e, const Wording& in) -> std::string {
        return "jobs that died" + Wording::of_job(e.job) + in.at_most("0");
      },
      .evidence = needs<ExpectJobAlive>,
      .early_end = so_far<ExpectJobAlive>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectJobDies>& rules_of(const ExpectJobDies&) {
  static constexpr Rules<ExpectJobDies> kRules{
      .sentence = [](const ExpectJobDies& e, const Wording& in) -> std::string {
        return "time until a job" + (e.job.empty() ? "" : " " + e.job) + " dies of \"" + e.by +
               "\"" + (e.within > FabricTime::zero() ? in.at_most(in.time(e.within)) : "");
      },
      .evidence = needs<ExpectJobDies>,
      .early_end = could_come<ExpectJobDies>,
      .judge = judge,
  };
  return kRules;
}

}  // namespace mrclab::analysis
