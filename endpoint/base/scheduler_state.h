#pragma once
// What the scheduler of a destination's window sees in a queue pair (MRC specification, figure 4;
// UEC names the states of its congestion control context the same). One reading of the
// specification swaps ACTIVE and READY; this one is shared by UEC's text and the vendors' code.

#include <cstdint>
#include <string_view>

namespace mrclab::endpoint {

enum class SchedulerState : uint8_t {
  kIdle,     ///< nothing to send, nothing outstanding
  kPending,  ///< nothing to send, waiting for acknowledgements
  kActive,   ///< data, but the window, the PSN range or a message limit is full
  kReady,    ///< data, and it may go: only a free port is missing
};

constexpr std::string_view name_of(SchedulerState state) {
  switch (state) {
    case SchedulerState::kIdle: return "idle";
    case SchedulerState::kPending: return "pending";
    case SchedulerState::kActive: return "active";
    case SchedulerState::kReady: return "ready";
  }
  return "?";
}

}  // namespace mrclab::endpoint
