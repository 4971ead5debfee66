#include "endpoint/even_nscc.h"

#include <algorithm>
#include <utility>

namespace mrclab::endpoint {

namespace {

using Wide = unsigned __int128;

// The least window is a packet divided by this.
constexpr uint32_t kLeastShare = 16;
// Windows of fewer packets are paced; larger ones are clocked by what leaves flight.
constexpr uint64_t kPacedPackets = 16;
// A shared window grows by at most itself divided by this in a round trip.
constexpr uint64_t kGrowthShare = 4;
// Every round trip adds the largest window divided by this, so that small windows catch up.
constexpr uint64_t kConstantShare = 1536;
constexpr Probability kDelayGain{300'000'000};
constexpr int64_t kAveragedRoundTrips = 4;
// Trims of the fabric that end within so many base RTTs were a burst.
constexpr int64_t kBurstRoundTrips = 4;
// A penalty tells the sender for so many base RTTs that the receiver has other senders.
constexpr int64_t kSharedRoundTrips = 32;

}  // namespace

EvenNscc::EvenNscc(const TransportProfile& profile, uint32_t live_ports)
    : NsccWindow(profile, live_ports, kLeastShare), round_trip_(profile.nscc_base_rtt) {}

bool EvenNscc::is_paced() const { return window() < parameters().mtu * kPacedPackets; }

FabricTime EvenNscc::opens_at(Bytes packet) const {
  if (!is_paced() || in_flight() >= window() + packet) return FabricTime::never();
  const Wide interval = Wide{static_cast<uint64_t>(round_trip_.ps())} * last_size_.value /
                        std::max<uint64_t>(window().value, 1);
  return last_sent_ + FabricTime::from_ps(static_cast<int64_t>(interval));
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
  if (news.arrived.value == 0 && !news.rtt) return;
  FabricTime delay = average_delay();
  if (news.rtt) {
    delay = queue_delay_of(*news.rtt);
    // Only delay that was marked may bring the average above target: the last hop's has its own rule.
    average(news.arrived, news.marked ? delay : std::min(delay, target_delay()));
    note_mark(news.arrived, news.marked);
    round_trip_ = std::min(news.rtt->rtt, base_rtt() + target_delay() * 2);
  }
  if (apply_penalty(news)) shared_ = now;
  grow(constant_growth(news.arrived));
  if (!news.marked) {
    follow_delay(std::min(news.arrived, window()), delay, now);
  } else if (delay >= target_delay()) {
    const Bytes before = window();
    multiplicative_decrease(now);
    keep_a_packet(before);
  }
  clamp();
}

/// The same from round trip to round trip, also where a packet takes several.
Bytes EvenNscc::constant_growth(Bytes arrived) const {
  const Wide per_round_trip = Wide{max_window().value} / kConstantShare;
  return {static_cast<uint64_t>(per_round_trip * arrived.value /
                                std::max<uint64_t>(window().value, 1))};
}

/// What an unmarked SACK does to the window: `worth` of the bytes in it are this SACK's.
void EvenNscc::follow_delay(Bytes worth, FabricTime delay, FabricTime now) {
  const uint64_t window_bytes = std::max<uint64_t>(window().value, 1);
  const auto per_round_trip = [&](Wide bytes) {
    return Bytes{static_cast<uint64_t>(bytes * worth.value / window_bytes)};
  };
  const auto target = static_cast<uint64_t>(target_delay().ps());
  const auto queued = static_cast<uint64_t>(delay.ps());
  if (delay >= target_delay()) {
    // Where many packets are marked it is the fabric's delay and not the last hop's: as UEC has it.
    if (marked_ > kWhole / 4) return grow(per_round_trip(parameters().fi.value));
    const Wide excess = Wide{window_bytes} * kDelayGain.ppb / Probability::kOne * (queued - target);
    return shrink(per_round_trip(excess / queued));
  }
  const bool alone = now - shared_ > base_rtt() * kSharedRoundTrips;
  if (path_is_clear(worth, delay)) return grow(alone ? worth : worth / kGrowthShare);
  const Wide most =
      std::min<Wide>(parameters().pi.value, alone ? window_bytes : window_bytes / kGrowthShare);
  grow(per_round_trip(most * (target - queued) / target));
}

/// The share of marked bytes, over round trips.
void EvenNscc::note_mark(Bytes worth, bool marked) {
  const uint64_t window_bytes = std::max<uint64_t>(window().value, 1);
  const uint64_t step =
      kWhole * std::min(worth.value, window_bytes) / (kAveragedRoundTrips * window_bytes);
  const uint64_t share = marked ? kWhole - marked_ : marked_;
  marked_ = marked ? marked_ + share * step / kWhole : marked_ - share * step / kWhole;
}

/// Over round trips and not over samples, of which a large window has more.
void EvenNscc::average(Bytes worth, FabricTime delay) {
  const uint64_t window_bytes = std::max<uint64_t>(window().value, 1);
  const __int128 step = static_cast<__int128>((delay - average_delay()).ps()) *
                        static_cast<int64_t>(std::min(worth.value, window_bytes)) /
                        (kAveragedRoundTrips * static_cast<int64_t>(window_bytes));
  move_average(FabricTime::from_ps(static_cast<int64_t>(step)));
}

/// What the fabric says takes no window below a packet: only a last hop can be shared by so many.
void EvenNscc::keep_a_packet(Bytes before) {
  set_window(std::max(window(), std::min(before, parameters().mtu)));
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

void EvenNscc::on_trimmed(Bytes packet, TrimmedAt where, FabricTime now) {
  leave_flight(packet);
  if (where == TrimmedAt::kLastHop) {
    last_hop_trim_ = now;
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

void EvenNscc::on_lost(Bytes packet, FabricTime now) {
  leave_flight(packet);
  if (now - fabric_trim_ <= recent() && now - last_hop_trim_ > recent()) return owe(packet, now);
  shrink_by_packet(packet);
}

}  // namespace mrclab::endpoint
