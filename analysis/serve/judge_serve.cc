#include <algorithm>

#include "analysis/checks/expectation_rules.h"
#include "analysis/expect/expect_serve.h"
#include "analysis/expect/expectation_fields.h"
#include "analysis/measure/message_times.h"
#include "analysis/serve/serve_times.h"
#include "fabric/text/counted_noun.h"

namespace mrclab::analysis {
namespace {

using Services = std::vector<const JobResult*>;

/// Those of the name; every one where it is empty.
Services services_named(const std::string& name, const JudgedRun& run) {
  Services services;
  for (const JobResult* job : run.jobs_named(name)) {
    if (job->serve) services.push_back(job);
  }
  return services;
}

Looked requests_in(uint64_t count, const JudgedRun& run) {
  return run.of_whole_run(count, "request", Source::kOperations);
}

WhereToLook at_request(const JobResult& job, size_t number, const JudgedRun& run) {
  const ServedRequest& request = job.serve->requests[number];
  return {request.arrival, std::min(request.last_token, run.measurements.end),
          "request " + std::to_string(number) + " of " + job.name + ", " +
              job.rank_name(request.prefill_rank) + " to " + job.rank_name(request.decode_rank)};
}

/// A time by its rank: the least that it can be and the most, which is never() where it is open.
struct Ranked {
  FabricTime least, most;
};

/// Judges `ranked` of the service that takes most of a bound. At most one of the bounds need be there.
template <RequestTime kOf>
CheckResult judge(const ExpectRequestTime<kOf>& e, const JudgedRun& run) {
  constexpr auto kTimes = kOf == RequestTime::kFirstToken ? ttft_times : tpot_times;
  CheckResult check;
  check.unit = "us";
  check.bound = (e.at_most == FabricTime::never() ? e.at_least : e.at_most).us();
  const Services services = services_named(e.job, run);
  if (services.empty()) return unjudged(check, "the run had no such service");
  uint64_t looked = 0;
  std::string missed, open;
  for (const JobResult* job : services) {
    if (!job->missing.empty()) return unjudged(check, job->missing);
    const RequestTimes times =
        kTimes(*job->serve, e.part == ServePart::kFabric, run.measurements.end);
    looked += times.so_far.size();
    if (times.so_far.empty()) continue;
    const Ranked ranked{time_at_thousandth(times.so_far, thousandths_of(e.by)),
                        time_at_thousandth(times.at_worst, thousandths_of(e.by))};
    if (!check.measured || ranked.least.us() > *check.measured) {
      check.measured = ranked.least.us();
      check.where = at_request(*job, times.worst, run);
      check.note = "request " + std::to_string(times.worst) + " of " + job->name + " took " +
                   to_string(times.longest) +
                   (times.open > 0 ? "; " + std::to_string(times.open) + " open" : "");
    }
    if (ranked.least > e.at_most || ranked.most < e.at_least) missed = check.note;
    if (ranked.most > e.at_most || ranked.least < e.at_least) open = check.note;
    // Of a service that has died what is open stays so.
    if (job->died && times.open > 0 && ranked.most > e.at_most) {
      missed = counted_noun(times.open, "request") + " open: " + job->name + " died at " +
               to_string(job->died->at) + ", " + job->died->reason;
    }
  }
  check.looked = requests_in(looked, run);
  if (looked == 0) return without_evidence(check, *check.looked);
  if (!missed.empty()) return failed(check, missed);
  check.where.reset();
  if (!open.empty()) return unjudged(check, open);
  return passed(check, *check.looked);
}

double share_percent(uint64_t part, uint64_t whole) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}
/// `part` of `whole` is at least `share`.
bool reaches(uint64_t part, uint64_t whole, Probability share) {
  return static_cast<unsigned __int128>(part) * Probability::kOne >=
         static_cast<unsigned __int128>(whole) * share.ppb;
}
bool exceeds(uint64_t part, uint64_t whole, Probability share) {
  return static_cast<unsigned __int128>(part) * Probability::kOne >
         static_cast<unsigned __int128>(whole) * share.ppb;
}

CheckResult judge(const ExpectSlo& e, const JudgedRun& run) {
  CheckResult check;
  check.unit = "%";
  check.bound = percent_of(e.at_least.ppb > 0 ? e.at_least : e.at_most);
  const Services services = services_named(e.job, run);
  if (services.empty()) return unjudged(check, "the run had no such service");
  uint64_t looked = 0;
  std::string missed, open;
  for (const JobResult* job : services) {
    if (!job->missing.empty()) return unjudged(check, job->missing);
    if (!job->serve->objective) return unjudged(check, job->name + " has no objective");
    const ObjectiveCount count = objective_count(*job->serve, run.measurements.end);
    if (count.all == 0) continue;
    looked += count.all;
    const double percent = share_percent(count.within, count.all);
    const bool worst = !check.measured || percent < *check.measured;
    const std::string text = std::to_string(count.within) + " of " +
                             counted_noun(count.all, "request") + " of " + job->name + " within " +
                             to_string(job->serve->objective->ttft) + " and " +
                             to_string(job->serve->objective->tpot) +
                             (count.open > 0 ? ", " + std::to_string(count.open) + " open" : "");
    if (worst) {
      check.measured = percent;
      check.note = text;
      if (count.first_missed) check.where = at_request(*job, *count.first_missed, run);
    }
    // The open ones of a service that has died stay so.
    const uint64_t most = count.within + (job->died ? 0 : count.open);
    if (!reaches(most, count.all, e.at_least) || exceeds(count.within, count.all, e.at_most)) {
      missed = text;
    }
    if (!reaches(count.within, count.all, e.at_least) || exceeds(most, count.all, e.at_most)) {
      open = text;
    }
  }
  check.looked = requests_in(looked, run);
  if (looked == 0) return without_evidence(check, *check.looked);
  if (!missed.empty()) return failed(check, missed);
  check.where.reset();
  if (!open.empty()) return unjudged(check, open);
  return passed(check, *check.looked);
}

/// judge() makes the check inconclusive where a request is open. After an early end it looks at no request that would have
/// arrived later.
template <class E>
CheckResult requests_so_far(const E&, const EarlyResult& result) {
  return result.so_far();
}

std::string part_text(const auto& e) {
  static constexpr auto kRanks =
      words_by_value<MessageTimeMeasure>({{MessageTimeMeasure::kMax, "longest"},
                                          {MessageTimeMeasure::kP999, "99.9th percentile"},
                                          {MessageTimeMeasure::kP99, "99th percentile"},
                                          {MessageTimeMeasure::kP50, "median"}});
  return ", " + std::string(kRanks[static_cast<size_t>(e.by)]) +
         (e.part == ServePart::kFabric ? ", of the fabric" : "") + Wording::of_job(e.job) + ",";
}

std::string time_bounds(const auto& e, const Wording& in) {
  return in.bounds(e.at_least, e.at_most, FabricTime::never(),
                   [&](FabricTime t) { return in.time(t); });
}

template <RequestTime kOf>
const Rules<ExpectRequestTime<kOf>>& rules_of_time() {
  using Expect = ExpectRequestTime<kOf>;
  static constexpr Rules<Expect> kRules{
      .sentence = [](const Expect& e, const Wording& in) -> std::string {
        constexpr std::string_view kWhat = kOf == RequestTime::kFirstToken
                                               ? "time to the first token"
                                               : "time of a token behind the first";
        return std::string(kWhat) + part_text(e) + time_bounds(e, in);
      },
      .evidence = needs<Expect>,
      .early_end = requests_so_far<Expect>,
      .judge = judge<kOf>,
  };
  return kRules;
}

}  // namespace

const Rules<ExpectTtft>& rules_of(const ExpectTtft&) {
  return rules_of_time<RequestTime::kFirstToken>();
}
const Rules<ExpectTpot>& rules_of(const ExpectTpot&) {
  return rules_of_time<RequestTime::kTokenBehind>();
}

const Rules<ExpectSlo>& rules_of(const ExpectSlo&) {
  static constexpr Rules<ExpectSlo> kRules{
      .sentence = [](const ExpectSlo& e, const Wording& in) -> std::string {
        return "requests within the objective" + Wording::of_job(e.job) +
               in.bounds(e.at_least, e.at_most, Probability{Probability::kOne},
                         [&](Probability p) { return in.share(p); });
      },
      .evidence = needs<ExpectSlo>,
      .early_end = requests_so_far<ExpectSlo>,
      .judge = judge,
  };
  return kRules;
}

}  // namespace mrclab::analysis
