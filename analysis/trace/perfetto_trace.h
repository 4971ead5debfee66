#pragma once
// A run as a Perfetto trace (TrackEvent in protobuf), for ui.perfetto.dev and trace_processor.
//
//   fabric      a slice per fault; per plane goodput and the deepest queue as counters
//   h0, h1, ... per flow and plane the transmissions, from first bit to arrival, trim or loss; those
//               that overlap lie in lanes of one name; the attempts of a packet are joined by arrows
//               (flows); the host's events (EV states, losses, port status) as instants
//   job ... rank 0, ...  what each rank of a job computed and exchanged
//   switches    losses and trims as instants, per port
//
// Times are nanoseconds of fabric time.

#include "analysis/trace/run_trace.h"

namespace mrclab::analysis {

inline constexpr size_t kCounterSteps = 1'000;  ///< points of a counter over the whole run

void write_perfetto(const RunTrace& trace, BoundedOutput& out);

}  // namespace mrclab::analysis
