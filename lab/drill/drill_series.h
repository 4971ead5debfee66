#pragma once
// What a run counted, as the series of a scraper: under our names, those of node_exporter's InfiniBand collector, and those
// of SONiC's telemetry.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "recorded/diff/recorded_run.h"

namespace mrclab::lab {

struct DrillSeries {
  std::string name;            ///< with labels, as in an expression
  std::vector<double> values;  ///< at step 0, 1, 2, ...
};

/// What a scrape has too many of: the rules' engine holds them all at once.
inline constexpr size_t kMaxDrillValues = 4'000'000;

struct DrillData {
  std::vector<DrillSeries> series;
  size_t steps = 0;
  std::set<std::string> names;  ///< of metrics, that are there
  std::set<std::string>
      unknown;  ///< words like names of ours, node_exporter's or SONiC's that a run has no series of
};

/// Those that `words` name, at steps of this time. A counter that never changed is there, too, with zeros. Throws
/// InputError for too many steps or values.
DrillData drill_series(const RecordedRun& run, FabricTime step, const std::set<std::string>& words);

}  // namespace mrclab::lab
