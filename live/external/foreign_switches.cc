#include "live/external/foreign_switches.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/node/event_kind.h"
#include "fabric/topology/forwarder.h"
#include "fabric/topology/routes.h"
#include "live/bringup/node_plan.h"
#include "live/external/attempt.h"
#include "netio/kernel/route.h"

namespace mrclab::lab {
namespace {

/// What a BPF program gets for a port, beside the shaper: "no trims, marks none".
std::string queue_words(const PortImpairment& impairment) {
  const std::string_view marks = impairment.ecn == EcnKind::kOff      ? "marks none"
                                 : impairment.ecn == EcnKind::kAlways ? "marks all"
                                                                      : "marks as built";
  return fmt::format("{}, {}", impairment.trim_off ? "no trims" : "trims as built", marks);
}

}  // namespace

ForeignSwitches::ForeignSwitches(LiveFabric& fabric, OvsSwitches* ovs, BpfSwitches* bpf,
                                 const std::vector<ScheduledEffect>& schedule, double dilation,
                                 std::function<FabricTime()> clock)
    : fabric_(fabric),
      topology_(fabric.topology()),
      ovs_(ovs),
      bpf_(bpf),
      dilation_(dilation),
      clock_(std::move(clock)),
      outages_(topology_, LinkOutages::Links::kForeign) {
  for (const NodeSite& site : topology_.nodes) {
    const NodeId owner = owner_of_namespace(site.id);
    if (owner == site.id) rules_.try_emplace(owner, fabric.network_namespace(owner));
    if (is_ours(site)) continue;
    impairments_[site.id] = impairment_of(topology_, site.id, {});
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      const PortRef port{site.id, PortId{i}};
      const netio::Shaper shaper = shaper_of(topology_, port, {}, dilation);
      fabric.queue_shaper(port, shaper);
      if (site.forwarding == Forwarding::kBpf) bpf_->set_port(port, {}, shaper);
    }
    fabric.netlink(site.id).flush();
  }
  reached_ = FabricTime::from_ps(-1);
  replace(schedule);
}

ForeignSwitches::~ForeignSwitches() = default;

void ForeignSwitches::replace(const std::vector<ScheduledEffect>& schedule) {
  schedule_ = schedule;
  next_ =
      static_cast<size_t>(std::find_if(schedule_.begin(), schedule_.end(),
                                       [&](const ScheduledEffect& s) { return s.at > reached_; }) -
                          schedule_.begin());
  in_force_ = faults::replay(schedule_, reached_);
  outages_.replace(schedule);
  // The nodes of ours have the schedule by now, whatever the kernel refuses here.
  attempt(problems_, "the next faults", [this] { prepare(); });
  // An effect may be due that the old schedule did not have.
  for (auto& entry : impairments_) reconcile(entry.first);
}

/// Makes the kernel objects that effects need ahead of time: an effect then takes a few
/// milliseconds, and a fault at many switches begins at all of them at nearly the same time.
void ForeignSwitches::prepare() {
  std::map<NodeId, std::set<std::string>> needed;
  for (size_t i = next_; i < schedule_.size(); ++i) {
    const NodeId node = concerned_switch(topology_, schedule_[i].effect);
    if (!node.valid()) continue;
    const SwitchImpairment impairment = impairment_of(topology_, node, {schedule_[i].effect});
    for (uint32_t p = 0; p < impairment.ports.size(); ++p) {
      if (egress_rules(impairment.ports[p], topology_.node(node).forwarding).empty()) continue;
      needed[node].insert(device_of(topology_, {node, PortId{p}}));
    }
  }
  for (const auto& [node, devices] : needed) {
    change_filter(node, [&, &devices = devices](auto& filter) { filter.prepare(devices); });
  }
  for (size_t i = next_; i < schedule_.size(); ++i) {
    const NodeId node = concerned_switch(topology_, schedule_[i].effect);
    if (node.valid()) remember(node);
  }
  for (const LinkOutage& item : outages_.all()) {
    if (item.state == LinkOutage::State::kElsewhere) continue;
    const Link& link = topology_.link(item.span.link);
    for (const PortRef end : {link.a, link.b}) remember(end.node);
  }
}

