#include "routing/speaker/neighbour.h"

#include <algorithm>
#include <utility>

#include "fabric/base/random.h"
#include "routing/base/drop_front.h"

namespace mrclab::routing {

namespace {

/// RFC 6335 section 6: ports that no service has.
constexpr uint16_t kFirstEphemeralPort = 49'152;
constexpr uint16_t kEphemeralPorts = 0x4000;
/// How long a connection may take to close, in seconds of BGP; our choice.
constexpr int kLingerSeconds = 1;
/// A session has so much to send at most before it has to wait for its connection.
constexpr size_t kOutboxLimit = 1 << 16;
constexpr size_t kMaxRefusals = 4;
constexpr size_t kMaxResets =
    16;  ///< between two outputs, with those of connections that made room

}  // namespace

Neighbour::Neighbour(const SpeakerParameters& own, const NeighbourParameters& parameters)
    : own_(own), parameters_(parameters) {}

uint64_t Neighbour::next_draw() {
  return draw(own_.seed, own_.node, parameters_.port, DrawPurpose::kRouting, draws_++);
}

void Neighbour::start(FabricTime now) {
  started_ = true;
  if (carrier_) start_bfd(now);
  // Where both begin at once one of two connections is closed again. The higher address waits (our choice).
  retry_at_ = now;
  if (parameters_.remote < parameters_.local) retry_later(now);
}

void Neighbour::start_bfd(FabricTime now) {
  if (!parameters_.bfd || bfd_) return;
  // A node has as many discriminators as ports; 0 is none.
  bfd_.emplace(*parameters_.bfd, TcpAddresses{parameters_.local, parameters_.remote},
               parameters_.port.value + 1, next_draw(), now);
}

void Neighbour::retry_later(FabricTime now) {
  const FabricTime quarter = own_.connect_retry / 4;
  const auto shorter = static_cast<int64_t>(next_draw() >> 40);
  retry_at_ = now + own_.connect_retry - quarter / (int64_t{1} << 24) * shorter;
}

void Neighbour::set_carrier(bool up, FabricTime now) {
  if (up == carrier_) return;
  carrier_ = up;
  carrier_lost_at_ = up ? FabricTime::never() : now + own_.timing.carrier_delay;
  if (!up || !started_) return;
  start_bfd(now);
  if (session() == nullptr) retry_at_ = now;
}

SessionParameters Neighbour::session_parameters() const {
  SessionParameters session;
  session.as = own_.as;
  session.router = own_.router;
  session.peer_as = parameters_.as;
  session.hold_time = own_.hold_time;
  session.second = own_.second;
  session.capabilities.ipv6_unicast = session.capabilities.route_refresh = true;
  session.capabilities.prefix_orf = static_cast<uint8_t>(
      (own_.wanted ? kOrfSends : kOrfNone) | (parameters_.takes_filters ? kOrfReceives : kOrfNone));
  return session;
}

bool Neighbour::connecting() const {
  return std::any_of(connections_.begin(), connections_.end(), [](const auto& connection) {
    return connection->linger_until == FabricTime::never() &&
           connection->tcp.state() != TcpConnection::State::kClosed;
  });
}

void Neighbour::connect(FabricTime now) {
  TcpConnection::Identity identity{parameters_.local, parameters_.remote, 0, kBgpPort};
  identity.local_port =
      static_cast<uint16_t>(kFirstEphemeralPort + below(next_draw(), kEphemeralPorts));
  const TcpSequence first{static_cast<uint32_t>(next_draw())};
  connections_.push_back(std::make_unique<Connection>(
      Connection{TcpConnection::connect(identity, own_.tcp, first, now), true, now}));
}

/// The neighbour, or somebody at its address, has opened it and sent no OPEN so far.
bool Neighbour::says_nothing(const Connection& connection) {
  return !connection.ours && connection.tcp.state() != TcpConnection::State::kClosed &&
         (!connection.session || connection.session->state() == BgpSession::State::kOpenSent);
}

/// Room for one connection more; false where all are in use.
bool Neighbour::make_room(FabricTime now) {
  if (connections_.size() < kMaxConnections) return true;
  // They stand in the order in which they began.
  const auto oldest =
      std::find_if(connections_.begin(), connections_.end(),
                   [](const auto& connection) { return says_nothing(*connection); });
  if (oldest == connections_.end()) return false;
  (*oldest)->tcp.abort();
  if (refusals_.size() < kMaxResets) (*oldest)->tcp.output(now, refusals_);
  connections_.erase(oldest);
  return true;
}

/// A silent connection that the neighbour opened must not keep us from connecting.
void Neighbour::end_silent(FabricTime now) {
  if (own_.open_patience == FabricTime::never()) return;
  bool ended = false;
  for (const auto& connection : connections_) {
    if (!says_nothing(*connection) || now < connection->began + own_.open_patience) continue;
    if (connection->session) connection->session->close({ErrorCode::kHoldTimer, 0, {}});
    connection->tcp.abort();
    ended = true;
  }
  const bool others =
      std::any_of(connections_.begin(), connections_.end(), [](const auto& connection) {
        return connection->linger_until == FabricTime::never() && !says_nothing(*connection) &&
               connection->tcp.state() != TcpConnection::State::kClosed;
      });
  if (ended && !others && carrier_ && !parameters_.passive) connect(now);
}

bool Neighbour::on_packet(OctetView octets, FabricTime now) {
  if (bfd_ && bfd_->on_packet(octets, now)) return true;
  const auto packet = parse_tcp_packet(octets);
  if (!packet || packet->addresses.source != parameters_.remote ||
      packet->addresses.destination != parameters_.local) {
    return false;
  }
  if (started_) on_segment(packet->segment, now);
  return true;
}

void Neighbour::on_segment(const TcpSegment& segment, FabricTime now) {
  for (const auto& connection : connections_) {
    const TcpConnection::Identity& identity = connection->tcp.identity();
    if (identity.local_port != segment.destination_port ||
        identity.remote_port != segment.source_port ||
        connection->tcp.state() == TcpConnection::State::kClosed) {
      continue;
    }
    connection->tcp.on_segment(segment, now);
    pump(*connection, now);
    return;
  }
  const bool opens = segment.syn && !segment.ack && !segment.rst;
  if (!opens || segment.destination_port != kBgpPort || !make_room(now)) return refuse(segment);
  const TcpConnection::Identity identity{parameters_.local, parameters_.remote, kBgpPort,
                                         segment.source_port};
  const TcpSequence first{static_cast<uint32_t>(next_draw())};
  connections_.push_back(std::make_unique<Connection>(
      Connection{TcpConnection::accept(identity, own_.tcp, first, segment, now), false, now}));
}

/// RFC 9293 section 3.10.7.1: what is of no connection is reset.
void Neighbour::refuse(const TcpSegment& segment) {
  if (segment.rst || refusals_.size() >= kMaxRefusals) return;
  TcpSegment reset;
  reset.source_port = segment.destination_port;
  reset.destination_port = segment.source_port;
  reset.rst = true;
  if (segment.ack) {
    reset.sequence = segment.acknowledged;
  } else {
    reset.ack = true;
    reset.acknowledged = segment.sequence + segment.length();
  }
  refusals_.push_back(
      make_tcp_packet({parameters_.local, parameters_.remote}, reset, own_.tcp.traffic_class));
}

void Neighbour::note_end(Connection& connection) {
  if (!connection.was_established || !connection.session->closed()) return;
  connection.was_established = false;
  loss_ = connection.session->reason();
}

void Neighbour::pump(Connection& connection, FabricTime now) {
  TcpConnection& tcp = connection.tcp;
  if (!connection.session) {
    if (!tcp.established()) return;
    SessionParameters session = session_parameters();
    session.jitter = next_draw();
    connection.session.emplace(session, now);
  }
  BgpSession& session = *connection.session;
  const size_t fresh =
      std::min(tcp.received().size(), session.closed() ? tcp.received().size() : session.room());
  if (!session.closed()) session.feed(tcp.received().first(fresh));
  tcp.consume(fresh);
  const bool gone = tcp.state() == TcpConnection::State::kClosed;
  // What came before the end is processed first.
  if ((gone || tcp.peer_closed()) && !session.has_input()) {
    session.lost(tcp.end() == TcpConnection::End::kTimedOut ? "connection timed out"
                 : tcp.end() == TcpConnection::End::kReset  ? "connection reset"
                                                            : "connection closed");
  }
  Octets& outbox = session.outbox();
  const size_t leaves = std::min(outbox.size(), tcp.room());
  tcp.send(OctetView(outbox).first(leaves));
  drop_front(outbox, leaves);
  note_end(connection);
  if (session.closed() && connection.linger_until == FabricTime::never()) {
    connection.linger_until = now + own_.second * kLingerSeconds;
    if (!connecting()) retry_later(now);
  }
  if (session.closed() && outbox.empty() && !gone) tcp.close();
}

void Neighbour::remove_closed(FabricTime now) {
  const auto is_over = [](const auto& connection) {
    return connection->tcp.state() == TcpConnection::State::kClosed &&
           (!connection->session || connection->session->closed());
  };
  const size_t before = connections_.size();
  std::erase_if(connections_, is_over);
  if (connections_.size() != before && !connecting() && retry_at_ == FabricTime::never()) {
    retry_later(now);
  }
}

void Neighbour::drop_all(const std::string& reason) {
  for (const auto& connection : connections_) {
    if (!connection->session) continue;
    connection->session->lost(reason);
    note_end(*connection);
  }
  connections_.clear();
}

FabricTime Neighbour::deadline() const {
  FabricTime earliest = std::min(carrier_lost_at_, carrier_ ? retry_at_ : FabricTime::never());
  if (bfd_) earliest = std::min(earliest, bfd_->deadline());
  for (const auto& connection : connections_) {
    earliest = std::min({earliest, connection->tcp.deadline(), connection->linger_until});
    if (connection->session) earliest = std::min(earliest, connection->session->deadline());
    if (own_.open_patience != FabricTime::never() && says_nothing(*connection)) {
      earliest = std::min(earliest, connection->began + own_.open_patience);
    }
  }
  return earliest;
}

void Neighbour::on_timer(FabricTime now) {
  if (now >= carrier_lost_at_) {
    carrier_lost_at_ = FabricTime::never();
    drop_all("carrier lost");
    // BFD begins anew when the carrier is back: else the silence without carrier would end the next session.
    bfd_.reset();
    bfd_was_up_ = false;
    retry_at_ = FabricTime::never();
  }
  if (bfd_) bfd_->on_timer(now);
  for (const auto& connection : connections_) {
    connection->tcp.on_timer(now);
    if (connection->session) connection->session->on_timer(now);
  }
  end_silent(now);
  if (now >= retry_at_ && carrier_) {
    retry_at_ = FabricTime::never();
    if (!parameters_.passive && !connecting()) connect(now);
  }
}

void Neighbour::output(FabricTime now, std::vector<Octets>& packets) {
  if (bfd_) {
    if (bfd_was_up_ && !bfd_->up()) {
      drop_all("BFD: neighbour is silent");
      retry_later(now);
    }
    bfd_was_up_ = bfd_->up();
    bfd_->output(packets);
  }
  for (const auto& connection : connections_) pump(*connection, now);
  for (const auto& connection : connections_) {
    if (now >= connection->linger_until) connection->tcp.abort();
    connection->tcp.output(now, packets);
  }
  remove_closed(now);
  for (Octets& refusal : refusals_) packets.push_back(std::move(refusal));
  refusals_.clear();
}

const BgpSession* Neighbour::session() const {
  for (const auto& connection : connections_) {
    if (connection->session && connection->session->established()) return &*connection->session;
  }
  return nullptr;
}

bool Neighbour::has_input() const {
  return std::any_of(connections_.begin(), connections_.end(), [](const auto& connection) {
    return connection->session && connection->session->has_input();
  });
}

bool Neighbour::update_is_next() const {
  for (const auto& connection : connections_) {
    if (connection->session && connection->session->has_input()) {
      return connection->session->update_is_next();
    }
  }
  return false;
}

/// The connection that the higher router id opened stays (RFC 4271 section 6.8); an established one stays in any
/// case.
void Neighbour::resolve_collision(Connection& opened) {
  const bool ours_stays = own_.router > opened.session->peer()->router;
  for (const auto& other : connections_) {
    if (other.get() == &opened || !other->session || other->session->closed()) continue;
    const BgpSession::State state = other->session->state();
    if (state == BgpSession::State::kOpenSent) continue;
    const bool other_stays = state == BgpSession::State::kEstablished || other->ours == ours_stays;
    Connection& loser = other_stays ? opened : *other;
    loser.session->close({ErrorCode::kCease, cease::kCollision, {}});
    if (other_stays) return;
  }
}

std::optional<BgpSession::Message> Neighbour::take_message(FabricTime now) {
  for (const auto& connection : connections_) {
    if (!connection->session) continue;
    while (auto message = connection->session->take_message(now)) {
      if (std::holds_alternative<BgpSession::Opened>(*message)) {
        resolve_collision(*connection);
        continue;
      }
      if (std::holds_alternative<BgpSession::Established>(*message)) {
        connection->was_established = true;
      }
      return message;
    }
    note_end(*connection);
  }
  return std::nullopt;
}

std::optional<std::string> Neighbour::take_loss() { return std::exchange(loss_, std::nullopt); }

bool Neighbour::may_send() const {
  const BgpSession* live = session();
  return live != nullptr && live->outbox().size() < kOutboxLimit / 2;
}

void Neighbour::send(OctetView message, FabricTime now) {
  for (const auto& connection : connections_) {
    if (!connection->session || !connection->session->established()) continue;
    return connection->session->send(message, now);
  }
}

void Neighbour::end_session(const Notification& notification) {
  for (const auto& connection : connections_) {
    if (!connection->session) continue;
    connection->session->close(notification);
    note_end(*connection);
  }
}

}  // namespace mrclab::routing
