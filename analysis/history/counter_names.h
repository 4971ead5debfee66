#pragma once
// The counters of packets that a check can bound, by the names that files use: those of
// HistoryCounters (analysis/history/packet_history.h) that count what happened in the run, not how it was recorded.

#include <array>
#include <cstddef>
#include <string_view>

namespace mrclab::analysis {

inline constexpr std::array<std::string_view, 13> kCounterNames{
    "sacks",      "nacks",         "fatal_nacks",     "probes", "retransmissions",
    "trimmed",    "dropped",       "dropped_control", "copies", "duplicate_deliveries",
    "acks_ahead", "rtx_bit_wrong", "refused"};

}  // namespace mrclab::analysis
