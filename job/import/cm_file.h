#pragma once
// Connection matrices of htsim (UEC's and csg-htsim's `.cm`): flows, each with a start or a trigger, and triggers that the
// end of a flow fires.
//
//   Nodes 16            lines of the head, in any order
//   Connections 2
//   Triggers 1
//   0->1 id 1 start 0 size 8192 recv_done_trigger 1
//   1->2 id 2 trigger 1 size 8192
//   trigger id 1 oneshot
//
// A flow is a send in its source and a receive in its destination. `send_done` is when it is acknowledged, the end of
// the send; `recv_done` the end of the receive. A barrier waits for all that fire it; htsim's count must be their number.

#include <string>
#include <string_view>

#include "job/import/trace.h"

namespace mrclab::job {

/// `name` stands in messages. Throws InputError. Starts other than 0 need `options.time_unit`: the simulator reads them
/// as picoseconds, its generators write microseconds.
Trace read_cm(std::string_view text, const std::string& name, const TraceOptions& options);

}  // namespace mrclab::job