void ForeignSwitches::apply_due() {
  reached_ = clock_();
  step_links();
  apply_effects();
  // One node each time: to read a node back takes longer than to change it, on a busy machine tenths of
  // a second, and what is due must not wait for several.
  if (!to_verify_.empty()) verify(to_verify_.extract(to_verify_.begin()).value());
  if (next_rules_ == rules_.end()) next_rules_ = rules_.begin();
  if (next_rules_ != rules_.end()) look_at_rules((next_rules_++)->first);
}

void ForeignSwitches::remember_all() {
  for (const auto& entry : impairments_) remember(entry.first);
}

void ForeignSwitches::look_again() {
  for (const NodeId node : std::exchange(to_verify_, {})) verify(node);
  for (const auto& entry : rules_) look_at_rules(entry.first);
  for (const auto& entry : before_) {
    const NodeId node = entry.first;
    if (!is_untroubled(node) || differing_.contains(node)) continue;
    if (const auto difference = difference_from_before(node)) {
      problems_.push_back(fmt::format("{} is at the end not what it was at the start: {}",
                                      topology_.node(node).name, *difference));
    }
  }
}

void ForeignSwitches::look_at_rules(NodeId owner) {
  if (!rules_.at(owner).take_changed()) return;
  problems_.push_back(fmt::format("somebody changed the packet filter of {} at {}",
                                  topology_.node(owner).name, to_string(clock_())));
}

void ForeignSwitches::change_filter(NodeId node,
                                    const std::function<void(netio::PacketFilter&)>& change) {
  netio::RulesetWatch& rules = rules_.at(owner_of_namespace(node));
  rules.before_own_change();
  change(filter(node));
  rules.after_own_change();
}

void ForeignSwitches::step_links() {
  using Change = LinkOutages::Change;
  const auto make = [this](const faults::CarrierOutage& outage, Change change) {
    set_link(outage.link, change == Change::kUp);
    if (change == Change::kDown && outage.up <= reached_) {
      tell_too_late(topology_.link_name(outage.link), outage.down, outage.up);
    }
  };
  // By the clock no outage is too short: it takes effect for a moment at least.
  const auto always = [](const faults::CarrierOutage&) { return true; };
  outages_.step(reached_, dilation_, FabricTime::never(), always, make);
}

void ForeignSwitches::set_link(LinkId id, bool up) {
  const Link& link = topology_.link(id);
  try {
    fabric_.set_link(id, up);
    note(up ? event_kind::kKernelLinkUp : event_kind::kKernelLinkDown, topology_.link_name(id));
    for (const PortRef end : {link.a, link.b}) {
      to_verify_.insert(end.node);
      // A link comes up with its routes as built.
      if (!up || is_ours(topology_.node(end.node))) continue;
      for (const SwitchRoute& route : impairments_[end.node].routes) {
        set_route(end.node, route.usid, &route);
      }
    }
  } catch (const std::exception& error) {
    problems_.push_back(fmt::format("link {} could not be set {}: {}", topology_.link_name(id),
                                    up ? "up" : "down", error.what()));
  }
}

void ForeignSwitches::apply_effects() {
  std::map<NodeId, FabricTime> changed;  // by this step, and the instant that asked for it
  while (next_ < schedule_.size() && schedule_[next_].at <= reached_) {
    const FabricTime at = schedule_[next_].at;
    std::set<NodeId> concerned;
    for (; next_ < schedule_.size() && schedule_[next_].at == at; ++next_) {
      in_force_.apply(schedule_[next_].effect);
      const NodeId node = concerned_switch(topology_, schedule_[next_].effect);
      if (node.valid()) concerned.insert(node);
    }
    for (const NodeId node : concerned) {
      if (!reconcile(node)) continue;
      const auto [earlier, first] = changed.try_emplace(node, at);
      if (!first) tell_too_late(topology_.node(node).name, std::exchange(earlier->second, at), at);
    }
  }
}

