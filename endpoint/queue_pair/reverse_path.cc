#include "endpoint/queue_pair/reverse_path.h"

#include <algorithm>
#include <utility>

namespace mrclab::endpoint {

ReversePath::ReversePath(MakeValues make_values, uint32_t planes, Config config,
                         PeerPortOf peer_port)
    : planes_(planes),
      make_values_(std::move(make_values)),
      config_(config),
      peer_port_(std::move(peer_port)) {}

ReversePath::Values ReversePath::made_values() const {
  const std::vector<EntropyValue> all = make_values_();
  Values made;
  made.ends.resize(planes_.size());
  const auto for_each = [&](auto&& take_in) {
    for (const EntropyValue value : all) {
      const std::optional<Path> path = path_of(value);
      if (path && path->plane < planes_.size()) take_in(value, *path);
    }
  };
  for_each([&](EntropyValue, Path path) { ++made.ends[path.plane]; });
  uint32_t count = 0;
  for (uint32_t& end : made.ends) count += std::exchange(end, count);
  made.evs.resize(count);
  made.peer_ports.resize(count);
  for_each([&](EntropyValue value, Path path) {
    const uint32_t place = made.ends[path.plane]++;
    made.evs[place] = value;
    made.peer_ports[place] = value_of(value, path).peer_port;
  });
  return made;
}

const ReversePath::Values& ReversePath::values(Values& made) const {
  if (kept_) return *kept_;
  return made = made_values();
}

void ReversePath::begin_with_first() {
  has_begun_ = true;
  Values made = made_values();
  for (uint32_t p = 0; p < planes_.size(); ++p) {
    if (!planes_[p].own) planes_[p].own = first_of(made, p, {});
    for (uint32_t i = made.begin(p); i < made.ends[p]; ++i) {
      planes_[p].peer_ports |= 1u << made.peer_ports[i];
    }
  }
  if (made.evs.size() <= kMostKept) kept_ = std::make_unique<const Values>(std::move(made));
}

/// The first value of the plane that is not denied and leads to a live port.
std::optional<ReversePath::Value> ReversePath::first_of(const Values& values, uint32_t plane,
                                                        LivePorts live) const {
  for (uint32_t i = values.begin(plane); i < values.ends[plane]; ++i) {
    const Value value = values[i];
    if (!is_denied(value.ev) && arrives(value, live)) return value;
  }
  return std::nullopt;
}

void ReversePath::confirmed(EntropyValue ev, FabricTime now) {
  const std::optional<Path> path = path_of(ev);
  if (!path || path->plane >= planes_.size()) return;
  Plane& plane = planes_[path->plane];
  if (is_denied(ev)) return;
  take(plane, ev, *path);
  plane.confirmed = now;
  plane.suspect = false;
}

void ReversePath::set_denied(EntropyValue ev, bool denied) {
  if (!has_begun_) begin_with_first();
  const std::optional<Path> path = path_of(ev);
  if (!path || path->plane >= planes_.size()) return;
  Plane& plane = planes_[path->plane];
  Values made;
  const Values& all = values(made);
  const auto begin = all.evs.begin() + all.begin(path->plane),
             end = all.evs.begin() + all.ends[path->plane];
  const auto place = std::lower_bound(denied_.begin(), denied_.end(), ev);
  if (!denied && is_denied(ev)) denied_.erase(place);
  if (denied && !is_denied(ev) && std::find(begin, end, ev) != end) denied_.insert(place, ev);
  if (plane.own && !is_denied(plane.own->ev)) return;
  plane.confirmed = FabricTime::never();
  plane.own = first_of(all, path->plane, {});
}

std::optional<EntropyValue> ReversePath::choose(LivePorts live, FabricTime now) {
  const auto count = static_cast<uint32_t>(planes_.size());
  enum class Demand : uint8_t { kFreshAndTrusted, kTrusted, kAny };
  for (const Demand demand : {Demand::kFreshAndTrusted, Demand::kTrusted, Demand::kAny}) {
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t number = next_ + i < count ? next_ + i : next_ + i - count;
      const Plane& plane = planes_[number];
      const std::optional<EntropyValue> ev = of_plane(number, live);
      if (!ev) continue;
      if (demand != Demand::kAny && plane.suspect) continue;
      if (demand == Demand::kFreshAndTrusted && now - plane.heard > config_.fresh) continue;
      next_ = number + 1 == count ? 0 : number + 1;
      return ev;
    }
  }
  return std::nullopt;
}

