#pragma once
// What the ports of a run counted over fabric time, out of its packet records: the same in both worlds.

#include "recorded/diff/recorded_run.h"
#include "telemetry/counter_series.h"

namespace mrclab::lab {

/// The counters of each port at equal steps, until the last record. Of switches frames, bytes, trims, drops by cause, marks,
/// the depth of queues of data, and pauses out of the captures; of hosts frames; not what a queue pair counts. The series
/// refers to the topology of `run`. Throws InputError for a run whose records are not whole.
telemetry::CounterSeries recorded_counters(const RecordedRun& run, FabricTime step);

}  // namespace mrclab::lab
