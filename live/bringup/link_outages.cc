#include "live/bringup/link_outages.h"

#include <algorithm>
#include <utility>

#include "fabric/topology/forwarder.h"

namespace mrclab::lab {
namespace {

using State = LinkOutage::State;

constexpr double kAheadNs = 40e6;  // of the machine's clock

}  // namespace

FabricTime LinkOutages::ahead(double dilation) {
  return FabricTime::from_ps(static_cast<int64_t>(kAheadNs * 1000.0 / std::max(dilation, 1.0)));
}

void LinkOutages::replace(const std::vector<ScheduledEffect>& schedule) {
  const std::vector<LinkOutage> before = std::exchange(outages_, {});
  for (const faults::CarrierOutage& outage : faults::carrier_outages(topology_, schedule)) {
    const Link& link = topology_.link(outage.link);
    LinkOutage item{outage, outage.down};
    if (is_ours(topology_, link) != (links_ == Links::kOurs)) item.state = State::kElsewhere;
    item.carries_ours =
        sender_is_ours(topology_, link.a_to_b()) || receiver_is_ours(topology_, link.a_to_b());
    if (item.carries_ours) {
      item.settled +=
          std::max(topology_.lookahead(link.a_to_b()), topology_.lookahead(link.b_to_a()));
    }
    const auto known = std::find_if(before.begin(), before.end(), [&](const LinkOutage& old) {
      return old.span.link == outage.link && old.span.down == outage.down;
    });
    if (known != before.end()) {
      // An outage that was undone, or left out, for an end that the new schedule does not have begins again.
      const bool begins_again = known->state == State::kDone && known->span.up != outage.up;
      item.state = begins_again ? State::kPending : known->state;
    }
    outages_.push_back(item);
  }
}

void LinkOutages::step(FabricTime now, double dilation, FabricTime stands_at,
                       const CanFollow& can_follow, const Make& make) {
  for (LinkOutage& item : outages_) {
    const FabricTime up = item.span.up;
    if (item.state == State::kPending && now >= item.settled) {
      const bool follows = can_follow(item.span);
      make(item.span, follows ? Change::kDown : Change::kLeftOut);
      item.state = follows ? State::kDown : State::kDone;
    }
    const bool stands_in_it = now <= stands_at && stands_at < up;
    const FabricTime due = item.carries_ours ? now + ahead(dilation) : now;
    if (item.state == State::kDown && !stands_in_it && up != FabricTime::never() && due >= up) {
      make(item.span, Change::kUp);
      item.state = State::kDone;
    }
  }
}

FabricTime LinkOutages::settled(FabricTime t) const {
  for (const LinkOutage& item : outages_) {
    const bool over = item.state == State::kDone || item.state == State::kElsewhere;
    if (over || item.span.up > t) continue;
    t = std::min(t, item.span.down - kPicosecond);
  }
  return t;
}

}  // namespace mrclab::lab