bool ForeignSwitches::reconcile(NodeId node) {
  const SwitchImpairment wanted = impairment_of(topology_, node, in_force_.degraded_targets());
  if (wanted == impairments_[node]) return false;
  attempt(problems_, topology_.node(node).name, [&] { reconcile(node, wanted); });
  to_verify_.insert(node);
  return true;
}

/// A fault that began and ended in one step was in force for a moment only, unlike in
/// the schedule: it must not be judged as one that the fabric survived.
void ForeignSwitches::tell_too_late(const std::string& what, FabricTime from, FabricTime until) {
  problems_.push_back(fmt::format(
      "{}: the change that the schedule has from {} took effect after {}, when it was over; the "
      "machine was too busy",
      what, to_string(from), to_string(until)));
}

/// All switches of Open vSwitch are in one namespace.
NodeId ForeignSwitches::owner_of_namespace(NodeId node) const {
  if (!shares_namespace(topology_.node(node))) return node;
  return std::find_if(topology_.nodes.begin(), topology_.nodes.end(),
                      [](const NodeSite& site) {
                        return site.role != NodeRole::kHost && shares_namespace(site);
                      })
      ->id;
}

netio::PacketFilter& ForeignSwitches::filter(NodeId node) {
  const NodeId owner = owner_of_namespace(node);
  const auto known = filters_.find(owner);
  if (known != filters_.end()) return known->second;
  return filters_.emplace(owner, netio::PacketFilter(fabric_.network_namespace(owner)))
      .first->second;
}

/// Before anything is done to it.
void ForeignSwitches::remember(NodeId node) {
  if (before_.contains(node)) return;
  attempt(problems_, topology_.node(node).name,
          [&] { before_[node] = take_snapshot(fabric_, node, filter(node), ovs_, bpf_); });
}

