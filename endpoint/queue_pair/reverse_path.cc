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

/// Planes that have a value in use keep it.
void ReversePath::make_values() {
  const std::vector<EntropyValue> values = std::exchange(make_values_, nullptr)();
  const auto for_each = [&](auto&& take_in) {
    for (const EntropyValue value : values) {
      const std::optional<Path> path = path_of(value);
      if (path && path->plane < planes_.size()) take_in(planes_[path->plane], value, *path);
    }
  };
  for_each([](Plane& plane, EntropyValue, Path) { ++plane.end; });
  uint32_t count = 0;
  for (Plane& plane : planes_) {
    plane.begin = count;
    count += std::exchange(plane.end, count);
  }
  values_.resize(count);
  peer_ports_.resize(count);
  for_each([this](Plane& plane, EntropyValue value, Path path) {
    values_[plane.end] = value;
    peer_ports_[plane.end++] = value_of(value, path).peer_port;
  });
  for (Plane& plane : planes_) {
    if (!plane.own) plane.own = first_of(plane, {});
  }
}

/// The first value of the plane that is not denied and leads to a live port.
std::optional<ReversePath::Value> ReversePath::first_of(const Plane& plane, LivePorts live) const {
  for (uint32_t i = plane.begin; i < plane.end; ++i) {
    const Value value{values_[i], peer_ports_[i]};
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
  if (make_values_) make_values();
  const std::optional<Path> path = path_of(ev);
  if (!path || path->plane >= planes_.size()) return;
  Plane& plane = planes_[path->plane];
  const auto begin = values_.begin() + plane.begin, end = values_.begin() + plane.end;
  const auto place = std::lower_bound(denied_.begin(), denied_.end(), ev);
  if (!denied && is_denied(ev)) denied_.erase(place);
  if (denied && !is_denied(ev) && std::find(begin, end, ev) != end) denied_.insert(place, ev);
  if (plane.own && !is_denied(plane.own->ev)) return;
  plane.confirmed = FabricTime::never();
  plane.own = first_of(plane, {});
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
  if (make_values_) make_values();
  if (number >= planes_.size() || (live.own & 1u << number) == 0) return std::nullopt;
  const Plane& plane = planes_[number];
  if (!plane.own) return std::nullopt;
  if (arrives(*plane.own, live)) return plane.own->ev;
  const std::optional<Value> other = first_of(plane, live);
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
  if (make_values_) make_values();
  std::vector<EntropyValue> candidates;
  for (uint32_t p = 0; p < planes_.size(); ++p) {
    if ((live.own & 1u << p) == 0) continue;
    for (uint32_t i = planes_[p].begin; i < planes_[p].end; ++i) {
      const Value value{values_[i], peer_ports_[i]};
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
