#include <algorithm>

#include "analysis/checks/expectation_rules.h"
#include "analysis/expect/expect_jobs.h"
#include "analysis/measure/job_steps.h"

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

/// The death with these words that came first, and the job, whether it went on or not.
std::pair<const JobResult*, const JobDeath*> first_death(const Jobs& jobs, const std::string& by) {
  std::pair<const JobResult*, const JobDeath*> first{};
  const auto take = [&](const JobResult* job, const JobDeath& death) {
    if (death.reason.find(by) == std::string::npos) return;
    if (first.second == nullptr || death.at < first.second->at) first = {job, &death};
  };
  for (const JobResult* job : jobs) {
    for (const JobTurn& turn : job->turns) take(job, turn.death);
    if (job->died) take(job, *job->died);
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

// --- job_goes_on -------------------------------------------------------------------------------------

/// The most steps of one turn that are run again.
uint32_t most_repeated(const ExpectJobGoesOn& e) {
  return e.steps_repeated.value.value_or(static_cast<uint32_t>(kMostSteps));
}

CheckResult judge(const ExpectJobGoesOn& e, const JudgedRun& run) {
  CheckResult check;
  check.unit = "us";
  check.bound = e.within.us();
  const std::vector<const JobResult*> jobs = run.jobs_named(e.job);
  if (jobs.empty()) return unjudged(check, "the run had no such job");
  uint64_t turns = 0;
  FabricTime longest = FabricTime::from_ps(-1);
  bool late = false;
  std::string open, ended, repeated;
  for (const JobResult* job : jobs) {
    if (!job->missing.empty()) return unjudged(check, job->missing);
    for (const JobTurn& turn : job->turns) {
      ++turns;
      const FabricTime until = turn.went_on() ? turn.begun : run.measurements.end;
      const FabricTime took = until - turn.death.at;
      if (turn.went_on() && turn.steps_repeated > most_repeated(e)) {
        repeated = counted_noun(turn.steps_repeated, "step") + " of " + job->name + " repeated";
      }
      if (!turn.went_on() && !turn.gave_up.empty()) ended = job->name + " ended: " + turn.gave_up;
      if (!turn.went_on() && turn.gave_up.empty())
        open = job->name + " is not on its way at the end";
      late = late || took > e.within;
      if (took <= longest) continue;
      longest = took;
      check.measured = took.us();
      check.where = {turn.death.at, until, job->rank_name(turn.death.rank) + " of " + job->name};
      check.note = turn.went_on() ? "from step " + std::to_string(turn.from_step) + " on, " +
                                        counted_noun(turn.steps_repeated, "step") + " repeated"
                                  : "";
    }
    if (job->died && job->turns.empty() && ended.empty()) {
      open = job->name + " died at " + to_string(job->died->at) + ", which no launcher has noted";
    }
  }
  check.looked = run.of_whole_run(turns, "error of a job", Source::kOperations);
  if (!ended.empty()) return proven(check, ended);
  if (!repeated.empty()) return failed(check, repeated);
  if (late) return failed(check, open.empty() ? "later than the bound" : open);
  if (!open.empty()) return unjudged(check, open);
  if (turns == 0) return failed(check, "no job had an error");
  return passed(check, *check.looked);
}

// --- interference ------------------------------------------------------------------------------------

/// Returns the mean length of the steps from `from` on; zero where the judge could not measure one of them.
FabricTime mean_step(const JobResult& job, uint32_t from) {
  if (!job.missing.empty() || job.steps_done() < job.planned) return FabricTime::zero();
  return mean_of(step_times(job, from));
}

CheckResult judge(const ExpectInterference& e, const JudgedRun& run) {
  CheckResult check;
  check.unit = "%";
  const auto percent = [](Ratio ratio) { return static_cast<double>(ratio.ppb) * 1e-7; };
  check.bound = percent(e.at_most != Ratio{} ? e.at_most : e.at_least);
  if (run.jobs_named(e.job).empty()) return unjudged(check, "the run had no such job");
  if (!run.alone) return unjudged(check, "this run has no simulation that a job could be alone in");
  uint64_t steps = 0;
  double worst = -1;
  bool above = false, below = false;
  for (size_t i = 0; i < run.jobs.size(); ++i) {
    const JobResult& job = run.jobs[i];
    if (!e.job.empty() && job.name != e.job) continue;
    const uint32_t from = e.from_step.value.value_or(job.warmup);
    const FabricTime together = mean_step(job, from);
    if (together == FabricTime::zero()) {
      return unjudged(check, "not all steps of " + job.name + " are measured");
    }
    const FabricTime alone = mean_step(run.alone(i), from);
    if (alone == FabricTime::zero()) {
      return unjudged(check, "not all steps of " + job.name + " alone end in the time of the run");
    }
    steps += job.steps_done();
    const double share = 100.0 * together.us() / alone.us();
    above = above || (e.at_most != Ratio{} && share > percent(e.at_most));
    below = below || (e.at_least != Ratio{} && share < percent(e.at_least));
    if (share <= worst) continue;
    worst = share;
    check.measured = share;
    check.note =
        "a step of " + job.name + " takes " + to_string(together) + ", alone " + to_string(alone);
  }
  if (below && !above) check.bound = percent(e.at_least);
  check.looked = run.of_whole_run(steps, "step", Source::kOperations);
  const std::string why = check.note;
  if (above || below) return failed(check, why);
  return passed(check, *check.looked);
}

CheckResult as_measured(const ExpectInterference&, const EarlyResult& result) {
  return result.check();
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

const Rules<ExpectJobGoesOn>& rules_of(const ExpectJobGoesOn&) {
  static constexpr Rules<ExpectJobGoesOn> kRules{
      .sentence = [](const ExpectJobGoesOn& e, const Wording& in) -> std::string {
        return "time from an error until the job" + (e.job.empty() ? "" : " " + e.job) +
               " goes on" + in.at_most(in.time(e.within));
      },
      .evidence = needs<ExpectJobGoesOn>,
      .early_end = could_come<ExpectJobGoesOn>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectInterference>& rules_of(const ExpectInterference&) {
  static constexpr Rules<ExpectInterference> kRules{
      .sentence = [](const ExpectInterference& e, const Wording& in) -> std::string {
        return "mean step" + Wording::of_job(e.job) + " beside the others, by the same alone" +
               in.bounds(e.at_least, e.at_most, Ratio{}, Wording::multiple);
      },
      .evidence = needs<ExpectInterference>,
      .early_end = as_measured,
      .judge = judge,
  };
  return kRules;
}

}  // namespace mrclab::analysis
