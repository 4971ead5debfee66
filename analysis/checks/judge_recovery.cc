#include "analysis/expect/expect_recovery.h"

#include <algorithm>

#include "analysis/checks/expectation_rules.h"
#include "analysis/measure/detection_text.h"

namespace mrclab::analysis {
namespace {

CheckResult judge(const ExpectDetect& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "us";
  check.bound = expected.within.us();
  std::optional<FabricTime> longest;
  uint64_t confirmed = 0;
  std::string worst, silent;
  for (size_t i = 0; i < run.faults.size(); ++i) {
    const FaultMeasurement& m = run.measurements.faults[i];
    if (m.detection == Detection::kNothing) {
      if (silent.empty()) silent = run.fault_name(i);
      continue;
    }
    confirmed += m.detection == Detection::kDetected ? 1 : 0;
    if (longest && m.detect <= *longest) continue;
    longest = m.detect;
    check.where = run.around(run.faults[i], m.detect);
    worst = run.fault_name(i) + (m.still_used ? ": an affected path stays in use" : "");
  }
  if (run.faults_begun() == 0) return unjudged(check, "there is no fault to detect");
  if (!longest) return unjudged(check, std::string(why_nothing_detected(run.topology)));
  check.measured = longest->us();
  check.looked =
      run.of_whole_run(confirmed, {"fault detected", "faults detected"}, Source::kPackets);
  if (*longest > expected.within) return failed(check, worst);
  if (confirmed == 0) {
    return unjudged(check,
                    "no affected sender sent enough afterwards to show that it avoids the path");
  }
  if (!silent.empty()) check.note = "nothing to detect for " + silent;
  return passed(check, *check.looked);
}

CheckResult judge(const ExpectRecover& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "us";
  check.bound = expected.within.us();
  const Measurements& m = run.measurements;
  check.looked = run.of_whole_run(run.faults_begun(), "fault", Source::kPackets);
  if (check.looked->count() == 0) return unjudged(check, "there is no fault to recover from");
  if (!m.baseline.usable) return unjudged(check, m.baseline.why_not);
  const BitRate target = share_of(m.baseline.rate, expected.to);
  FabricTime longest;
  std::string worst;
  for (size_t i = 0; i < run.faults.size(); ++i) {
    const FaultSpan& fault = run.faults[i];
    if (!run.has_begun(fault)) continue;
    const std::optional<FabricTime> recovered = recovery_time(m, fault.start, target);
    if (!recovered) {
      const FabricTime left = std::max(m.end - fault.start, FabricTime::zero());
      const std::string why = run.fault_name(i) + ": goodput not back at " +
                              one_digit(percent_of(expected.to)) + " % before the run ends";
      // Shorter than the bound allows: whether it would have been in time stays open.
      check.where = run.around(fault, left);
      if (left < std::max(expected.within, m.window())) return unjudged(check, why);
      return failed(check, why);
    }
    if (*recovered >= longest) {
      longest = *recovered;
      worst = run.fault_name(i);
      check.where = run.around(fault, longest);
    }
  }
  check.measured = longest.us();
  if (longest > expected.within) return failed(check, worst);
  return passed(check, *check.looked);
}

CheckResult judge(const ExpectLeave& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "us";
  check.bound = expected.within.us();
  if (run.faults_begun() == 0) return unjudged(check, "there is no fault to leave a path for");
  std::optional<FabricTime> longest;
  uint64_t left = 0;
  std::string worst, lingers;
  std::optional<WhereToLook> never_left;
  for (size_t i = 0; i < run.faults.size(); ++i) {
    const FaultMeasurement& m = run.measurements.faults[i];
    if (m.never_left && lingers.empty()) {
      lingers = run.fault_name(i);
      never_left = run.around(run.faults[i], FabricTime::zero());
    }
    left += m.left ? 1 : 0;
    if (!m.left || (longest && *m.left <= *longest)) continue;
    longest = m.left;
    worst = run.fault_name(i);
    check.where = run.around(run.faults[i], *m.left);
  }
  if (!longest) return unjudged(check, "nothing to leave: no affected sender lost a packet");
  check.measured = longest->us();
  if (!lingers.empty()) {
    check.where = *never_left;
    return failed(check, lingers + ": an affected path was never left");
  }
  if (*longest > expected.within) return failed(check, worst);
  return passed(
      check, run.of_whole_run(left, {"fault whose paths were left", "faults whose paths were left"},
                              Source::kPackets));
}

}  // namespace

const Rules<ExpectDetect>& rules_of(const ExpectDetect&) {
  static constexpr Rules<ExpectDetect> kRules{
      .sentence = [](const ExpectDetect& e, const Wording& in) -> std::string {
        return "time to detect a fault" + in.at_most(in.time(e.within));
      },
      .evidence = needs<ExpectDetect, Witness::kPackets>,
      .early_end = within_its_bound<ExpectDetect>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectRecover>& rules_of(const ExpectRecover&) {
  static constexpr Rules<ExpectRecover> kRules{
      .sentence = [](const ExpectRecover& e, const Wording& in) -> std::string {
        return "time to recover to " + in.share(e.to) + " of baseline" +
               in.at_most(in.time(e.within));
      },
      .evidence = needs<ExpectRecover, Witness::kPackets>,
      .early_end = within_its_bound<ExpectRecover>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectLeave>& rules_of(const ExpectLeave&) {
  static constexpr Rules<ExpectLeave> kRules{
      .sentence = [](const ExpectLeave& e, const Wording& in) -> std::string {
        return "time to leave the affected paths" + in.at_most(in.time(e.within));
      },
      .evidence = needs<ExpectLeave, Witness::kPackets>,
      .early_end = within_its_bound<ExpectLeave>,
      .judge = judge,
  };
  return kRules;
}

}  // namespace mrclab::analysis
