#pragma once
// Measurements on packet histories. Meanings, the same everywhere:
//   goodput   payload of first whole arrivals at receivers, at the time of arrival
//   baseline  goodput of the last 20 RTT before the first fault; its variation is the difference of
//             its two halves over their mean (finer parts would show the steps of a collective)
//   detect    from the start of an impairment to the last first-transmission of any affected sender
//             on an affected path while it lasts; of a fault, the longest of its impairments
//   leave     from the first packet that an affected sender lost on an affected path to its last
//             first-transmission there before it stays away for kAwayRtts while it sends elsewhere;
//             of a fault, the longest. Who has lost nothing yet has no reason to leave: on a path
//             that loses some packets, when the first one goes is chance
//   recover   from the start of a fault to the end of the first sliding 20-RTT window that lies
//             behind the start and reaches its target; zero if no window ever missed it
//   twin      the same scenario and seed without its faults, simulated: up to the first fault both
//             are the same, packet for packet, so it shows what would have been delivered later
// A retransmission or a probe is not a first transmission. "On a path" means that the frame started
// to leave the sending host, or was given to a port of its own without carrier.

#include <optional>
#include <span>
#include <vector>

#include "analysis/history/fault_span.h"
#include "analysis/history/packet_history.h"
#include "analysis/measure/path_use.h"

namespace mrclab::analysis {

inline constexpr double kMaxBaselineVariation = 0.05;

/// Answers "how many payload bytes arrived in [from, until)" in logarithmic time.
class GoodputMeter {
 public:
  GoodputMeter() = default;
  explicit GoodputMeter(std::span<const Delivery> deliveries);  // ordered by time
  Bytes bytes_between(FabricTime from, FabricTime until) const;
  /// Mean over [from, until); zero if empty.
  BitRate rate_between(FabricTime from, FabricTime until) const;
  /// When so many bytes had arrived in all; the last arrival if there are fewer, zero without any.
  FabricTime time_of(Bytes bytes) const;

 private:
  std::vector<FabricTime> times_;
  std::vector<uint64_t> sums_;  // bytes up to and with times_[i]
};

struct Baseline {
  BitRate rate;
  double variation = 0;
  bool usable = false;
  std::string why_not;  ///< empty if usable
};

/// Goodput of a stretch of time.
struct Level {
  BitRate rate;
  double variation = 0;  ///< the difference of its two halves over their mean
  bool even = false;     ///< something was delivered, and it varies by no more than a baseline may
};

/// Goodput over the `window` before `at`. That window must not begin before the run.
Level level_before(FabricTime at, const GoodputMeter& goodput, FabricTime window);

struct PlaneSeries {
  FabricTime bin;                            ///< width
  std::vector<std::vector<uint64_t>> bytes;  ///< [plane][bin]
};

struct Measurements {
  FabricTime end;
  FabricTime delivered_until;  ///< what arrived later was still in its NIC at the end
  FabricTime base_rtt;
  GoodputMeter goodput;
  BitRate line_rate;  ///< sum of the hosts' port rates
  BitRate total;      ///< mean goodput over [0, end)
  Baseline baseline;
  PlaneSeries planes;
  std::vector<FaultMeasurement> faults;  ///< as in the input
  FabricTime window() const { return base_rtt * kWindowRtts; }
};

/// The baseline of some goodput in a run whose first fault (never() if there is none) and whose end
/// are given.
Baseline baseline_before(FabricTime first_fault, const GoodputMeter& goodput, FabricTime window,
                         FabricTime end);

/// When the first of the faults begins; never() if there is none.
FabricTime first_start(std::span<const FaultSpan> faults);

/// `end`: where the run ends; later arrivals are not counted. Finish the history first.
Measurements measure(const Topology& topology, const PacketHistory& history,
                     std::span<const FaultSpan> faults, FabricTime base_rtt, FabricTime end);

/// Time from `start` to recovery as defined above; empty if not before the end. `target` in bit/s.
std::optional<FabricTime> recovery_time(const Measurements& measurements, FabricTime start,
                                        BitRate target);
/// The same, but the target of each window is the share `to` of what the
/// fault-free twin delivers in it.
std::optional<FabricTime> recovery_time(const Measurements& measurements, FabricTime start,
                                        const GoodputMeter& twin, Probability to);

/// `share` of `rate`, rounded down.
BitRate share_of(BitRate rate, Probability share);

}  // namespace mrclab::analysis
