#include "endpoint/paths/plane_shares.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

namespace mrclab::endpoint {

namespace {

using Wide = unsigned __int128;

// A plane that asks for nothing has its whole share back after so many round trips.
constexpr uint32_t kRecoveryRoundTrips = 16;
// The number of answers that a plane's average covers.
constexpr uint32_t kAveragedAnswers = 16;
// The least share: a plane that is never used gets no feedback.
constexpr uint32_t kLeastPlaneShare = PlaneShares::kWhole / 256;

}  // namespace

void PlaneShares::make_room(size_t planes) {
  assert(planes <= kPlanes);
  planes_.reserve(planes);
  planes_.resize(planes);
}

uint32_t PlaneShares::with_room(uint32_t asked, uint32_t planes, Bytes window, Bytes packet) {
  in_use_ = planes;
  if (planes != counted_) {
    counted_ = planes;
    count_ = static_cast<uint32_t>(std::max(std::popcount(planes), 1));
    const auto width = static_cast<size_t>(std::bit_width(planes));
    if (count_ > 1 && width > planes_.size()) make_room(width);
  }
  if (count_ == 1) return asked & planes;
  const uint64_t most = window.value / count_ + packet.value;
  uint32_t open = 0;
  for (uint32_t left = asked & planes; left != 0; left &= left - 1) {
    const auto plane = static_cast<uint32_t>(std::countr_zero(left));
    const Plane& p = planes_[plane];
    const uint64_t room =
        p.share == kWhole ? most : static_cast<uint64_t>(Wide{most} * p.share / kWhole);
    if (p.in_flight.value < room + packet.value) open |= 1u << plane;
  }
  return open;
}

FabricTime PlaneShares::note_delay(uint32_t plane, FabricTime delay, FabricTime period,
                                   FabricTime now) {
  Plane& p = of(plane);
  if (now - p.since >= period) {
    p.least_before = now - p.since < period * 2 ? p.least : FabricTime::never();
    p.least = FabricTime::never();
    p.since = now;
  }
  p.least = std::min(p.least, delay);
  return std::min(p.least, p.least_before);
}

std::optional<FabricTime> PlaneShares::least_delay(uint32_t plane, FabricTime period,
                                                   FabricTime now) const {
  const Plane& p = of(plane);
  if (now - p.since >= period * 2) return std::nullopt;
  return std::min(p.least, p.least_before);
}

/// The mean of the lower half of the planes.
uint32_t PlaneShares::lower_half() const {
  std::array<uint32_t, kPlanes> braked{};
  size_t count = 0;
  for (uint32_t left = in_use_; left != 0; left &= left - 1) {
    braked[count++] = of(static_cast<uint32_t>(std::countr_zero(left))).braked;
  }
  const size_t half = std::max<size_t>(count / 2, 1);
  const auto begin = braked.begin();
  std::nth_element(begin, begin + static_cast<std::ptrdiff_t>(half),
                   begin + static_cast<std::ptrdiff_t>(count));
  uint64_t sum = 0;
  for (size_t i = 0; i < half; ++i) sum += braked[i];
  return static_cast<uint32_t>(sum / half);
}

void PlaneShares::recover(uint32_t part, FabricTime quiet) {
  // One that was never used has its whole share.
  for (uint32_t plane = 0; plane < planes_.size(); ++plane) {
    Plane& p = planes_[plane];
    if ((in_use_ & 1u << plane) != 0 && p.asked < quiet)
      p.share = std::min(p.share + part / kRecoveryRoundTrips, kWhole);
  }
}

uint32_t PlaneShares::note_feedback(uint32_t plane, bool braked, FabricTime now) {
  Plane& p = of(plane);
  if (braked) p.asked = now;
  const uint32_t room = braked ? kWhole - p.braked : p.braked;
  p.braked = braked ? p.braked + room / kAveragedAnswers : p.braked - room / kAveragedAnswers;
  if (count_ == 1 || p.braked == 0) return kWhole;
  // Averages of few answers differ by chance, so a plane's braked part counts as common up to twice
  // the mean of the lower half of the planes.
  return static_cast<uint32_t>(
      std::min<uint64_t>(kWhole, uint64_t{2} * lower_half() * kWhole / p.braked));
}

uint32_t PlaneShares::fraction_of(Bytes by, Bytes window) const {
  const uint64_t whole = std::max<uint64_t>(window.value / count_, 1);
  return static_cast<uint32_t>(std::min<Wide>(kWhole, Wide{by.value} * kWhole / whole));
}

void PlaneShares::shrink(uint32_t plane, Bytes by, Bytes window) {
  uint32_t& share = of(plane).share;
  share = std::max(share - std::min(share, fraction_of(by, window)), kLeastPlaneShare);
}

uint32_t PlaneShares::raise_all() {
  uint32_t most = 0;
  for (uint32_t left = in_use_; left != 0; left &= left - 1) {
    most = std::max(most, share(static_cast<uint32_t>(std::countr_zero(left))));
  }
  if (most == 0 || most == kWhole) return kWhole;  // 0: no plane is in use
  for (Plane& p : planes_) {
    p.share = static_cast<uint32_t>(std::min<uint64_t>(uint64_t{p.share} * kWhole / most, kWhole));
  }
  return most;
}

void PlaneShares::grow(uint32_t plane, Bytes by, Bytes window) {
  uint32_t& share = of(plane).share;
  share = std::min(share + fraction_of(by, window), kWhole);
}

}  // namespace mrclab::endpoint
