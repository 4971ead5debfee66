#include "endpoint/congestion/even_nscc.h"

#include <algorithm>
#include <utility>

namespace mrclab::endpoint {

namespace {

using Wide = unsigned __int128;

// The least window is a packet divided by this.
constexpr uint32_t kLeastShare = 16;
// Windows of fewer packets are paced; larger ones are clocked by packets that leave flight.
constexpr uint64_t kPacedPackets = 16;
// A pace answers a round trip that is longer than usual by this part of it.
constexpr int64_t kAnsweredShare = 2;
// A shared window grows by at most itself divided by this in a round trip. With four the windows of 64
// senders swing between 1.1 and 1.8 packets, as their answers come late; with eight seven senders grow by
// no more than the receiver's penalty takes, and leave its port idle for 2 % of the time, and with six a
// memory of half that rate for 11 %.
constexpr uint64_t kGrowthShare = 5;
// And, if that is more, by what `pi` is with packets of 4,096 bytes, as a part of the largest window.
constexpr uint64_t kLargePacketShare = 24;
// Every round trip adds the largest window divided by this, so that small windows catch up.
constexpr uint64_t kConstantShare = 1536;
// And this much where the fabric is full.
constexpr uint64_t kFabricShare = 24;
// A plane's share grows by at most its whole divided by this in a round trip.
constexpr uint64_t kPlaneGrowthShare = 16;
constexpr Probability kDelayGain{300'000'000};
constexpr int64_t kAveragedRoundTrips = 4;
// Trims of the fabric that end within so many base RTTs were a burst.
constexpr int64_t kBurstRoundTrips = 4;
// For so many base RTTs after a penalty the sender assumes that the receiver has other senders.
constexpr int64_t kSharedRoundTrips = 32;
// And for so many of its own packets, where those are paced.
constexpr uint64_t kSharedPackets = 8;

}  // namespace

EvenNscc::EvenNscc(const TransportProfile& profile, uint32_t live_ports)
    : NsccWindow(profile, live_ports, kLeastShare), round_trip_(profile.nscc_base_rtt) {}

bool EvenNscc::is_paced() const { return window() < parameters().mtu * kPacedPackets; }

FabricTime EvenNscc::opens_at(Bytes packet) const {
  if (!is_paced() || in_flight() >= window() + packet) return FabricTime::never();
  return last_sent_ + paced_interval();
}

FabricTime EvenNscc::paced_interval() const {
  const Wide interval = Wide{static_cast<uint64_t>(round_trip_.ps())} * last_size_.value /
                        std::max<uint64_t>(window().value, 1);
  return FabricTime::from_ps(static_cast<int64_t>(interval));
}

/// The round trip that the pace goes by. An answer to delay comes a round trip late, and is kept until the
/// next packet, packet / window round trips later. Answered in full, delay makes the queue of many such
/// senders swing, from idle to trims within eight round trips; a loop that is late by so much is steady if
/// it answers by less. So delay counts half, and less where a window is less than a packet.
FabricTime EvenNscc::paced_round_trip(FabricTime sample) const {
  const FabricTime middle = base_rtt() + target_delay() / 2;
  const FabricTime most = base_rtt() + target_delay() * 2;
  const auto whole = static_cast<int64_t>(parameters().mtu.value) * kAnsweredShare;
  const auto part = static_cast<int64_t>(std::min(parameters().mtu, window()).value);
  const __int128 excess = __int128{(std::min(sample, most) - middle).ps()} * part / whole;
  return middle + FabricTime::from_ps(static_cast<int64_t>(excess));
}

bool EvenNscc::may_send(Bytes packet, FabricTime now) const {
  if (is_paced()) return opens_at(packet) <= now;
  if (profile().window_rule == WindowRule::kOpen) return window() > in_flight();
  return in_flight() + packet <= window();
}

bool EvenNscc::wants_acknowledgement() const {
  return is_paced() || window() < in_flight() + parameters().mtu;
}

void EvenNscc::on_sent(Bytes packet, FabricTime now) {
  enter_flight(packet);
  last_sent_ = now;
  last_size_ = packet;
}

void EvenNscc::on_acknowledged(const Acknowledgement& news, FabricTime now) {
  leave_flight(news.left_flight);
  // Packets that were held for lost and arrived all the same are no sign of the present window,
  // and one answer about many packets stands for one round trip at most.
  const Bytes answered = std::min(news.left_flight, std::max(window(), parameters().mtu));
  if (apply_penalty(news, answered)) shared_ = now;
  const auto part = static_cast<uint32_t>(Wide{PlaneShares::kWhole} *
                                          std::min(answered, window()).value / window().value);
  planes().recover(part, now - recent());
  const Bytes worth = std::min(answered, window());
  if (news.rtt) {
    newest_delay_ = follow_plane(*news.rtt, worth, now);
    sampled_ = now;
    // Only marked delay may raise the average above target: the last hop, which never marks, has
    // its own rule.
    average(worth, news.marked ? newest_delay_ : std::min(newest_delay_, target_delay()));
    note_mark(worth, news.marked);
    round_trip_ = paced_round_trip(news.rtt->rtt);
  } else if (now - sampled_ > recent()) {
    // Small messages are acknowledged by transport ACKs, which give no round trip. A delay that is not
    // measured counts as half of what is accepted, or a window that fell would stay where it is.
    newest_delay_ = target_delay() / 2;
  }
  const FabricTime delay = newest_delay_;
  ledger().answered(news.marked, delay >= target_delay());
  grow(constant_growth(answered, now));
  judge_delay(worth, delay, news.marked, now);
  clamp();
}

/// Adjusts the window by the quadrant of the answer.
void EvenNscc::judge_delay(Bytes worth, FabricTime delay, bool marked, FabricTime now) {
  const Cutting cutting(*this, marked ? WindowCut::kMarks : WindowCut::kDelay);
  const Bytes before = window();
  if (!marked || fabric_is_full(now)) {
    follow_delay(worth, delay, now);
  } else if (delay >= target_delay()) {
    multiplicative_decrease(now);
  }
  if (marked) keep_a_packet(before);
}

bool EvenNscc::is_path_late(const RttSample& sample, FabricTime now) const {
  if (sample.rtt - base_rtt() < target_delay()) return false;
  const auto least = planes().least_delay(sample.plane, base_rtt(), now);
  return least && *least < target_delay();
}

/// Shrinks the plane's share by its own part of the excess delay, and lets it grow by the common part. Returns the
/// delay that the window is to follow.
FabricTime EvenNscc::follow_plane(const RttSample& sample, Bytes worth, FabricTime now) {
  const uint32_t plane = sample.plane;
  const FabricTime own = queue_delay_of(sample);
  const FabricTime least = planes().note_delay(plane, own, base_rtt(), now);
  if (is_path_late(sample, now)) return target_delay();
  const FabricTime delay = own < target_delay() ? own : least;
  const bool late = delay >= target_delay();
  const uint32_t common = planes().note_feedback(plane, late, now);
  if (!late) return delay;
  const FabricTime excess = delay - target_delay();
  const auto part = [&](Bytes of, FabricTime share, FabricTime whole) {
    return Bytes{static_cast<uint64_t>(Wide{of.value} * static_cast<uint64_t>(share.ps()) /
                                       static_cast<uint64_t>(whole.ps()))};
  };
  shrink_plane(plane, own_part(part(worth, excess, delay), common));
  planes().grow(plane, worth / kPlaneGrowthShare * common / PlaneShares::kWhole, window());
  return target_delay() + excess * common / PlaneShares::kWhole;
}

/// Shrinks a plane's share. If no plane has a whole share then, the window shrinks by as much as
/// all planes give up.
void EvenNscc::shrink_plane(uint32_t plane, Bytes by) {
  planes().shrink(plane, by, window());
  const uint32_t most = planes().raise_all();
  if (most == PlaneShares::kWhole) return;
  const Cutting cutting(*this, WindowCut::kDelay);
  set_window({static_cast<uint64_t>(Wide{window().value} * most / PlaneShares::kWhole)});
  clamp();
}

/// The part of `of` that is not common to all planes.
Bytes EvenNscc::own_part(Bytes of, uint32_t common) {
  return of - of * common / PlaneShares::kWhole;
}

/// The bytes of a packet which did not come through that count against the window; the rest counts
/// against its plane's share.
Bytes EvenNscc::hold_against(Sprayed packet, FabricTime now) {
  const uint32_t common = planes().note_feedback(packet.plane, true, now);
  const Bytes own = own_part(packet.size, common);
  shrink_plane(packet.plane, own);
  return packet.size - own;
}

/// Has a penalty shown lately that the receiver has other senders?
bool EvenNscc::is_shared(FabricTime now) const {
  const FabricTime memory =
      std::max(base_rtt() * kSharedRoundTrips, paced_interval() * kSharedPackets);
  return now - shared_ <= memory;
}

/// The growth of a window in a round trip without delay. `pi` is in proportion to the packet: small
/// packets could not grow by what the receiver of three senders takes from each, and would leave it
/// idle.
Bytes EvenNscc::proportional_growth(FabricTime now) const {
  const Bytes pi = parameters().pi;
  if (!is_shared(now)) return std::min(pi, window());
  return std::min(std::max(pi, max_window() / kLargePacketShare), window() / kGrowthShare);
}

/// Is the fabric full: are more than three quarters of the bytes marked or trimmed, and is no last hop shared?
/// The size of the window must not matter: else a sender with a large window would keep to gentler rules, and keep
/// that window.
bool EvenNscc::fabric_is_full(FabricTime now) const {
  return marked_ > kWhole * 3 / 4 && !is_shared(now);
}

/// Constant growth: the same bytes in every round trip, also where one packet takes several round
/// trips. In a full fabric this makes shares even, as no receiver computes them there.
Bytes EvenNscc::constant_growth(Bytes worth, FabricTime now) const {
  if (fabric_is_full(now)) {
    return max_window() / kFabricShare * std::min(worth, window()).value / window().value;
  }
  const Wide per_round_trip = Wide{max_window().value} / kConstantShare;
  return {static_cast<uint64_t>(per_round_trip * worth.value / window().value)};
}

/// The delay above which windows shrink. A full fabric is held at half the target: random spraying
/// makes its queues vary by as much again, and the trims of a queue that overflows are what makes
/// shares uneven.
FabricTime EvenNscc::accepted_delay(FabricTime now) const {
  return fabric_is_full(now) ? target_delay() / 2 : target_delay();
}

/// Follows an unmarked SACK; `worth` bytes of the window belong to it.
void EvenNscc::follow_delay(Bytes worth, FabricTime delay, FabricTime now) {
  const uint64_t window_bytes = std::max<uint64_t>(window().value, 1);
  const auto per_round_trip = [&](Wide bytes) {
    return Bytes{static_cast<uint64_t>(bytes * worth.value / window_bytes)};
  };
  const auto target = static_cast<uint64_t>(accepted_delay(now).ps());
  const auto queued = static_cast<uint64_t>(delay.ps());
  if (queued >= target) {
    const Wide excess = Wide{window_bytes} * kDelayGain.ppb / Probability::kOne * (queued - target);
    return shrink(per_round_trip(excess / queued));
  }
  if (fabric_is_full(now)) return;
  if (path_is_clear(worth, delay)) return grow(is_shared(now) ? worth / kGrowthShare : worth);
  grow(per_round_trip(Wide{proportional_growth(now).value} * (target - queued) / target));
}

/// Averages the share of marked bytes over round trips.
void EvenNscc::note_mark(Bytes worth, bool marked) {
  const uint64_t window_bytes = std::max<uint64_t>(window().value, 1);
  const uint64_t step =
      kWhole * std::min(worth.value, window_bytes) / (kAveragedRoundTrips * window_bytes);
  const uint64_t share = marked ? kWhole - marked_ : marked_;
  marked_ = marked ? marked_ + share * step / kWhole : marked_ - share * step / kWhole;
}

/// Averages delay over round trips, not over samples, of which a large window has more.
void EvenNscc::average(Bytes worth, FabricTime delay) {
  const uint64_t window_bytes = std::max<uint64_t>(window().value, 1);
  const __int128 step = static_cast<__int128>((delay - average_delay()).ps()) *
                        static_cast<int64_t>(std::min(worth.value, window_bytes)) /
                        (kAveragedRoundTrips * static_cast<int64_t>(window_bytes));
  move_average(FabricTime::from_ps(static_cast<int64_t>(step)));
}

void EvenNscc::shrink_by_packet(Bytes packet) { shrink(std::min(packet, window() / 2)); }

/// A trim of the fabric: held against the window when the last hop turns out to trim as well.
void EvenNscc::owe(Bytes packet, FabricTime now) {
  if (now - owed_since_ > recent()) {
    owed_ = {};
    owed_since_ = now;
  }
  owed_ += packet;
}

void EvenNscc::on_trimmed(Sprayed trimmed, TrimmedAt where, FabricTime now) {
  leave_flight(trimmed.size);
  const Cutting cutting(*this, cause_of(where));
  if (where == TrimmedAt::kFabric) {
    const auto least = planes().least_delay(trimmed.plane, base_rtt(), now);
    if (least && *least < target_delay()) return;
    // A queue that trims is beyond marking. While the first windows crash most packets are trimmed, and
    // without them a sender would learn from the few marks only 20 round trips later that the fabric is full.
    note_mark(std::min(trimmed.size, window()), true);
  }
  const Bytes packet = hold_against(trimmed, now);
  if (packet.value == 0) return;
  if (where == TrimmedAt::kLastHop) {
    last_hop_trim_ = shared_ = now;
    const Bytes owed = std::exchange(owed_, Bytes{});
    if (now - owed_since_ <= recent()) shrink(owed < window() ? owed : window() / 2);
  } else {
    if (now - fabric_trim_ > recent()) fabric_since_ = now;
    fabric_trim_ = now;
    const bool goes_on = now - fabric_since_ > base_rtt() * kBurstRoundTrips;
    if (!goes_on && now - last_hop_trim_ > recent()) {
      owe(packet, now);
      average(packet, base_rtt() + target_delay());
      const Bytes before = window();
      multiplicative_decrease(now);
      return keep_a_packet(before);
    }
  }
  const Bytes before = window();
  shrink_by_packet(packet);
  if (now - last_hop_trim_ > recent()) keep_a_packet(before);
}

void EvenNscc::on_lost(Sprayed lost, FabricTime now) {
  leave_flight(lost.size);
  const Cutting cutting(*this, WindowCut::kLosses);
  // Silence where the fabric trims is a header that was dropped there, and no sign of other senders.
  if (is_paced() && now - fabric_trim_ > recent()) shared_ = now;
  const Bytes packet = hold_against(lost, now);
  if (packet.value == 0) return;
  if (now - fabric_trim_ <= recent() && now - last_hop_trim_ > recent()) return owe(packet, now);
  shrink_by_packet(packet);
}

}  // namespace mrclab::endpoint
