#include "endpoint/host/data_sender.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "endpoint/base/sequence.h"
#include "fabric/base/cache_line.h"
#include "fabric/paths/long_carrier.h"

namespace mrclab::endpoint {

void DataSender::start_at_free_ports(FrameSink& out) {
  // Every packet takes a port, so this ends after at most as many rounds as there are ports.
  for (uint32_t ports = ports_.startable(); ports != 0; ports = ports_.startable()) {
    if (!start_one_packet(ports, out)) break;
  }
  if (!bursts_.empty()) {
    std::erase_if(bursts_, [](const Burst& burst) { return burst.done(); });
    keep_turn_in_range();
  }
}

void DataSender::fetch_next() const {
  // A host's turn in the simulator is some dozens of packets, of few queue pairs (our choice).
  constexpr uint32_t kMost = 4;
  const uint32_t places = queue_pairs_.places();
  const auto for_each_next = [&](auto&& fetch) {
    for (uint32_t i = 0; i < std::min(places, kMost); ++i) {
      const uint32_t index = next_ + i < places ? next_ + i : i;
      if (queue_pairs_.contains(index)) fetch(queue_pairs_[index]);
    }
  };
  // Each step needs what the one before has fetched.
  for_each_next([](const QueuePair& qp) { fetch_lines(&qp, sizeof qp); });
  for_each_next([](const QueuePair& qp) {
    fetch_lines(&qp.peer, sizeof qp.peer);
    if (qp.requester.has_data()) qp.requester.evs().fetch_next();
  });
  for_each_next([](const QueuePair& qp) { qp.peer.reverse.fetch(); });
}

void DataSender::power_off() {
  bursts_.clear();
  attacks_.clear();
  keep_turn_in_range();
}

/// Fewer bursts take turns than before; places of queue pairs never become fewer.
void DataSender::keep_turn_in_range() {
  next_ = std::min(next_, queue_pairs_.places() + roce_.queue_pairs().places() +
                              static_cast<uint32_t>(bursts_.size() + attacks_.size()));
}

/// As send_packet. Most queue pairs that are asked have nothing to send at all.
inline bool DataSender::start_of_queue_pair(QueuePair& qp, uint32_t ports, FrameSink& out,
                                            bool& sent) {
  if (host_.now < qp.peer.held_until) return false;
  if (qp.requester.has_data() && send_packet(qp, ports, out, sent)) return true;
  if (qp.peer.window->is_paced()) queue_pairs_.touch(qp);  // its timer may have to be set
  return false;
}

/// Round robin over the queue pairs, and over bursts, each of which counts as one more. False if
/// nothing could be sent.
bool DataSender::start_one_packet(uint32_t ports, FrameSink& out) {
  const uint32_t mrc = queue_pairs_.places();
  const uint32_t all = mrc + roce_.queue_pairs().places();
  const auto bursts = all + static_cast<uint32_t>(bursts_.size());
  const auto count = bursts + static_cast<uint32_t>(attacks_.size());
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t index = next_ + i < count ? next_ + i : next_ + i - count;
    bool sent = false;
    const bool had_one =
        index < mrc ? queue_pairs_.contains(index) &&
                          start_of_queue_pair(queue_pairs_[index], ports, out, sent)
        : index < all ? roce_.queue_pairs().contains(index - mrc) &&
                            roce_.start_packet(index - mrc, ports, out, sent)
        : index < bursts ? start_datagram(bursts_[index - all], ports, out, sent)
                         : start_of_attack(attacks_[index - bursts], ports, out, sent);
    if (!had_one) continue;
    next_ = index + 1 == count ? 0 : index + 1;
    return sent;
  }
  return false;
}

