#pragma once
// Expectations of jobs, whose steps the ranks' own times show (analysis/measure/job_result.h). Each is about the job of
// that name, or about every job; steps count from 0, and those before `from_step` (absent: the warm-up) do not count.
// What is asked of steps is inconclusive while one of them is open or has not begun, unless it is missed already.

#include <variant>

#include "analysis/expect/expectation_parts.h"
#include "fabric/text/ratio.h"

namespace mrclab::analysis {

inline constexpr int64_t kMostSteps = 10'000;  ///< A job has at most so many: job/plan/job_spec.h

/// A step, or none.
struct StepNumber {
  std::optional<uint32_t> value = std::nullopt;
  bool operator==(const StepNumber&) const = default;
};

/// A time, or a multiple of some reference.
using TimeOrRatio = std::variant<Ratio, FabricTime>;

enum class StepReference : uint8_t {
  kRoofline,  ///< the same step on a network without loss or queues
  kMedian,    ///< the median of the steps that count, where these are kStepsForMedian or more
  kBaseline,  ///< mean of the steps that count and ended before the first fault
};
inline constexpr size_t kStepsForMedian = 3;

/// Every step takes at most so long, from the end of those before it to the end of its last rank; or one of them at least
/// so long, which is for contrasts. An open one has taken the time so far.
struct ExpectStepTime {
  static constexpr ExpectationWord kWord{"step_time", Measure::kTime,
                                         "\"step_time: {at_most: 105%, of: roofline}\""};
  TimeOrRatio at_most = Ratio{};                ///< zero: no such bound; one of the two is there
  StepReference of = StepReference::kRoofline;  ///< what a ratio multiplies
  StepNumber from_step = {};
  std::string job = {};
  TimeOrRatio at_least = Ratio{};
  bool operator==(const ExpectStepTime&) const = default;

  bool is_floor() const { return at_least != TimeOrRatio(Ratio{}); }
  const TimeOrRatio& bound() const { return is_floor() ? at_least : at_most; }
  static void fields(auto& e, auto&& visit) {
    visit("at_most", e.at_most, Need::kOptional);
    visit("at_least", e.at_least, Need::kOptional);
    visit("of", e.of, Need::kOptional);
    visit("from_step", e.from_step, Need::kOptional);
    visit("job", e.job, Need::kOptional);
  }
  /// Throws InputError where `of` stands beside a time, or not one of the bounds alone.
  void check_whole(const YamlValue& body) const;
};
const Rules<ExpectStepTime>& rules_of(const ExpectStepTime&);

/// Exposed communication takes at most this share of the time of all steps together. A rank's communication is exposed
/// while the rank computes nothing and data of its own is under way, in this group or in any; ranks are averaged.
struct ExpectExposed {
  static constexpr ExpectationWord kWord{"exposed", Measure::kShare,
                                         "\"exposed: {at_most: 10%, group: dp}\""};
  Probability at_most;
  std::string group = {};  ///< empty: all
  StepNumber from_step = {};
  std::string job = {};
  bool operator==(const ExpectExposed&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("at_most", e.at_most, Need::kRequired);
    visit("group", e.group, Need::kOptional);
    visit("from_step", e.from_step, Need::kOptional);
    visit("job", e.job, Need::kOptional);
  }
};
const Rules<ExpectExposed>& rules_of(const ExpectExposed&);

/// In every step the rank that computes longest for it takes at most so much longer than the median rank. Waiting for
/// others is not counted, so a rank that all others wait for stands out although all end together.
struct ExpectStraggler {
  static constexpr ExpectationWord kWord{"straggler", Measure::kShare,
                                         "\"straggler: {at_most: 5%}\""};
  Probability at_most;
  StepNumber from_step = {};
  std::string job = {};
  bool operator==(const ExpectStraggler&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("at_most", e.at_most, Need::kRequired);
    visit("from_step", e.from_step, Need::kOptional);
    visit("job", e.job, Need::kOptional);
  }
};
const Rules<ExpectStraggler>& rules_of(const ExpectStraggler&);

/// So many steps, the warm-up among them, have ended when the run ends.
struct ExpectStepsDone {
  static constexpr ExpectationWord kWord{"steps_done", Measure::kCount, "\"steps_done: 20\""};
  static constexpr std::string_view kAlone = "at_least";  ///< the field that may stand for all
  StepNumber at_least = {};
  std::string job = {};
  bool operator==(const ExpectStepsDone&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("at_least", e.at_least, Need::kPositive);
    visit("job", e.job, Need::kOptional);
  }
};
const Rules<ExpectStepsDone>& rules_of(const ExpectStepsDone&);

/// No rank of it has ended with an error: it is done, or goes on when the run ends.
struct ExpectJobAlive {
  static constexpr ExpectationWord kWord{"job_alive", Measure::kCount};
  std::string job = {};
  bool operator==(const ExpectJobAlive&) const = default;

  static void fields(auto& e, auto&& visit) { visit("job", e.job, Need::kOptional); }
};
const Rules<ExpectJobAlive>& rules_of(const ExpectJobAlive&);

/// A rank of it ends with an error whose reason has these words in it, at most so long after the first fault, or after
/// the job's begin where that comes later, or where there is no fault.
struct ExpectJobDies {
  static constexpr ExpectationWord kWord{"job_dies", Measure::kTime,
                                         "\"job_dies: {by: Retry Counter Exceeded, within: 31s}\""};
  std::string by;
  FabricTime within = {};  ///< zero: by the end of the run
  std::string job = {};
  bool operator==(const ExpectJobDies&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("by", e.by, Need::kRequired);
    visit("within", e.within, Need::kOptionalPositive);
    visit("job", e.job, Need::kOptional);
  }
};
const Rules<ExpectJobDies>& rules_of(const ExpectJobDies&);

/// A job of which a rank ends with an error goes on in a next attempt, at most so long after that error, and runs at most
/// so many steps again that had ended.
struct ExpectJobGoesOn {
  static constexpr ExpectationWord kWord{"job_goes_on", Measure::kTime,
                                         "\"job_goes_on: {within: 3ms, steps_repeated: 2}\""};
  FabricTime within;
  StepNumber steps_repeated = {};  ///< none: any number
  std::string job = {};
  bool operator==(const ExpectJobGoesOn&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("within", e.within, Need::kPositive);
    visit("steps_repeated", e.steps_repeated, Need::kOptional);
    visit("job", e.job, Need::kOptional);
  }
};
const Rules<ExpectJobGoesOn>& rules_of(const ExpectJobGoesOn&);

/// What jobs do to each other: a step takes on average at most, or at least, so many times as long as in the same run in
/// which nobody else has any work (JCT Interference Factor of the IETF's draft-calabria-bmwg-ai-fabric-training-bench,
/// here over steps). Faults are the same in both.
struct ExpectInterference {
  static constexpr ExpectationWord kWord{"interference", Measure::kShare,
                                         "\"interference: {at_most: 120%, job: llama}\""};
  Ratio at_most = {};  ///< zero: no such bound; at least one of the two is there
  Ratio at_least = {};
  StepNumber from_step = {};
  std::string job = {};
  bool operator==(const ExpectInterference&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("at_most", e.at_most, Need::kOptionalPositive);
    visit("at_least", e.at_least, Need::kOptionalPositive);
    visit("from_step", e.from_step, Need::kOptional);
    visit("job", e.job, Need::kOptional);
  }
  /// Throws InputError where it has no bound.
  void check_whole(const YamlValue& body) const;
};
const Rules<ExpectInterference>& rules_of(const ExpectInterference&);

}  // namespace mrclab::analysis
