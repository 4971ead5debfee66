#include "live/bringup/ordinary_routes.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "live/bringup/node_plan.h"

namespace mrclab::lab {
namespace {

/// Routes that one step looks at: some milliseconds (our choice).
constexpr uint32_t kRoutesPerStep = 512;

}  // namespace

OrdinaryRoutes::OrdinaryRoutes(LiveFabric& fabric, std::vector<ScheduledEffect> schedule)
    : fabric_(fabric),
      topology_(fabric.topology()),
      schedule_(std::move(schedule)),
      dead_(topology_) {}

void OrdinaryRoutes::replace(std::vector<ScheduledEffect> schedule) {
  schedule_ = std::move(schedule);
  next_ =
      static_cast<size_t>(std::find_if(schedule_.begin(), schedule_.end(),
                                       [&](const ScheduledEffect& s) { return s.at > reached_; }) -
                          schedule_.begin());
  in_force_ = faults::replay(schedule_, reached_);
  changed_ = true;
}

void OrdinaryRoutes::set_outside(PortRef end, bool up) {
  if (up) {
    outside_.erase(end);
  } else {
    outside_.insert(end);
  }
  changed_ = true;
}

void OrdinaryRoutes::apply_due(FabricTime now) {
  look(now);
  for (uint32_t looked_at = 0; looked_at < kRoutesPerStep && !stale_.empty();
       looked_at += topology_.host_count()) {
    update(*stale_.begin());
    stale_.erase(stale_.begin());
  }
}

void OrdinaryRoutes::look(FabricTime now) {
  reached_ = std::max(reached_, now);
  for (; next_ < schedule_.size() && schedule_[next_].at <= reached_; ++next_, changed_ = true) {
    in_force_.apply(schedule_[next_].effect);
  }
  if (!std::exchange(changed_, false)) return;
  DeadParts dead(topology_);
  for (const Effect& effect : in_force_.degraded_targets()) dead.add(effect);
  for (const PortRef end : outside_) dead.add_link(topology_.port(end).link);
  if (dead == dead_) return;
  dead_ = std::move(dead);
  for (uint32_t host = 0; host < topology_.host_count(); ++host) stale_.insert(host);
}

void OrdinaryRoutes::update(uint32_t host) {
  const NodeId node = topology_.host(host);
  for (uint32_t peer = 0; peer < topology_.host_count(); ++peer) {
    if (peer == host) continue;
    netio::Route route =
        ordinary_route(topology_, host, peer, ordinary_paths(topology_, host, peer, dead_));
    if (route.ways == fabric_.plan(node).peer_routes[peer].ways) continue;
    fabric_.queue_peer_route(host, peer, std::move(route));
  }
  try {
    fabric_.netlink(node).flush();
  } catch (const netio::SystemError& error) {
    // An interface was deleted from outside, which outside_watch reports: what is then found dead is not asked for.
    if (error.error_number() != ENODEV) throw;
  }
}

}  // namespace mrclab::lab
