#pragma once
// Exit codes by which our daemons report to the lab why they have ended.

namespace mrclab::netio {

/// The disk is full, so the run cannot be recorded any further and ends at once.
inline constexpr int kDiskFullExit = 28;

}  // namespace mrclab::netio
