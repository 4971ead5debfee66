#include "analysis/expect/expect_jobs.h"

#include <algorithm>

#include "analysis/checks/expectation_rules.h"
#include "analysis/expect/expectation_fields.h"
#include "analysis/measure/job_steps.h"
#include "analysis/measure/message_times.h"

namespace mrclab::analysis {
namespace {

__extension__ using WideTime = __int128;

using Jobs = std::vector<const JobResult*>;

std::string about_steps(const auto& e) {
  const auto from = e.from_step.value;
  return Wording::of_job(e.job) + (from ? " from step " + std::to_string(*from) : "");
}

uint32_t first_step(const StepNumber& from, const JobResult& job) {
  return from.value.value_or(job.warmup);
}

Looked steps_in(uint64_t count, const JudgedRun& run) {
  return run.of_whole_run(count, "step", Source::kOperations);
}

WhereToLook at_step(const JobResult& job, size_t number, const JudgedRun& run, std::string who) {
  const JobStep& step = job.steps[number];
  return {step.begin, std::min(step.end, run.measurements.end),
          "step " + std::to_string(number) + " of " + job.name + (who.empty() ? "" : ", ") + who};
}

/// Why steps that count are not all measured; empty if they are.
std::string unfinished(const JobResult& job, uint32_t from) {
  if (!job.missing.empty()) return job.missing;
  const size_t done = job.steps_done();
  if (job.died) {
    return job.name + " died at " + to_string(job.died->at) + " after " + std::to_string(done) +
           " of " + counted_noun(job.planned, "step");
  }
  if (done < job.planned || done < job.steps.size()) {
    return std::to_string(done) + " of " + counted_noun(job.planned, "step") + " of " + job.name +
           " have ended";
  }
  if (from >= job.steps.size()) {
    return job.name + " has " + counted_noun(job.planned, "step") + ", the first that counts is " +
           std::to_string(from);
  }
  return "";
}

/// What a check of steps found, job by job: the worst by how much of its bound it takes.
struct Worst {
  uint64_t steps = 0;  ///< that were looked at
  std::string open;    ///< why something is not measured; empty: all is
  bool missed = false;
  bool reached = false;  ///< the measured value meets the lower bound of the check
  /// What was measured of the worst so far, by its bound: a job with a larger one takes its place.
  double share = -1;
};

/// Judged after all jobs were looked at.
CheckResult settled(CheckResult check, const Worst& worst, const JudgedRun& run,
                    const std::string& why) {
  check.looked = steps_in(worst.steps, run);
  if (worst.missed) return failed(check, why);
  check.where.reset();  // it holds
  if (!worst.open.empty()) return unjudged(check, worst.open);
  return passed(check, *check.looked);
}

/// Ends a check with a lower bound, which one measured value has to meet: a step that has not ended may still meet it.
CheckResult settled_floor(CheckResult check, const Worst& worst, const JudgedRun& run,
                          const std::string& why) {
  check.looked = steps_in(worst.steps, run);
  if (worst.reached) return passed(check, *check.looked);
  if (!worst.open.empty()) return unjudged(check, worst.open);
  return failed(check, why);
}

// --- step_time ---------------------------------------------------------------------------------------

/// What steps of the job are held against, step by step; zero where it is not known.
class Reference {
 public:
  Reference(const ExpectStepTime& e, const JobResult& job, uint32_t from, FabricTime fault)
      : of_(e.of) {
    if (of_ == StepReference::kMedian) {
      const std::vector<FabricTime> times = step_times(job, from);
      if (times.size() >= kStepsForMedian) all_ = time_at_rank(times, 50);
    } else if (of_ == StepReference::kBaseline) {
      std::vector<FabricTime> before;
      for (size_t i = from; i < job.steps.size(); ++i) {
        const JobStep& step = job.steps[i];
        if (step.ended() && step.end <= fault) before.push_back(step.time());
      }
      if (fault != FabricTime::never()) all_ = mean_of(before);
    }
  }
  FabricTime at(const JobStep& step) const {
    return of_ == StepReference::kRoofline ? step.ideal : all_;
  }
  std::string why_unknown(const JobResult& job) const {
    switch (of_) {
      case StepReference::kMedian:
        return job.name + ": fewer than " + std::to_string(kStepsForMedian) +
               " steps that count have ended, which a median needs";
      case StepReference::kBaseline:
        return job.name + ": no step that counts ended before a first fault";
      case StepReference::kRoofline: break;
    }
    return job.name + ": its roofline is not known";
  }

