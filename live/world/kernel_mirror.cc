#include "live/world/kernel_mirror.h"

#include "fabric/node/event_kind.h"

namespace mrclab::lab {

KernelMirror::KernelMirror(const Topology& topology, const std::vector<ScheduledEffect>& schedule,
                           SetLink set_link, KeepBefore keep_before)
    : outages_(topology, LinkOutages::Links::kOurs),
      set_link_(std::move(set_link)),
      keep_before_(std::move(keep_before)) {
  replace(schedule);
}

void KernelMirror::apply_due(FabricTime slowest, double dilation, FabricTime stands_at) {
  // Can the kernel's link be set down and come up again in time? No frame may start before it is up,
  // so the gate must still be able to hold all processes before that instant.
  const auto can_follow = [&](const faults::CarrierOutage& outage) {
    if (outage.up == FabricTime::never()) return true;
    const bool seen = slowest <= stands_at && stands_at < outage.up;
    // An outage that is shorter would be over before the kernel had followed.
    const FabricTime shortest = LinkOutages::ahead(dilation) * 2;
    if (!seen && outage.up < slowest + shortest) return false;
    return keep_before_(outage.up);
  };
  using Change = LinkOutages::Change;
  outages_.step(slowest, dilation, stands_at, can_follow,
                [&](const faults::CarrierOutage& outage, Change change) {
                  if (change == Change::kLeftOut) {
                    return note(slowest, outage.link, event_kind::kOutageNotMirrored);
                  }
                  const bool up = change == Change::kUp;
                  set_link_(outage.link, up);
                  note(slowest, outage.link,
                       up ? event_kind::kLinkMirroredUp : event_kind::kLinkMirroredDown);
                });
}

void KernelMirror::note(FabricTime t, LinkId link, std::string_view kind) {
  if (notes_.size() < kMaxNotes) notes_.push_back({t, link, kind});
}

FabricTime KernelMirror::limit() const {
  FabricTime limit = FabricTime::never();
  for (const LinkOutage& item : outages_.all()) {
    if (item.state != LinkOutage::State::kDown || item.span.up == FabricTime::never()) continue;
    limit = std::min(limit, item.span.up - kPicosecond);
  }
  return limit;
}

std::vector<LinkId> KernelMirror::down_at(FabricTime t) const {
  std::vector<LinkId> down;
  for (const LinkOutage& item : outages_.all()) {
    if (item.span.down <= t && t < item.span.up) down.push_back(item.span.link);
  }
  return down;
}

}  // namespace mrclab::lab
