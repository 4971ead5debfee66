#pragma once
// What our daemons tell their owner by the way they end.

namespace mrclab::netio {

/// The disk is full: nobody needs to wait for what can no longer be recorded.
inline constexpr int kDiskFullExit = 28;

}  // namespace mrclab::netio