void ForeignSwitches::reconcile(NodeId node, const SwitchImpairment& wanted) {
  SwitchImpairment& actual = impairments_[node];
  const Forwarding by = topology_.node(node).forwarding;
  std::map<std::string, netio::PacketFilter::Rules> filters;
  std::vector<std::string> changed;
  for (uint32_t i = 0; i < wanted.ports.size(); ++i) {
    const std::vector<std::string> rules = egress_rules(wanted.ports[i], by);
    if (rules == egress_rules(actual.ports[i], by)) continue;
    const PortRef port{node, PortId{i}};
    filters[device_of(topology_, port)] = rules;
    changed.push_back(topology_.port_name(port) + ": " +
                      (rules.empty() ? "as built" : rules.front()));
  }
  if (!filters.empty()) change_filter(node, [&](auto& filter) { filter.set(filters); });
  for (std::string& detail : changed) note(event_kind::kKernelFilter, std::move(detail));
  // Changes are recorded one by one: if the next one fails, it is known which are in place.
  for (uint32_t i = 0; i < wanted.ports.size(); ++i) {
    const PortRef port{node, PortId{i}};
    const netio::Shaper shaper = shaper_of(topology_, port, wanted.ports[i], dilation_);
    if (by == Forwarding::kBpf && wanted.ports[i] != actual.ports[i]) {
      bpf_->set_port(port, wanted.ports[i], shaper);
      const std::string words = queue_words(wanted.ports[i]);
      if (words != queue_words(actual.ports[i])) {
        note(event_kind::kKernelQueue, topology_.port_name(port) + ": " + words);
      }
    }
    if (shaper != shaper_of(topology_, port, actual.ports[i], dilation_)) {
      fabric_.queue_shaper(port, shaper);
      fabric_.netlink(node).flush();
      note(event_kind::kKernelRate,
           fmt::format("{}: {} bytes/s, queue {}", topology_.port_name(port),
                       shaper.bytes_per_second, shaper.queue));
    }
    actual.ports[i] = wanted.ports[i];
  }
  const auto find = [](std::vector<SwitchRoute>& in, Usid usid) {
    return std::find_if(in.begin(), in.end(),
                        [usid](const SwitchRoute& route) { return route.usid == usid; });
  };
  std::vector<SwitchRoute> routes = wanted.routes;
  for (size_t i = actual.routes.size(); i-- > 0;) {
    const Usid usid = actual.routes[i].usid;
    if (find(routes, usid) != routes.end()) continue;
    set_route(node, usid, nullptr);
    actual.routes.erase(actual.routes.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (const SwitchRoute& route : routes) {
    const auto old = find(actual.routes, route.usid);
    if (old != actual.routes.end() && *old == route) continue;
    set_route(node, route.usid, &route);
    if (old != actual.routes.end()) {
      *old = route;
    } else {
      actual.routes.push_back(route);
    }
  }
  actual.routes = std::move(routes);  // in their order
}

/// `wanted` null: as built.
void ForeignSwitches::set_route(NodeId node, Usid usid, const SwitchRoute* wanted) {
  const std::optional<PortId> built = port_toward(topology_, node, usid);
  if (!built) return;
  std::optional<PortId> port = wanted == nullptr ? built : std::nullopt;
  if (wanted != nullptr && wanted->kind == RouteKind::kWrong) port = wanted->port;
  const NodeSite& site = topology_.node(node);
  if (port && port->value >= site.ports.size()) return;
  if (shares_namespace(site)) {
    ovs_->set_route(node, usid, port);
  } else if (site.forwarding == Forwarding::kBpf) {
    bpf_->set_route(node, usid, port);
  } else {
    netio::RouteBatch batch(fabric_.netlink(node));
    // The kernel takes no route to a port that is down; the lab sets it when the link is up again.
    if (port && fabric_.link_is_up(site.ports[port->value].link)) {
      batch.route(switch_route(topology_, node, usid, *port));
    } else {
      netio::Route any = switch_route(topology_, node, usid, *built);
      any.dev.clear();
      any.via.reset();
      batch.remove_route(any);
    }
    batch.commit();
  }
  note(event_kind::kKernelRoute,
       fmt::format("{}: {:04x} {}", site.name, usid.value,
                   port ? "via " + site.ports[port->value].name() : std::string("deleted")));
}

bool ForeignSwitches::has_link_down(NodeId node) const {
  const std::vector<LinkOutage>& all = outages_.all();
  return std::any_of(all.begin(), all.end(), [&](const LinkOutage& item) {
    const Link& link = topology_.link(item.span.link);
    return item.state == LinkOutage::State::kDown && (link.a.node == node || link.b.node == node);
  });
}

bool ForeignSwitches::is_untroubled(NodeId node) {
  if (has_link_down(node)) return false;
  return is_ours(topology_.node(node)) || impairments_[node] == impairment_of(topology_, node, {});
}

std::optional<std::string> ForeignSwitches::difference_from_before(NodeId node) {
  try {
    return first_difference(before_.at(node),
                            take_snapshot(fabric_, node, filter(node), ovs_, bpf_));
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// Only when nothing is left that would make the node differ from what it was.
void ForeignSwitches::verify(NodeId node) {
  if (!before_.contains(node) || !is_untroubled(node)) return;
  const NodeSite& site = topology_.node(node);
  const std::optional<std::string> difference = difference_from_before(node);
  note(difference ? event_kind::kUndoFailed : event_kind::kUndoVerified,
       site.name + (difference ? ": " + *difference : ""));
  if (!difference) return;
  differing_.insert(node);
  problems_.push_back(
      fmt::format("{} is not what it was before its fault: {}", site.name, *difference));
}

void ForeignSwitches::note(std::string_view kind, std::string detail) {
  if (notes_.size() < kMaxNotes) notes_.push_back({clock_(), kind, std::move(detail)});
}

}  // namespace mrclab::lab
