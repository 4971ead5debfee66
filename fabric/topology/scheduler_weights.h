#pragma once
// How the classes of a port share its link while more than one of them waits. Switches and NICs keep to it, and the
// judge derives from it how long a frame may stay in a switch; neither has code of the other.
//
//   control : all other classes    3 : 1 by bytes, control first
//   RoCE's data : MRC's frames     1 : 1 by bytes
//   trimmed : MRC's data           1 : 1 by bytes, trimmed first
//
// No class is ever starved. Strict priority for control starves data where messages are short: each direction of a
// link then carries about as many bytes of SACKs as of data, and both together are more than it can carry. NDP
// (SIGCOMM 2017 §3.1) and htsim's composite queue serve ten headers to one data packet for that reason, and UEC 1.0.3
// §4.1 gives trimmed packets a share by weighted deficit round robin. By frames, ten to one would leave short data an
// eleventh of a link, hence weights by bytes. That control has three of four parts is our choice: no transport here
// acknowledges its data with more bytes than that.

#include <cstdint>

#include "fabric/base/units.h"

namespace mrclab {

/// Bytes of control for each byte of the other classes, while both wait.
inline constexpr int64_t kControlWeight = 3;
/// So many bytes more than its part control is sent ahead before the others have their turn: a burst of SACKs does
/// not wait for data. About three data frames of 4 KiB with their headers, as the quantum of a round would be.
inline constexpr Bytes kControlQuantum{13'000};

}  // namespace mrclab
