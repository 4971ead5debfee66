#pragma once
// The metrics that a verdict is held against a stored one by (regression.h), and their values and tolerances as text.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace mrclab::analysis {

/// How much worse a metric may become.
struct Tolerance {
  enum class Kind : uint8_t {
    kRelative,  ///< `amount` is a fraction of the baseline
    kAbsolute,  ///< `amount` is in the metric's unit
    kExact      ///< nothing may change, not even for the better
  };
  Kind kind = Kind::kRelative;
  double amount = 0;
};

/// The tolerances in force, by the metric's name.
using Tolerances = std::map<std::string, Tolerance, std::less<>>;

/// What counts where nothing is asked for: 2 % of goodput, completion and a job's times, nothing of queue pairs
/// that fail, 10 % of the others. Our choice: in the simulator a run of one version does not vary at
/// all, so these bound only what a new version may cost.
Tolerances default_tolerances();

/// Takes "exact", or "METRIC=AMOUNT": METRIC is a name of default_tolerances() or "all", AMOUNT "2%",
/// "exact", or a value in the metric's unit ("20us", "1Gb/s", "64KiB", "3"). Throws InputError.
void set_tolerance(std::string_view text, Tolerances& tolerances);

enum class MetricUnit : uint8_t { kRate, kTime, kBytes, kCount };  // b/s, ns, bytes, how many

/// What no value means.
enum class Absent : uint8_t {
  kUnknown,
  kWorst,  ///< it did not complete, or it did not recover
  kZero    ///< no port was paused
};

/// What a metric is of: the run, or each of its faults or jobs.
enum class MetricOf : uint8_t { kRun, kFault, kJob };

/// A metric that is compared: where it stands in verdict.json, and what it may lose by default.
struct MetricSpec {
  std::string_view name;
  std::string_view pointer;  ///< in the verdict, or in each of its faults or jobs
  MetricUnit unit;
  MetricOf of;
  double tolerance;  ///< fraction of the baseline
  Absent absent = Absent::kUnknown;
};

inline constexpr double kTwoPercent = 0.02, kTenPercent = 0.1;

inline constexpr std::array kComparedMetrics{
    MetricSpec{"goodput", "/metrics/goodput_bps", MetricUnit::kRate, MetricOf::kRun, kTwoPercent},
    MetricSpec{"completion", "/metrics/completed_ns", MetricUnit::kTime, MetricOf::kRun,
               kTwoPercent, Absent::kWorst},
    MetricSpec{"step_time", "/step_time/mean_ns", MetricUnit::kTime, MetricOf::kJob, kTwoPercent},
    MetricSpec{"step_exposed", "/step_time/exposed_ns", MetricUnit::kTime, MetricOf::kJob,
               kTenPercent},
    MetricSpec{"jct", "/jct_ns", MetricUnit::kTime, MetricOf::kJob, kTwoPercent, Absent::kWorst},
    MetricSpec{"detect", "/detected_ns", MetricUnit::kTime, MetricOf::kFault, kTenPercent},
    MetricSpec{"recover", "/recovered_ns", MetricUnit::kTime, MetricOf::kFault, kTenPercent,
               Absent::kWorst},
    MetricSpec{"lost", "/metrics/lost", MetricUnit::kCount, MetricOf::kRun, kTenPercent},
    MetricSpec{"retransmitted", "/metrics/retransmitted", MetricUnit::kCount, MetricOf::kRun,
               kTenPercent},
    MetricSpec{"trimmed", "/metrics/trimmed", MetricUnit::kCount, MetricOf::kRun, kTenPercent},
    MetricSpec{"refused", "/metrics/refused", MetricUnit::kCount, MetricOf::kRun, kTenPercent},
    MetricSpec{"naks", "/metrics/naks", MetricUnit::kCount, MetricOf::kRun, kTenPercent},
    MetricSpec{"timeouts", "/metrics/timeouts", MetricUnit::kCount, MetricOf::kRun, kTenPercent},
    MetricSpec{"cnps", "/metrics/cnps", MetricUnit::kCount, MetricOf::kRun, kTenPercent},
    MetricSpec{"qps_failed", "/metrics/qps_failed", MetricUnit::kCount, MetricOf::kRun, 0},
    MetricSpec{"queue", "/metrics/deepest_queue/bytes", MetricUnit::kBytes, MetricOf::kRun,
               kTenPercent},
    MetricSpec{"paused", "/metrics/pauses/longest_ns", MetricUnit::kTime, MetricOf::kRun,
               kTenPercent, Absent::kZero},
};

/// Null for a name that none has.
const MetricSpec* metric_called(std::string_view name);
inline bool more_is_better(const MetricSpec& metric) { return metric.unit == MetricUnit::kRate; }
/// "goodput", "recover 2": of the second fault, which is `place` 1; "step_time", "step_time 2": of the first job and the
/// second.
std::string label_of(const MetricSpec& metric, size_t place);

std::string value_text(double value, MetricUnit unit);
std::string tolerance_text(const Tolerance& tolerance, MetricUnit unit);
/// How much worse than `before` a metric may be, in its unit; not of an exact tolerance.
double allowed_loss(const Tolerance& tolerance, double before);

}  // namespace mrclab::analysis
