#include "analysis/roce/pause_watch.h"

#include <algorithm>

#include "fabric/base/byte_order.h"

namespace mrclab::analysis {
namespace {

constexpr uint16_t kLinkPause = 0x0001;  // IEEE 802.3 annex 31B
constexpr size_t kOpcodeAt = 14, kQuantaAt = 16, kSourceAt = 6;

bool is_group(const MacAddress& mac) { return (mac[0] & 1) != 0; }

/// "leaf1" of "leaf1:Ethernet4"; empty for a name that names no device.
std::string device_in(const std::string& place) {
  const size_t colon = place.find(':');
  return colon == std::string::npos ? "" : place.substr(0, colon);
}

}  // namespace

std::optional<PauseSeenAt> pause_seen_in(std::span<const uint8_t> frame) {
  if (!is_mac_control(frame)) return std::nullopt;
  PauseSeenAt seen;
  std::copy_n(frame.begin() + kSourceAt, seen.asked_by.size(), seen.asked_by.begin());
  if (const std::optional<PauseFrame> pause = parse_pause(frame)) {
    seen.frame = *pause;
    return seen;
  }
  if (frame.size() < kQuantaAt + 2 || load_be<uint16_t>(&frame[kOpcodeAt]) != kLinkPause) {
    return std::nullopt;
  }
  seen.whole_link = true;
  seen.frame.classes = 1;
  seen.frame.quanta[0] = load_be<uint16_t>(&frame[kQuantaAt]);
  return seen;
}

void PauseWatch::add_frame(uint32_t point, const MacAddress& source,
                           const MacAddress& destination) {
  if (is_group(source) || is_group(destination) || source == MacAddress{}) return;
  const auto link = std::tuple(point, source, destination);
  if (link == recent_) return;  // most frames are between the same two ports as the one before
  recent_ = link;
  for (const auto& [one, other] :
       {std::pair(source, destination), std::pair(destination, source)}) {
    const auto key = std::tuple(point, one, other);
    if (links_.size() < kMaxLinks || links_.contains(key)) ++links_[key];
  }
}

void PauseWatch::end(Span& span, FabricTime t) {
  if (!span.since) return;
  span.sum.stood = span.sum.stood + (std::max(t, *span.since) - *span.since);
  span.since.reset();
  span.expires.reset();
}

void PauseWatch::add_pause(const PauseSeenAt& seen, FabricTime t, uint32_t point,
                           const std::string& place, bool leaving, bool arriving,
                           std::optional<BitRate> rate) {
  for (uint8_t priority = 0; priority < seen.frame.quanta.size(); ++priority) {
    if ((seen.frame.classes >> priority & 1) == 0) continue;
    const uint8_t shown = seen.whole_link ? kAllPriorities : priority;
    const auto key = std::tuple(seen.asked_by, shown);
    if (spans_.size() >= kMaxSpans && !spans_.contains(key)) continue;
    Span& span = spans_[key];
    if (span.sum.asks + span.sum.ends == 0) {
      span.asker = seen.asked_by;
      span.point = point;
      span.device = device_in(place);
      span.asker_is_device = leaving;
      span.paused_is_device = arriving;
      span.sum.priority = shown;
      span.sum.first = t;
    }
    if (span.point != point) continue;  // the other end of the same wire
    if (span.expires && *span.expires < t) end(span, *span.expires);
    span.sum.last = t;
    const uint16_t quanta = seen.frame.quanta[priority];
    if (quanta == 0) {
      ++span.sum.ends;
      end(span, t);
      continue;
    }
    ++span.sum.asks;
    if (!span.since) {
      span.since = t;
      ++span.sum.times;
    }
    if (rate) span.expires = t + pause_time(quanta, *rate);
  }
}

std::string PauseWatch::neighbour_of(const Span& span) const {
  std::string found;
  for (const auto& [link, frames] : links_) {
    const auto& [point, one, other] = link;
    if (point != span.point || one != span.asker) continue;
    if (!found.empty()) return "";
    found = to_string(other);
  }
  return found;
}

std::vector<PausedNeighbour> PauseWatch::tree(FabricTime last) {
  std::vector<PausedNeighbour> all;
  for (auto& [key, span] : spans_) {
    if (span.expires && *span.expires < last) end(span, *span.expires);
    span.sum.open = span.since.has_value();
    end(span, last);
    PausedNeighbour sum = span.sum;
    const bool named = !span.device.empty();
    sum.asked_by = named && span.asker_is_device ? span.device : to_string(span.asker);
    sum.paused = named && span.paused_is_device ? span.device : neighbour_of(span);
    all.push_back(std::move(sum));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  // What was paused earlier may have filled the queues of who asks later; earlier ones alone, so there is no circle.
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const bool causes = all[j].paused == all[i].asked_by && all[j].last >= all[i].first &&
                          (all[j].priority == all[i].priority || all[j].priority == kAllPriorities);
      const bool better =
          all[i].above == PausedNeighbour::kRoot || all[j].stood > all[all[i].above].stood;
      if (causes && better) all[i].above = static_cast<uint32_t>(j);
    }
    if (all[i].above != PausedNeighbour::kRoot) all[i].depth = all[all[i].above].depth + 1;
  }
  // Each behind the one above it.
  std::vector<PausedNeighbour> ordered;
  std::vector<uint32_t> place(all.size());
  std::vector<uint32_t> stack;
  const auto push_below = [&](uint32_t above) {
    for (size_t i = all.size(); i-- > 0;) {
      if (all[i].above == above) stack.push_back(static_cast<uint32_t>(i));
    }
  };
  push_below(PausedNeighbour::kRoot);
  while (!stack.empty()) {
    const uint32_t at = stack.back();
    stack.pop_back();
    place[at] = static_cast<uint32_t>(ordered.size());
    ordered.push_back(all[at]);
    push_below(at);
  }
  for (PausedNeighbour& sum : ordered) {
    if (sum.above != PausedNeighbour::kRoot) sum.above = place[sum.above];
  }
  return ordered;
}

}  // namespace mrclab::analysis
