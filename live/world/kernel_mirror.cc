#include "live/world/kernel_mirror.h"

#include <algorithm>
#include <map>

#include "fabric/node/event_kind.h"
#include "fabric/topology/forwarder.h"

namespace mrclab::lab {
namespace {

/// How far ahead of the fabric instant a link is set up: setting one up takes about 20 ms, and what
/// is not done by then the whole lab waits for.
constexpr double kAheadNs = 40e6;
/// An outage shorter than this would be over before the kernel had followed.
constexpr double kMinOutageNs = 2 * kAheadNs;

FabricTime fabric_span(double lab_ns, double dilation) {
  return FabricTime::from_ps(static_cast<int64_t>(lab_ns * 1000.0 / std::max(dilation, 1.0)));
}

}  // namespace

KernelMirror::KernelMirror(const Topology& topology, const std::vector<ScheduledEffect>& schedule,
                           SetLink set_link, KeepBefore keep_before)
    : topology_(topology), set_link_(std::move(set_link)), keep_before_(std::move(keep_before)) {
  replace(schedule);
}

void KernelMirror::replace(const std::vector<ScheduledEffect>& schedule) {
  std::vector<Item> before = std::move(items_);
  items_.clear();
  for (const faults::CarrierOutage& outage : faults::carrier_outages(topology_, schedule)) {
    const Link& link = topology_.link(outage.link);
    const FabricTime lookahead =
        std::max(topology_.lookahead(link.a_to_b), topology_.lookahead(link.b_to_a));
    Item item{outage, outage.down + lookahead, State::kPending, is_ours(topology_, link)};
    const auto known = std::find_if(before.begin(), before.end(), [&](const Item& old) {
      return old.outage.link == outage.link && old.outage.down == outage.down;
    });
    if (known != before.end()) {
      // An outage that was undone, or left out, for an end that the new schedule does not have
      // begins again.
      const bool begins_again = known->state == State::kDone && known->outage.up != outage.up;
      item.state = begins_again ? State::kPending : known->state;
    }
    items_.push_back(item);
  }
}

void KernelMirror::step(FabricTime slowest, double dilation, FabricTime stands_at) {
  for (Item& item : items_) {
    if (!item.ours) continue;
    const bool seen = slowest <= stands_at && stands_at < item.outage.up;
    if (item.state == State::kPending && slowest >= item.settled) {
      if (!can_follow(item, slowest, dilation, seen)) {
        note(slowest, item, event_kind::kOutageNotMirrored);
        item.state = State::kDone;
        continue;
      }
      set_link_(item.outage.link, false);
      note(slowest, item, event_kind::kLinkMirroredDown);
      item.state = State::kDown;
    }
    if (item.state == State::kDown && !seen && item.outage.up != FabricTime::never() &&
        slowest + fabric_span(kAheadNs, dilation) >= item.outage.up) {
      set_link_(item.outage.link, true);
      note(slowest, item, event_kind::kLinkMirroredUp);
      item.state = State::kDone;
    }
  }
}

/// Can the kernel's link be set down and come up again in time? No frame may start before it is up,
/// so the gate must still be able to hold all processes before that instant.
bool KernelMirror::can_follow(const Item& item, FabricTime slowest, double dilation,
                              bool seen) const {
  if (item.outage.up == FabricTime::never()) return true;
  if (!seen && item.outage.up < slowest + fabric_span(kMinOutageNs, dilation)) return false;
  return keep_before_(item.outage.up);
}

void KernelMirror::note(FabricTime t, const Item& item, std::string_view kind) {
  if (notes_.size() < kMaxNotes) notes_.push_back({t, item.outage.link, kind});
}

FabricTime KernelMirror::settled(FabricTime t) const {
  for (const Item& item : items_) {
    if (!item.ours || item.state == State::kDone || item.outage.up > t) continue;
    t = std::min(t, item.outage.down - kPicosecond);
  }
  return t;
}

FabricTime KernelMirror::limit() const {
  FabricTime limit = FabricTime::never();
  for (const Item& item : items_) {
    if (item.state != State::kDown || item.outage.up == FabricTime::never()) continue;
    limit = std::min(limit, item.outage.up - FabricTime::from_ps(1));
  }
  return limit;
}

std::vector<LinkId> KernelMirror::down_at(FabricTime t) const {
  std::vector<LinkId> down;
  for (const Item& item : items_) {
    if (item.outage.down <= t && t < item.outage.up) down.push_back(item.outage.link);
  }
  return down;
}

}  // namespace mrclab::lab
