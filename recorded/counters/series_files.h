#pragma once
// What ports of a run counted over fabric time, as files in its folder.

#include <filesystem>
#include <string>
#include <vector>

#include "recorded/diff/recorded_run.h"

namespace mrclab::lab {

/// Writes series.csv, series.om (OpenMetrics with time stamps), series.ipfix and series.ipfix.csv into the folder of the
/// run, with steps of this time, and adds them to its manifest. Returns them. Throws InputError for too many steps or values
/// (telemetry/counter_series.h) and SystemError.
std::vector<std::filesystem::path> write_series(const RecordedRun& run, FabricTime step);

}  // namespace mrclab::lab
