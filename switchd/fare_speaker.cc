#include "switchd/fare_speaker.h"

#include <algorithm>

#include "fabric/packet/headers.h"
#include "fabric/topology/fare.h"
#include "fabric/topology/path.h"

namespace mrclab::switchd {

FareSpeaker::FareSpeaker(const NodeEnvironment& environment, FareTable& table)
    : NodeSpeaker(environment),
      table_(table),
      nics_speak_(nic_routes(environment.topology) != NicRoutes::kOff) {
  const RerouteScope scope = environment.topology.routing.fare.fast_reroute;
  if (scope != RerouteScope::kOff) reroute_.emplace(this->environment(), table);
}

std::optional<uint32_t> FareSpeaker::host_at(PortId port) const {
  const Topology& topology = environment().topology;
  const NodeSite& peer = topology.node(topology.port({environment().self, port}).peer.node);
  return peer.role == NodeRole::kHost ? std::optional(peer.index) : std::nullopt;
}

std::optional<uint32_t> FareSpeaker::silent_host_at(PortId port) const {
  return nics_speak_ ? std::nullopt : host_at(port);
}

void FareSpeaker::originate(PortId port, FabricTime now) {
  const auto host = host_at(port);
  live_speaker().originate(routing::Prefix::host(host_address(environment().topology, *host)), now);
}

void FareSpeaker::start(const std::vector<bool>& carrier, FabricTime now) {
  table_.clear();
  lost_hosts_.clear();
  if (reroute_) reroute_->start(carrier);
  begin_anew(routing::speaker_parameters(environment().topology, environment().self,
                                         environment().seed, next_boot()));
  for (uint32_t i = 0; i < carrier.size(); ++i) {
    if (!silent_host_at(PortId{i})) {
      live_speaker().set_carrier(PortId{i}, carrier[i], now);
    } else if (carrier[i]) {
      originate(PortId{i}, now);
    }
  }
  live_speaker().start(now);
}

bool FareSpeaker::receive(PortId port, std::span<const uint8_t> frame, FabricTime now) {
  const bool notice = reroute_ && routing::is_to_link(frame) &&
                      reroute_->receive(port, frame.subspan(kOuterOffset), now);
  return notice || NodeSpeaker::receive(port, frame, now);
}

void FareSpeaker::session_up(PortId port, FabricTime now) {
  NodeSpeaker::session_up(port, now);
  if (reroute_) reroute_->set_session(port, true, now);
}

void FareSpeaker::session_down(PortId port, const std::string& reason, FabricTime now) {
  NodeSpeaker::session_down(port, reason, now);
  if (reroute_) reroute_->set_session(port, false, now);
}

void FareSpeaker::set_carrier(PortId port, bool up, FabricTime now) {
  if (reroute_) reroute_->set_carrier(port, up, now);
  if (!silent_host_at(port)) return live_speaker().set_carrier(port, up, now);
  std::erase_if(lost_hosts_, [port](const LostHost& lost) { return lost.port == port; });
  if (up) return originate(port, now);
  lost_hosts_.push_back({now + speaker().parameters().timing.carrier_delay, port});
}

void FareSpeaker::set_rate(PortId port, BitRate rate, FabricTime now) {
  note_rate(port, rate);
  // The rate of a silent host's link is in no announcement: the leaf is the originator.
  if (!silent_host_at(port)) live_speaker().set_rate(port, rate, now);
}

FabricTime FareSpeaker::deadline() const {
  const FabricTime lost = lost_hosts_.empty() ? FabricTime::never() : lost_hosts_.front().at;
  const FabricTime reroute = reroute_ ? reroute_->deadline() : FabricTime::never();
  return std::min({lost, reroute, speaker().deadline()});
}

void FareSpeaker::run(FabricTime now) {
  while (!lost_hosts_.empty() && lost_hosts_.front().at <= now) {
    const auto host = host_at(lost_hosts_.front().port);
    live_speaker().retract(routing::Prefix::host(host_address(environment().topology, *host)), now);
    lost_hosts_.pop_front();
  }
  live_speaker().run(now);
  if (reroute_) {
    reroute_->run(now);
    for (auto& [port, packet] : reroute_->take_packets()) send(port, std::move(packet), now);
    for (const auto& [host, hops] : reroute_->take_changes()) note_change(host, hops);
  }
  report_changes(now);
}

void FareSpeaker::fib_changed(const routing::Prefix& prefix, const routing::FibEntry& entry,
                              FabricTime) {
  const Topology& topology = environment().topology;
  if (prefix.length() == routing::Prefix::kMaxLength) {
    const auto host = host_of_address(topology, prefix.address());
    if (host) set_hops(*host, entry);
    return;
  }
  for (uint32_t host = 0; host < topology.host_count(); ++host) {
    const routing::Prefix own = routing::Prefix::host(host_address(topology, host));
    if (!prefix.covers(own)) continue;
    const auto found = speaker().table().routes().find(own);
    if (found == speaker().table().routes().end() || !found->second.written.known) {
      set_hops(host, entry);
    }
  }
}

/// Hosts of this switch have their port, whatever others announce.
void FareSpeaker::set_hops(uint32_t host, const routing::FibEntry& entry) {
  if (!entry.known && table_.hops_to(host).empty()) return;
  for (uint32_t i = 0; i < ports(); ++i) {
    if (host_at(PortId{i}) == host) return;
  }
  if (reroute_) return reroute_->set_routed(host, entry.hops);
  table_.set_hops(host, entry.hops);
  note_change(host, entry.hops);
}

}  // namespace mrclab::switchd
