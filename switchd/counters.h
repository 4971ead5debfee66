#pragma once
// What a switch counts. Plain numbers, read by the control socket between two runs of the node.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fabric/base/units.h"
#include "fabric/node/node.h"

namespace mrclab::switchd {

/// What ports count nearly all the time.
struct TrafficCounters {
  uint64_t rx = 0;  ///< arrived whole
  uint64_t rx_bytes = 0;
  uint64_t tx = 0;  ///< started, including those the wire then loses
  uint64_t tx_bytes = 0;
  uint64_t trimmed = 0;
  uint64_t ecn_marked = 0;
};

/// What a port of a sound fabric counts seldom or never.
struct TroubleCounters {
  uint64_t arrivals_lost = 0;  ///< lost or cut on the wire into this port; also under drops
  uint64_t tx_lost = 0;        ///< started but spoilt by the wire: losses, bit errors
  uint64_t tx_copies = 0;      ///< started because the wire carries frames twice
  std::array<uint64_t, kDropCauses> drops{};  ///< by cause: ingress causes where it came in,
                                              ///< queue and port causes where it would have left
  /// Pause frames about RoCE's data: stop, and go on.
  uint64_t xoff_sent = 0, xon_sent = 0, xoff_received = 0, xon_received = 0;

  uint64_t dropped(DropCause cause) const { return drops[static_cast<size_t>(cause)]; }
};

/// Frames unless the name has `bytes`; bytes are wire lengths. For every switch, at any time:
///   sum(rx) + sum(tx_copies) = sum(tx) + sum(drops other than arrivals_lost) + frames queued,
/// pause frames aside, which end and begin at a port.
struct PortCounters : TrafficCounters, TroubleCounters {
  Bytes data_depth, data_depth_max, control_depth, control_depth_max, trimmed_depth,
      trimmed_depth_max, lossless_depth, lossless_depth_max;
  uint64_t queued = 0;
  bool carrier = true;
};

/// The counters that a port keeps: those of trouble take their 300 bytes from the first trouble on.
class PortTally {
 public:
  TrafficCounters traffic;

  /// To be counted in.
  TroubleCounters& trouble() {
    if (!trouble_) trouble_ = std::make_unique<TroubleCounters>();
    return *trouble_;
  }
  const TroubleCounters& seen_trouble() const {
    static constexpr TroubleCounters kNone;
    return trouble_ ? *trouble_ : kNone;
  }

 private:
  std::unique_ptr<TroubleCounters> trouble_;
};

struct SwitchCounters {
  std::vector<PortCounters> ports;

  /// Sums over the ports (of depths: the sum now, and the largest maximum).
  PortCounters total() const;
};

/// What a switch did with one uSID. Bytes are Ethernet frames without their check.
struct UsidCounters {
  uint64_t packets = 0;  ///< arrived with it active and our own (shifted), or left by its route
  uint64_t bytes = 0;
  /// Dropped packets: nothing behind the uSID in the carrier, or the hop limit.
  uint64_t errors = 0;
};

using NamedCounters = std::vector<std::pair<std::string, uint64_t>>;

/// "total.rx", "d0.trimmed", "u1.drop.queue_full", ... in a fixed order; drop causes that never
/// happened are left out. `port_names` has one name per port.
NamedCounters named(const SwitchCounters& counters, const std::vector<std::string>& port_names);

}  // namespace mrclab::switchd
