#pragma once
// GOAL, the schedules of LogGOPSim and ATLAHS: for each rank operations (calc in nanoseconds, send, recv) and which
// requires which, as text or in its binary form.
//
//   num_ranks 2
//   rank 0 {
//   a: calc 5000
//   s: send 65536b to 1 tag 3
//   s requires a
//   }
//   rank 1 {
//   recv 65536b from 0 tag 3
//   }
//
// `requires` waits for the end of the other, `irequires` for its beginning; what has neither begins at once. Rank and tag
// of a recv may be -1: any.

#include <string>
#include <string_view>

#include "job/import/trace.h"

namespace mrclab::job {

/// Does it begin as the binary form does (a little-endian 4223)?
bool is_goal_binary(std::string_view bytes);

/// `name` stands in messages. Throws InputError with the line, or the byte.
Trace read_goal_text(std::string_view text, const std::string& name, const TraceOptions& options);
Trace read_goal_binary(std::string_view bytes, const std::string& name,
                       const TraceOptions& options);

}  // namespace mrclab::job
