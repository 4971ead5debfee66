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

/// A metric that is compared, of jobs those of the first: where it stands in verdict.json, and what it may lose by default.
struct MetricSpec {
  std::string_view name;
  std::string_view pointer;  ///< in the verdict, or in each of its faults
  MetricUnit unit;
  bool of_fault;
  double tolerance;  ///< fraction of the baseline
  Absent absent = Absent::kUnknown;
};

inline constexpr double kTwoPercent = 0.02, kTenPercent = 0.1;

inline constexpr std::array kComparedMetrics{
    MetricSpec{"goodput", "/metrics/goodput_bps", MetricUnit::kRate, false, kTwoPercent},
    MetricSpec{"completion", "/metrics/completed_ns", MetricUnit::kTime, false, kTwoPercent,
               Absent::kWorst},
    MetricSpec{"step_time", "/jobs/0/step_time/mean_ns", MetricUnit::kTime, false, kTwoPercent},
    MetricSpec{"step_exposed", "/jobs/0/step_time/exposed_ns", MetricUnit::kTime, false,
               kTenPercent},
    MetricSpec{"jct", "/jobs/0/jct_ns", MetricUnit::kTime, false, kTwoPercent, Absent::kWorst},
    MetricSpec{"detect", "/detected_ns", MetricUnit::kTime, true, kTenPercent},
    MetricSpec{"recover", "/recovered_ns", MetricUnit::kTime, true, kTenPercent, Absent::kWorst},
    MetricSpec{"lost", "/metrics/lost", MetricUnit::kCount, false, kTenPercent},
    MetricSpec{"retransmitted", "/metrics/retransmitted", MetricUnit::kCount, false, kTenPercent},
    MetricSpec{"trimmed", "/metrics/trimmed", MetricUnit::kCount, false, kTenPercent},
    MetricSpec{"refused", "/metrics/refused", MetricUnit::kCount, false, kTenPercent},
    MetricSpec{"naks", "/metrics/naks", MetricUnit::kCount, false, kTenPercent},
    MetricSpec{"timeouts", "/metrics/timeouts", MetricUnit::kCount, false, kTenPercent},
    MetricSpec{"cnps", "/metrics/cnps", MetricUnit::kCount, false, kTenPercent},
    MetricSpec{"qps_failed", "/metrics/qps_failed", MetricUnit::kCount, false, 0},
    MetricSpec{"queue", "/metrics/deepest_queue/bytes", MetricUnit::kBytes, false, kTenPercent},
    MetricSpec{"paused", "/metrics/pauses/longest_ns", MetricUnit::kTime, false, kTenPercent,
               Absent::kZero},
};

/// Null for a name that none has.
const MetricSpec* metric_called(std::string_view name);
inline bool more_is_better(const MetricSpec& metric) { return metric.unit == MetricUnit::kRate; }
/// "goodput", "recover 2": of the second fault, which is `fault` 1.
std::string label_of(const MetricSpec& metric, size_t fault);

std::string value_text(double value, MetricUnit unit);
std::string tolerance_text(const Tolerance& tolerance, MetricUnit unit);
/// How much worse than `before` a metric may be, in its unit; not of an exact tolerance.
double allowed_loss(const Tolerance& tolerance, double before);

}  // namespace mrclab::analysis
