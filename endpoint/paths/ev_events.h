#pragma once
// The events of entropy values for a controller: a bounded queue that it polls, modelled on
// mrc_ctl_poll_ev_event of the MRC API. SKIP is not visible there. The queue never grows past its
// limit: events that do not fit are lost, and the next event that fits has their exact number
// (drop_count).

#include <cstdint>
#include <optional>

#include "endpoint/paths/ev_state.h"
#include "fabric/base/fifo.h"
#include "fabric/base/ids.h"
#include "fabric/base/units.h"

namespace mrclab::endpoint {

struct EvEvent {
  FabricTime at;
  Qpn qp;
  EntropyValue ev;
  uint32_t port = 0;               ///< 1-based, as in the MRC API
  EvState state = EvState::kGood;  ///< kGood, kAssumedBad or kDenied
  uint32_t drop_count = 0;         ///< events lost between the previous one and this
};

class EvEventQueue {
 public:
  static constexpr size_t kLimit = 128;  ///< the MRC API example's number of entries

  void push(EvEvent event) {
    event.drop_count = dropped_;
    if (events_.push(event)) {
      dropped_ = 0;
    } else {
      ++dropped_;
    }
  }
  std::optional<EvEvent> poll() {
    if (events_.empty()) return std::nullopt;
    return events_.pop();
  }

 private:
  Fifo<EvEvent> events_{kLimit};
  uint32_t dropped_ = 0;
};

}  // namespace mrclab::endpoint
