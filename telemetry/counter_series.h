#pragma once
// Counters over fabric time: at equal steps, from zero, what each port had counted by then.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fabric/topology/topology.h"
#include "telemetry/counter_table.h"

namespace mrclab::telemetry {

/// What is too much for one table: the caller asks for longer steps.
inline constexpr size_t kMaxSteps = 10'000;
inline constexpr size_t kMaxSeriesValues = 20'000'000;

class CounterSeries {
 public:
  /// Steps at 0, `step`, 2 `step`, ... Throws InputError if `step` is no time.
  CounterSeries(const Topology& topology, FabricTime step);

  /// What happened at a step's instant is counted at it. Throws InputError for an instant beyond kMaxSteps.
  void add(PortRef port, const CounterRow& row, FabricTime at, uint64_t count);
  /// A depth that a port had from one instant to another: `now` is what it is at a step, `most` the most since the step
  /// before. Both are gauges.
  void hold(PortRef port, const CounterRow& now, const CounterRow& most, FabricTime from,
            FabricTime until, uint64_t value);
  /// A stretch of time (in ps) is counted in the steps in which it passes.
  void spread(PortRef port, const CounterRow& row, FabricTime from, FabricTime until);
  /// There is a step that is not before this instant, even if nothing happened there.
  void reach(FabricTime end);

  FabricTime step() const { return step_; }
  size_t steps() const { return steps_; }
  struct Line {
    PortRef port;
    const CounterRow* row;
    std::vector<uint64_t> values;  ///< by step
  };
  /// Counters and depths that changed at all, those of a family and a port together. Throws InputError if they have more than
  /// kMaxSeriesValues values.
  std::vector<Line> lines() const;

  /// OpenMetrics with time stamps, for `promtool tsdb create-blocks-from openmetrics`: those have milliseconds, so a
  /// step becomes a second, and rate() is per step. The first is at 0.
  std::string open_metrics() const;
  /// "time_us,node,port,plane,counter,value", a line for each step of each counter. What a host counts as a whole has
  /// no port and no plane.
  std::string csv() const;

 private:
  uint32_t step_of(FabricTime at) const;

  const Topology& topology_;
  FabricTime step_;
  size_t steps_ = 1;
  /// By row in the table, port and step; of gauges the values themselves.
  std::map<std::pair<const CounterRow*, PortRef>, std::map<uint32_t, uint64_t>> increments_;
};

}  // namespace mrclab::telemetry
