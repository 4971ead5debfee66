#include "routing/speaker/speaker.h"

#include <algorithm>
#include <cassert>

namespace mrclab::routing {

Speaker::Speaker(SpeakerParameters parameters, SpeakerEvents& events)
    : parameters_(std::move(parameters)),
      events_(events),
      table_(parameters_.limits.prefixes, parameters_.neighbours.size()) {
  assert(parameters_.neighbours.size() < kOwn);
  for (const NeighbourParameters& neighbour : parameters_.neighbours) {
    peers_.emplace_back(parameters_, neighbour, parameters_.limits.filter_entries);
    ranks_.push_back({RouterId{}, neighbour.remote});
  }
}

std::optional<PeerIndex> Speaker::peer_at(PortId port) const {
  for (size_t i = 0; i < peers_.size(); ++i) {
    if (parameters_.neighbours[i].port == port) return static_cast<PeerIndex>(i);
  }
  return std::nullopt;
}

void Speaker::start(FabricTime now) {
  for (Peer& peer : peers_) peer.neighbour.start(now);
  for (const Prefix& aggregate : parameters_.aggregates) originate(aggregate, now);
}

bool Speaker::receive(PortId port, OctetView packet, FabricTime now) {
  const auto peer = peer_at(port);
  return peer && peers_[*peer].neighbour.on_packet(packet, now);
}

void Speaker::set_carrier(PortId port, bool up, FabricTime now) {
  if (const auto peer = peer_at(port)) peers_[*peer].neighbour.set_carrier(up, now);
}

void Speaker::set_rate(PortId port, BitRate rate, FabricTime now) {
  const auto peer = peer_at(port);
  if (!peer || parameters_.neighbours[*peer].rate == rate) return;
  parameters_.neighbours[*peer].rate = rate;
  everything_changed(now);
}

void Speaker::shut_down(FabricTime) {
  for (Peer& peer : peers_) {
    peer.neighbour.end_session({ErrorCode::kCease, cease::kShutdown, {}});
  }
}

FabricTime Speaker::deadline() const {
  FabricTime earliest = decide_at_;
  if (!unwritten_.empty()) earliest = std::min(earliest, table_free_at_);
  for (const Peer& peer : peers_) {
    earliest = std::min(earliest, peer.neighbour.deadline());
    if (peer.neighbour.has_input()) earliest = std::min(earliest, processor_free_at_);
    const bool waits =
        peer.up && !peer.waits_for_filter && (!peer.to_tell.empty() || peer.end_of_rib_due);
    if (waits && peer.neighbour.may_send()) earliest = std::min(earliest, peer.tells_from);
  }
  return earliest;
}

void Speaker::run(FabricTime now) {
  for (Peer& peer : peers_) {
    if (peer.neighbour.deadline() <= now) peer.neighbour.on_timer(now);
  }
  // Each step makes the next one possible: octets become messages, those decisions, those octets.
  while (step(now)) {
  }
}

bool Speaker::step(FabricTime now) {
  send_out(now);
  bool more = take_messages(now);
  more |= decide(now);
  more |= write_fib(now);
  for (size_t i = 0; i < peers_.size(); ++i) more |= send_updates(static_cast<PeerIndex>(i), now);
  return more;
}

void Speaker::send_out(FabricTime now) {
  for (Peer& peer : peers_) {
    packets_.clear();
    peer.neighbour.output(now, packets_);
    for (Octets& packet : packets_) {
      events_.send(peer.neighbour.parameters().port, std::move(packet), now);
    }
  }
}

/// All that the processor has time for now, from the neighbours in turn.
bool Speaker::take_messages(FabricTime now) {
  bool any = false;
  for (size_t idle = 0; idle < peers_.size() && processor_free_at_ <= now;) {
    const PeerIndex index = next_peer_;
    next_peer_ = static_cast<PeerIndex>((index + 1u) % peers_.size());
    Neighbour& neighbour = peers_[index].neighbour;
    const bool costs = neighbour.update_is_next();
    auto message = neighbour.take_message(now);
    if (const auto loss = neighbour.take_loss()) {
      session_ended(index, *loss, now);
      any = true;
    }
    if (!message) {
      ++idle;
      continue;
    }
    idle = 0;
    any = true;
    if (costs) processor_free_at_ = now + parameters_.timing.per_update;
    handle(index, std::move(*message), now);
  }
  return any;
}

void Speaker::handle(PeerIndex peer, BgpSession::Message message, FabricTime now) {
  if (std::holds_alternative<BgpSession::Established>(message)) {
    session_began(peer, now);
  } else if (const auto* update = std::get_if<Update>(&message)) {
    on_update(peer, *update, now);
  } else if (const auto* refresh = std::get_if<RouteRefresh>(&message)) {
    on_refresh(peer, *refresh, now);
  }
}

bool Speaker::write_fib(FabricTime now) {
  bool any = false;
  while (!unwritten_.empty() && table_free_at_ <= now) {
    Node& node = *unwritten_.front();
    RouteEntry& entry = node.second;
    if (entry.fib != entry.written) {
      // A write takes its time from when the table is free: what was queued meanwhile is written at once.
      entry.written = entry.fib;
      table_free_at_ = now + parameters_.timing.per_fib_write;
      ++counters_.fib_writes;
      events_.fib_changed(node.first, entry.written, now);
    }
    unwritten_.pop_front();
    entry.write_pending = false;
    table_.erase_if_idle(node);
    any = true;
  }
  return any;
}

std::optional<BitRate> Speaker::advertised_bandwidth(const Prefix& prefix, PeerIndex peer) const {
  const auto found = table_.routes().find(prefix);
  if (found == table_.routes().end() || found->second.told.empty()) return std::nullopt;
  const Advertised& told = found->second.told[peer];
  return told.attributes && told.weighed ? std::optional(told.bandwidth) : std::nullopt;
}

bool Speaker::was_advertised(const Prefix& prefix, PeerIndex peer) const {
  const auto found = table_.routes().find(prefix);
  return found != table_.routes().end() && !found->second.told.empty() &&
         found->second.told[peer].attributes != nullptr;
}

}  // namespace mrclab::routing