 private:
  StepReference of_;
  FabricTime all_;
};

FabricTime times_ratio(FabricTime time, Ratio ratio) {
  return FabricTime::from_ps(
      static_cast<int64_t>(WideTime{time.ps()} * static_cast<WideTime>(ratio.ppb) / Ratio::kOne));
}

double percent(FabricTime part, FabricTime whole) {
  return whole > FabricTime::zero() ? 100.0 * part.us() / whole.us() : 0;
}

CheckResult judge(const ExpectStepTime& e, const JudgedRun& run) {
  CheckResult check;
  check.unit = "us";
  const FabricTime* const fixed = std::get_if<FabricTime>(&e.bound());
  const Jobs jobs = run.jobs_named(e.job);
  if (jobs.empty()) return unjudged(check, "the run had no such job");
  Worst worst;
  for (const JobResult* job : jobs) {
    const uint32_t from = first_step(e.from_step, *job);
    const Reference reference(e, *job, from, run.first_fault());
    if (worst.open.empty()) worst.open = unfinished(*job, from);
    for (size_t i = from; i < job->steps.size() && job->missing.empty(); ++i) {
      const JobStep& step = job->steps[i];
      const FabricTime base = reference.at(step);
      if (fixed == nullptr && base == FabricTime::zero()) {
        if (worst.open.empty()) worst.open = reference.why_unknown(*job);
        continue;
      }
      const FabricTime bound =
          fixed != nullptr ? *fixed : times_ratio(base, std::get<Ratio>(e.bound()));
      const FabricTime took = (step.ended() ? step.end : run.end_of_job(*job)) - step.begin;
      ++worst.steps;
      worst.missed = worst.missed || (!e.is_floor() && took > bound);
      worst.reached = worst.reached || took >= bound;
      const double share = percent(took, bound);
      if (share <= worst.share) continue;
      worst.share = share;
      check.measured = took.us();
      check.bound = bound.us();
      check.note =
          "step " + std::to_string(i) + " of " + job->name + (step.ended() ? "" : ", open,") +
          " took " + to_string(took) +
          (fixed != nullptr ? ""
                            : ", " + one_digit(percent(took, base)) + " % of " + to_string(base));
      check.where = at_step(*job, i, run, "slowest " + job->rank_name(step.slowest));
    }
  }
  const std::string why = check.note;
  if (e.is_floor()) return settled_floor(std::move(check), worst, run, why);
  return settled(std::move(check), worst, run, why);
}

// --- exposed -----------------------------------------------------------------------------------------

FabricTime exposed_in(const JobStep& step, const std::string& group) {
  if (group.empty()) return step.exposed;
  FabricTime sum;
  for (const GroupTime& one : step.exposed_by) {
    if (one.group == group) sum += one.time;
  }
  return sum;
}

CheckResult judge(const ExpectExposed& e, const JudgedRun& run) {
  CheckResult check;
  check.unit = "%";
  check.bound = percent_of(e.at_most);
  const Jobs jobs = run.jobs_named(e.job);
  if (jobs.empty()) return unjudged(check, "the run had no such job");
  Worst worst;
  for (const JobResult* job : jobs) {
    const uint32_t from = first_step(e.from_step, *job);
    std::string open = unfinished(*job, from);
    const bool known =
        std::find(job->groups.begin(), job->groups.end(), e.group) != job->groups.end();
    if (!e.group.empty() && !known) open = job->name + " exchanges nothing in a group " + e.group;
    if (!open.empty()) {  // a part of the steps has another share than all of them
      if (worst.open.empty()) worst.open = open;
      continue;
    }
    FabricTime all, exposed;
    size_t most = from;
    FabricTime most_of_step = FabricTime::from_ps(-1);
    for (size_t i = from; i < job->steps.size(); ++i) {
      const FabricTime of_step = exposed_in(job->steps[i], e.group);
      all += job->steps[i].time();
      exposed += of_step;
      if (of_step > most_of_step) most = i, most_of_step = of_step;
      ++worst.steps;
    }
    worst.missed = worst.missed ||
                   WideTime{exposed.ps()} * Probability::kOne > WideTime{all.ps()} * e.at_most.ppb;
    if (percent(exposed, all) <= worst.share) continue;
    worst.share = percent(exposed, all);
    check.measured = worst.share;
    check.note = to_string(exposed) + " of " + to_string(all) + " of " + job->name;
    check.where = at_step(*job, most, run, "slowest " + job->rank_name(job->steps[most].slowest));
  }
  const std::string why = check.note;
  return settled(std::move(check), worst, run, why);
}

// --- straggler ---------------------------------------------------------------------------------------

CheckResult judge(const ExpectStraggler& e, const JudgedRun& run) {
  CheckResult check;
  check.unit = "% longer";
  check.bound = percent_of(e.at_most);
  const Jobs jobs = run.jobs_named(e.job);
  if (jobs.empty()) return unjudged(check, "the run had no such job");
  Worst worst;
  for (const JobResult* job : jobs) {
    const uint32_t from = first_step(e.from_step, *job);
    if (worst.open.empty()) worst.open = unfinished(*job, from);
    for (size_t i = from; i < job->steps.size() && job->missing.empty(); ++i) {
      const JobStep& step = job->steps[i];
      if (!step.ended() || step.median_compute == FabricTime::zero()) continue;
      ++worst.steps;
      const FabricTime more = step.slowest_compute - step.median_compute;
      worst.missed = worst.missed || more > times_ratio(step.median_compute, Ratio{e.at_most.ppb});
      const double share = percent(more, step.median_compute);
      if (share <= worst.share) continue;
      worst.share = share;
      check.measured = share;
      const std::string rank = job->rank_name(step.slowest);
      check.note = rank + " computed for " + to_string(step.slowest_compute) + " in step " +
                   std::to_string(i) + " of " + job->name + ", the median rank for " +
                   to_string(step.median_compute);
      check.where = at_step(*job, i, run, rank);
    }
  }
  const std::string why = check.note;
  return settled(std::move(check), worst, run, why);
}

/// Steps that are not there make such a check inconclusive by themselves.
template <class E>
CheckResult as_judged(const E&, const EarlyResult& result) {
  return result.check();
}
std::string bound_of(const ExpectStepTime& e, const Wording& in) {
  if (const auto* time = std::get_if<FabricTime>(&e.bound())) return in.time(*time);
  return in.multiple(std::get<Ratio>(e.bound())) + " of " +
         std::string(kStepReferenceWords[static_cast<size_t>(e.of)]);
}

}  // namespace

const Rules<ExpectStepTime>& rules_of(const ExpectStepTime&) {
  static constexpr Rules<ExpectStepTime> kRules{
      .sentence = [](const ExpectStepTime& e, const Wording& in) -> std::string {
        if (e.is_floor()) {
          return "time of the slowest step" + about_steps(e) + in.at_least(bound_of(e, in));
        }
        return "time of each step" + about_steps(e) + in.at_most(bound_of(e, in));
      },
      .evidence = needs<ExpectStepTime>,
      .early_end = as_judged<ExpectStepTime>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectExposed>& rules_of(const ExpectExposed&) {
  static constexpr Rules<ExpectExposed> kRules{
      .sentence = [](const ExpectExposed& e, const Wording& in) -> std::string {
        return "exposed communication" + (e.group.empty() ? "" : " in " + e.group) +
               about_steps(e) + in.at_most(in.share(e.at_most)) + " of the steps' time";
      },
      .evidence = needs<ExpectExposed>,
      .early_end = as_judged<ExpectExposed>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectStraggler>& rules_of(const ExpectStraggler&) {
  static constexpr Rules<ExpectStraggler> kRules{
      .sentence = [](const ExpectStraggler& e, const Wording& in) -> std::string {
        return "computing of the slowest rank over the median rank's" + about_steps(e) +
               in.at_most(in.share(e.at_most) + " longer");
      },
      .evidence = needs<ExpectStraggler>,
      .early_end = as_judged<ExpectStraggler>,
      .judge = judge,
  };
  return kRules;
}

}  // namespace mrclab::analysis
