#pragma once
// The windows that hosts reported, by flow: from a host to a destination, over all queue pairs and
// planes. No packet shows any of it. Least, median and most are those of the records, of which a busy
// flow leaves about one in a base RTT (endpoint/congestion/window_reports.h).

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/history/event_history.h"

namespace mrclab::analysis {

struct WindowFlow {
  struct Cuts {
    uint64_t times = 0;
    uint64_t taken = 0;  ///< bytes
  };
  uint32_t host = 0;
  uint32_t peer = 0;
  std::vector<uint32_t> news;  ///< places in the list that it was made from
  Bytes least, median, most;
  std::optional<Bytes> largest;  ///< that it may be, by the last report
  Bytes in_flight_median, in_flight_most;
  /// Queue delays; empty where the hosts measured none.
  std::optional<FabricTime> delay_median, delay_most;
  std::optional<FabricTime> target, base_rtt;  ///< by the last report
  std::array<uint64_t, kQuadrantWords.size()> answers = {};
  std::array<Cuts, kCutWords.size()> cuts = {};

  uint64_t all_answers() const;
  Cuts all_cuts() const;
};

/// In order of bytes cut, then of hosts. `from` and `until` bound the records.
std::vector<WindowFlow> window_flows(const Topology& topology, std::span<const WindowNews> news,
                                     FabricTime from = FabricTime::zero(),
                                     FabricTime until = FabricTime::never());

/// The causes that took most, with their parts of what was taken: "penalty 61%, delay 30%". Empty: none did.
std::string main_cuts(const WindowFlow& flow, size_t causes_max);

}  // namespace mrclab::analysis
