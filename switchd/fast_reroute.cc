#include "switchd/fast_reroute.h"

#include <algorithm>

#include "fabric/node/event_kind.h"
#include "fabric/topology/fare.h"
#include "fabric/topology/path.h"
#include "routing/node/node_speaker.h"

namespace mrclab::switchd {
namespace {

/// Notices that came and wait for `react`; our choice. A neighbour sends one for each change and one each interval.
constexpr size_t kMostPending = 256;

}  // namespace

FastReroute::FastReroute(const NodeEnvironment& environment, FareTable& table)
    : environment_(environment), topology_(environment.topology), table_(table) {
  for (const Port& port : topology_.node(environment.self).ports) {
    PortState state;
    state.to_switch = topology_.node(port.peer.node).role != NodeRole::kHost;
    ports_.push_back(std::move(state));
  }
}

bool FastReroute::remote() const {
  return topology_.routing.fare.fast_reroute == RerouteScope::kRemote;
}

void FastReroute::start(const std::vector<bool>& carrier) {
  for (size_t i = 0; i < ports_.size(); ++i) {
    ports_[i] = {.to_switch = ports_[i].to_switch,
                 .carrier = carrier[i],
                 .dark = !carrier[i],
                 .silent = false,
                 .detected_at = FabricTime::never(),
                 .lost_until = {}};
  }
  routed_.assign(topology_.host_count(), {});
  usable_ = routed_;
  reported_.assign(topology_.host_count(), false);
  pending_.clear();
  packets_.clear();
  changes_.clear();
  expiry_ = repeat_at_ = FabricTime::never();
}

void FastReroute::set_carrier(PortId port, bool up, FabricTime now) {
  PortState& state = ports_[port.value];
  if (!state.to_switch || state.carrier == up) return;
  state.carrier = up;
  state.silent = false;
  // What the neighbour reported before is not known to hold on a link that was dark.
  state.lost_until.clear();
  if (!up) {
    state.detected_at = now + topology_.routing.fare.detect;
    return;
  }
  state.detected_at = FabricTime::never();
  state.dark = false;
  apply_all();
}

void FastReroute::set_session(PortId port, bool up, FabricTime now) {
  PortState& state = ports_[port.value];
  if (!state.to_switch || state.silent == !up) return;
  if (up) {
    state.silent = false;
  } else if (state.carrier) {
    state.silent = true;
    protect(port, "silent", now);
  }
  apply_all();
}

void FastReroute::protect(PortId port, std::string_view why, FabricTime now) {
  environment_.observer.event({now, event_kind::kProtected, port, {}, {}, {}, why, {}});
}

bool FastReroute::receive(PortId port, std::span<const uint8_t> packet, FabricTime now) {
  if (!remote() || !ports_[port.value].to_switch || !routing::is_notice_packet(packet))
    return false;
  const PortRef own{environment_.self, port};
  auto notice = routing::parse_notice_packet(
      packet, {link_address(topology_, topology_.port(own).peer), link_address(topology_, own)});
  if (!notice) {
    ++counters_.malformed;
  } else if (pending_.size() >= kMostPending) {
    ++counters_.refused;
  } else {
    pending_.push_back({now + topology_.routing.fare.react, port, std::move(*notice)});
  }
  return true;
}

void FastReroute::take_notice(const Pending& pending, FabricTime now) {
  PortState& state = ports_[pending.port.value];
  if (!state.carrier) return;
  ++counters_.notices_in;
  const bool lost = pending.notice.type == routing::FailureNotice::Type::kFailed;
  const FabricTime until = lost ? now + kNoticeHold : FabricTime::zero();
  state.lost_until.resize(topology_.host_count(), FabricTime::zero());
  std::vector<uint32_t> news;
  for (uint32_t host = 0; host < topology_.host_count(); ++host) {
    const Ipv6Address address = host_address(topology_, host);
    const auto& prefixes = pending.notice.prefixes;
    if (std::none_of(prefixes.begin(), prefixes.end(),
                     [&](const routing::Prefix& prefix) { return prefix.covers(address); })) {
      continue;
    }
    if ((state.lost_until[host] > now) != lost) news.push_back(host);
    state.lost_until[host] = until;
  }
  if (lost) expiry_ = std::min(expiry_, until);
  if (news.empty()) return;
  environment_.observer.event({now,
                               event_kind::kNotified,
                               pending.port,
                               {},
                               {},
                               {},
                               lost ? std::string_view("lost") : "back",
                               routing::hosts_text(news)});
  apply_all();
}

/// What no notice has repeated in time is no longer held for lost.
void FastReroute::expire(FabricTime now) {
  if (now < expiry_) return;
  expiry_ = FabricTime::never();
  for (PortState& state : ports_) {
    for (FabricTime& until : state.lost_until) {
      if (until <= now) {
        until = FabricTime::zero();
      } else {
        expiry_ = std::min(expiry_, until);
      }
    }
  }
  apply_all();
}

uint32_t FastReroute::lost_behind(PortId port) const {
  const auto& until = ports_[port.value].lost_until;
  return static_cast<uint32_t>(std::count_if(
      until.begin(), until.end(), [](FabricTime each) { return each > FabricTime::zero(); }));
}

bool FastReroute::usable(PortId port, uint32_t host) const {
  const auto& until = ports_[port.value].lost_until;
  return !is_dead(port) && (until.empty() || until[host] == FabricTime::zero());
}

void FastReroute::set_routed(uint32_t host, const Hops& hops) {
  routed_[host] = hops;
  apply(host);
}

/// The table has the usable next hops of the host, or those of routing where none is usable.
void FastReroute::apply(uint32_t host) {
  Hops left;
  for (const routing::WeightedHop& hop : routed_[host]) {
    if (usable(hop.port, host)) left.push_back(hop);
  }
  const Hops& wanted = left.empty() ? routed_[host] : left;
  if (table_.hops_to(host) != wanted) table_.set_hops(host, wanted);
  if (left == usable_[host]) return;
  usable_[host] = left;
  changes_.emplace_back(host, std::move(left));
}

/// Without the hosts of this switch, of which routing says nothing.
void FastReroute::apply_all() {
  for (uint32_t host = 0; host < routed_.size(); ++host) {
    if (!routed_[host].empty()) apply(host);
  }
}

FabricTime FastReroute::deadline() const {
  FabricTime earliest = std::min(expiry_, repeat_at_);
  if (!pending_.empty()) earliest = std::min(earliest, pending_.front().at);
  for (const PortState& state : ports_) earliest = std::min(earliest, state.detected_at);
  return earliest;
}

void FastReroute::run(FabricTime now) {
  for (uint32_t i = 0; i < ports_.size(); ++i) {
    PortState& state = ports_[i];
    if (state.detected_at > now) continue;
    state.detected_at = FabricTime::never();
    state.dark = true;
    protect(PortId{i}, "dark", now);
    apply_all();
  }
  while (!pending_.empty() && pending_.front().at <= now) {
    take_notice(pending_.front(), now);
    pending_.pop_front();
  }
  expire(now);
  if (remote()) report_lost(now);
}

/// Reports the hosts that are lost by this switch's own ports and were not, and those that are back. A host to which
/// routing has no way any more stays as it was reported.
void FastReroute::report_lost(FabricTime now) {
  std::vector<uint32_t> lost, back, all;
  for (uint32_t host = 0; host < routed_.size(); ++host) {
    const Hops& hops = routed_[host];
    if (!hops.empty()) {
      const bool dead =
          std::all_of(hops.begin(), hops.end(), [&](const auto& hop) { return is_dead(hop.port); });
      if (dead != reported_[host]) (dead ? lost : back).push_back(host);
      reported_[host] = dead;
    }
    if (reported_[host]) all.push_back(host);
  }
  if (!back.empty()) notify(routing::FailureNotice::Type::kRestored, back);
  if (now >= repeat_at_) {
    notify(routing::FailureNotice::Type::kFailed, all);
  } else if (!lost.empty()) {
    notify(routing::FailureNotice::Type::kFailed, lost);
  }
  if (all.empty()) {
    repeat_at_ = FabricTime::never();
  } else if (now >= repeat_at_ || repeat_at_ == FabricTime::never()) {
    repeat_at_ = now + kNoticeInterval;
  }
}

/// A row of hosts that are all there is one prefix.
std::vector<routing::Prefix> FastReroute::prefixes_of(const std::vector<uint32_t>& hosts) const {
  std::vector<routing::Prefix> prefixes;
  const uint32_t row = topology_.has_planes() ? topology_.hosts_per_t0 : 1;
  for (size_t i = 0; i < hosts.size();) {
    const routing::Prefix one = routing::Prefix::host(host_address(topology_, hosts[i]));
    const bool whole = row > 1 && hosts[i] % row == 0 && i + row <= hosts.size() &&
                       hosts[i + row - 1] == hosts[i] + row - 1;
    prefixes.push_back(whole ? one.cut(kRowPrefixBits) : one);
    i += whole ? row : 1;
  }
  return prefixes;
}

void FastReroute::notify(routing::FailureNotice::Type type, const std::vector<uint32_t>& hosts) {
  const std::vector<routing::Prefix> prefixes = prefixes_of(hosts);
  for (size_t from = 0; from < prefixes.size(); from += routing::kMostNoticed) {
    routing::FailureNotice notice;
    notice.type = type;
    notice.sequence = sequence_++;
    const size_t count = std::min(routing::kMostNoticed, prefixes.size() - from);
    notice.prefixes.assign(prefixes.begin() + static_cast<std::ptrdiff_t>(from),
                           prefixes.begin() + static_cast<std::ptrdiff_t>(from + count));
    for (uint32_t i = 0; i < ports_.size(); ++i) {
      if (!ports_[i].to_switch || !ports_[i].carrier || is_dead(PortId{i})) continue;
      const PortRef own{environment_.self, PortId{i}};
      const routing::TcpAddresses addresses{link_address(topology_, own),
                                            link_address(topology_, topology_.port(own).peer)};
      packets_.emplace_back(PortId{i}, routing::make_notice_packet(addresses, notice));
      ++counters_.notices_out;
    }
  }
}

}  // namespace mrclab::switchd
