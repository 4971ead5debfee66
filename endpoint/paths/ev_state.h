#pragma once
// The state of one entropy value at a sender (MRC specification, figure 5; MRC paper §2.1):
//
//   GOOD         --SACK m=SKIP_ONCE, NACK TRIMMED-->  SKIP
//   SKIP         --the selection's scan meets it-->   GOOD   (a repeated mark does not re-arm it)
//   SKIP         --older than the age-out-->          GOOD
//   GOOD, SKIP   --lost and not trimmed-->            ASSUMED_BAD
//   GOOD, SKIP   --SACK m=ALWAYS_SKIP-->              ASSUMED_BAD
//   ASSUMED_BAD  --enough probes answered-->          GOOD, or SKIP if the last answer was marked
//   any          --controller-->                      DENIED, and back to GOOD only by it
//
// That a port is down at either end (PORT_DOWN) is not a state of its EVs but two masks of the set: it
// needs no per-EV probes and is undone at once.

#include <cstdint>
#include <string_view>

namespace mrclab::endpoint {

enum class EvState : uint8_t { kGood, kSkip, kAssumedBad, kDenied };

constexpr std::string_view name_of(EvState state) {
  switch (state) {
    case EvState::kGood: return "good";
    case EvState::kSkip: return "skip";
    case EvState::kAssumedBad: return "assumed_bad";
    case EvState::kDenied: return "denied";
  }
  return "unknown";
}

/// Only GOOD and SKIP may carry packets.
constexpr bool is_usable(EvState state) {
  return state == EvState::kGood || state == EvState::kSkip;
}

constexpr EvState after_congestion(EvState s) { return s == EvState::kGood ? EvState::kSkip : s; }
constexpr EvState after_scan(EvState s) { return s == EvState::kSkip ? EvState::kGood : s; }
constexpr EvState after_loss(EvState s) { return is_usable(s) ? EvState::kAssumedBad : s; }
constexpr EvState after_revival(EvState s, bool marked) {
  if (s != EvState::kAssumedBad) return s;
  return marked ? EvState::kSkip : EvState::kGood;
}
constexpr EvState after_allow(EvState s) { return s == EvState::kDenied ? EvState::kGood : s; }

}  // namespace mrclab::endpoint