std::optional<EntropyValue> ReversePath::of_plane(uint32_t number, LivePorts live) {
  if (!has_begun_) begin_with_first();
  if (number >= planes_.size() || (live.own & 1u << number) == 0) return std::nullopt;
  const Plane& plane = planes_[number];
  if (!plane.own) return std::nullopt;
  if (arrives(*plane.own, live)) return plane.own->ev;
  if ((live.peer & plane.peer_ports) == 0) return std::nullopt;
  Values made;
  const std::optional<Value> other = first_of(values(made), number, live);
  return other ? std::optional(other->ev) : std::nullopt;
}

std::optional<ReversePath::Probe> ReversePath::next_probe(LivePorts live, FabricTime now) {
  if (now < due_) return std::nullopt;
  expire(live, now);
  const bool idle = last_sent_ == FabricTime::never() || now - last_sent_ >= config_.probe_interval;
  const bool wanted = heard_ && idle;
  const bool waiting =
      std::any_of(sent_.begin(), sent_.end(), [](const Sent& sent) { return sent.open; });
  due_ = heard_ || waiting ? now + config_.probe_interval : FabricTime::never();
  heard_ = false;
  if (!wanted) return std::nullopt;
  const std::optional<EntropyValue> ev = any(live);
  if (!ev) return std::nullopt;
  Sent& slot = sent_[++last_id_ % kOpenProbes];
  slot = {{*ev, last_id_}, now, true};
  return slot.probe;
}

/// A plane is suspect when a probe in it came to nothing, unless another value there is confirmed to
/// work. A port that is down explains it as well.
void ReversePath::expire(LivePorts live, FabricTime now) {
  for (Sent& sent : sent_) {
    if (!sent.open || now - sent.at < config_.probe_timeout) continue;
    sent.open = false;
    const Path path = *path_of(sent.probe.ev);
    if ((live.peer & 1u << peer_port_(path)) == 0) continue;
    Plane& plane = planes_[path.plane];
    const bool other = plane.own && plane.own->ev != sent.probe.ev && arrives(*plane.own, live);
    if (other && still_confirmed(plane, now)) continue;
    plane.confirmed = FabricTime::never();
    plane.suspect = true;
  }
}

std::optional<EntropyValue> ReversePath::any(LivePorts live) {
  Values made;
  const Values& all = values(made);
  std::vector<EntropyValue> candidates;
  for (uint32_t p = 0; p < planes_.size(); ++p) {
    if ((live.own & 1u << p) == 0) continue;
    for (uint32_t i = all.begin(p); i < all.ends[p]; ++i) {
      const Value value = all[i];
      if (!is_denied(value.ev) && arrives(value, live)) candidates.push_back(value.ev);
    }
  }
  if (candidates.empty()) return std::nullopt;
  const uint64_t random =
      draw(config_.seed, config_.self, PortId{config_.peer}, DrawPurpose::kReverseProbe, draws_++);
  return candidates[below(random, candidates.size())];
}

std::optional<FabricTime> ReversePath::answered(uint16_t id, FabricTime now) {
  Sent& sent = sent_[id % kOpenProbes];
  if (!sent.open || sent.probe.id != id) return std::nullopt;
  sent.open = false;
  confirmed(sent.probe.ev, now);
  return now - sent.at;
}

}  // namespace mrclab::endpoint