/// A packet of the queue pair. False if it has none for these ports. `sent` remains false if there was no buffer for it.
bool DataSender::send_packet(QueuePair& qp, uint32_t ports, FrameSink& out, bool& sent) {
  const std::optional<DataPacket> packet = qp.requester.next_packet(ports, host_.now);
  if (!packet) return false;
  // Behind packets that are in flight already it makes no timer sooner.
  queue_pairs_.touch(qp, qp.requester.outstanding().in_flight() == 1 ? Touched::kTimerMayBeSooner
                                                                     : Touched::kTimerStays);
  qp.peer.reverse.data_sent(host_.now);
  Frame frame = host_.maker.data(*packet, {qp.peer.host, qp.id.remote}, host_.now, qp.id.fleeting);
  if (!frame) {
    // It counts as sent and will be found lost; the port stays free for the next event.
    ++host_.stats.no_buffer;
    return true;
  }
  host_.stats.planes[packet->port].tx_payload_bytes += packet->payload.size();
  ports_.start_data(packet->port, std::move(frame), out);
  return sent = true;
}

/// The same for a burst, which is over with its last datagram.
bool DataSender::start_datagram(Burst& burst, uint32_t ports, FrameSink& out, bool& sent) {
  const std::optional<Burst::Datagram> next = burst.next(ports & ports_.live());
  if (!next) return false;
  Frame frame = host_.maker.datagram(next->ev, burst.host(), next->payload, host_.payload_elided);
  if (!frame) {
    ++host_.stats.no_buffer;
    return true;
  }
  ++host_.stats.datagrams_sent;
  ports_.start_data(next->port, std::move(frame), out);
  return sent = true;
}

void DataSender::set_attack(const HostAttack& what, const std::vector<Path>& paths) {
  const auto known = std::find_if(attacks_.begin(), attacks_.end(), [&](const Attack& attack) {
    return attack.what().kind == what.kind && attack.what().toward == what.toward;
  });
  if (known != attacks_.end()) {
    known->set_rate(what.rate);
  } else if (what.rate.bps > 0 && !paths.empty()) {
    attacks_.emplace_back(what, host_.topology.node(what.toward).index, host_.topology.pmtu,
                          host_.topology.planes, paths, host_.now);
  }
  std::erase_if(attacks_, [](const Attack& attack) { return attack.done(); });
  keep_turn_in_range();
}

FabricTime DataSender::attack_due() const {
  FabricTime due = FabricTime::never();
  for (const Attack& attack : attacks_) due = std::min(due, attack.due());
  return due;
}

/// The same for an attack, when it is due.
bool DataSender::start_of_attack(Attack& attack, uint32_t ports, FrameSink& out, bool& sent) {
  const std::optional<Burst::Datagram> shot = attack.next(ports & ports_.live(), host_.now);
  if (!shot) return false;
  Frame frame = frame_of(attack, *shot);
  attack.sent(frame ? frame.wire_length() : Bytes{host_.topology.pmtu}, host_.now);
  if (!frame) {
    ++host_.stats.no_buffer;
    return true;
  }
  ++host_.stats.datagrams_sent;
  ports_.start_data(shot->port, std::move(frame), out);
  return sent = true;
}

Frame DataSender::frame_of(const Attack& attack, const Burst::Datagram& shot) const {
  const Topology& topology = host_.topology;
  const uint32_t victim = attack.victim(), hosts = topology.host_count();
  PacketMaker::Forged forged;
  switch (attack.what().kind) {
    case AttackKind::kProbes: {
      // To a queue pair between the two, which answers; else to one that is not there.
      Qpn qpn{1};
      for (const QueuePair& qp : queue_pairs_) {
        if (qp.peer.host == victim) qpn = qp.id.remote;
      }
      Peth peth;
      peth.probe_id = static_cast<uint16_t>(attack.number());
      peth.tx_timestamp = tx_timestamp(host_.now);
      return host_.maker.control(Opcode::kProbeRequest, Psn{}, peth, shot.ev, {victim, qpn});
    }
    case AttackKind::kLoop:
      if (const auto path = path_of(shot.ev); path && path->named()) {
        forged.carrier = long_carrier(topology, host_.self, victim, *path, attack.number());
      }
      break;
    case AttackKind::kSpoof:
      // The host behind the victim, or the next one that is not the attacker itself.
      forged.source =
          (victim + 1) % hosts == host_.self ? (victim + 2) % hosts : (victim + 1) % hosts;
      break;
    default: break;
  }
  return host_.maker.datagram(shot.ev, victim, shot.payload, host_.payload_elided, forged);
}

}  // namespace mrclab::endpoint
