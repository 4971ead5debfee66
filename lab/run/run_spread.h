#pragma once
// Many runs as one table: for each setting of a scenario, and for each metric, the median of its runs, the least and the
// most.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report/compared_metrics.h"
#include "analysis/verdict/verdict.h"

namespace mrclab::lab {

/// Half of the values are no larger, half no smaller: of an even number the mean of the middle two.
struct Spread {
  double median = 0, least = 0, most = 0;
  size_t of = 0;  ///< runs that have a value
};
/// Not of none.
Spread spread_of(std::vector<double> values);

/// All runs with one setting.
class RunGroup {
 public:
  RunGroup(std::string scenario, std::vector<std::pair<std::string, std::string>> settings)
      : scenario_(std::move(scenario)), settings_(std::move(settings)) {}

  void add(const analysis::Verdict& verdict);

  struct Metric {
    std::string label;  ///< "goodput", "recover 2", "message_p99"
    analysis::MetricUnit unit = analysis::MetricUnit::kCount;
    Spread spread;
  };
  /// In the order of kComparedMetrics; those that are zero in all runs are left out.
  std::vector<Metric> metrics() const;

  const std::string& scenario() const { return scenario_; }
  const std::vector<std::pair<std::string, std::string>>& settings() const { return settings_; }
  const std::vector<uint64_t>& seeds() const { return seeds_; }
  size_t runs() const { return seeds_.size(); }
  /// How many had this result.
  size_t of(analysis::Result result) const { return results_[static_cast<size_t>(result)]; }

 private:
  std::string scenario_;
  std::vector<std::pair<std::string, std::string>> settings_;  ///< keys and values that were set
  std::vector<uint64_t> seeds_;
  std::array<size_t, 4> results_{};                                 ///< by analysis::Result
  std::map<std::string, std::vector<double>, std::less<>> values_;  ///< by label
};

/// Lines of at most `width` columns.
std::string spread_table(const std::vector<RunGroup>& groups, analysis::TableOptions options);
/// A heading, and a line for each group and metric; in the metric's unit (b/s, ns, B, a count).
std::string spread_csv(const std::vector<RunGroup>& groups);
/// "mrclab.sweep/1"
std::string spread_json(const std::vector<RunGroup>& groups);

}  // namespace mrclab::lab
