#include "live/bgpd/socket_streams.h"

#include <net/if.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/v6_only.hpp>
#include <chrono>
#include <cstring>
#include <utility>

namespace mrclab::lab {
namespace {

using routing::TcpConnection;
using routing::TcpSegment;

constexpr int kBacklog = 16;
constexpr std::chrono::milliseconds kAcceptAgain{100};  // when a connection could not be accepted

}  // namespace

struct SocketStreams::Stream {
  Stream(PortId port_, Tcp::socket socket_) : port(port_), socket(std::move(socket_)) {}

  PortId port;
  Tcp::socket socket;
  std::optional<TcpConnection> tcp;   ///< towards the speaker
  std::optional<TcpSegment> syn;      ///< what the speaker sent; answered once the socket is open
  bool open = false, failed = false;  ///< the socket
  bool waiting = false, writing = false;   ///< for octets to read; an operation is under way
  bool peer_ended = false, ended = false;  ///< end of the stream, read and written
  std::array<uint8_t, 16384> incoming{};
  size_t arrived = 0;  ///< octets of `incoming` that the speaker's side has not taken
  routing::Octets outgoing;

  bool over() const {
    const bool inner = !tcp || tcp->state() == TcpConnection::State::kClosed ||
                       tcp->state() == TcpConnection::State::kTimeWait;
    return failed ? inner : inner && ended && !writing;
  }
};

routing::TcpParameters SocketStreams::inner_tcp() {
  routing::TcpParameters parameters;
  parameters.rto_first = FabricTime::from_ms(1000);
  parameters.rto_least = FabricTime::from_ms(200);
  parameters.rto_most = FabricTime::from_ms(5000);
  return parameters;
}

SocketStreams::SocketStreams(boost::asio::io_context& io, Deliver deliver,
                             std::function<void()> woken,
                             std::function<void(const std::string&)> trouble)
    : io_(io),
      deliver_(std::move(deliver)),
      woken_(std::move(woken)),
      trouble_(std::move(trouble)) {}

SocketStreams::~SocketStreams() {
  for (const StreamPointer& stream : streams_) {
    boost::system::error_code ignored;
    stream->socket.close(ignored);
  }
}

void SocketStreams::add_neighbour(const routing::NeighbourParameters& neighbour,
                                  const std::string& device) {
  sites_.push_back({neighbour, device.empty() ? 0 : ::if_nametoindex(device.c_str())});
}

SocketStreams::Tcp::endpoint SocketStreams::endpoint(const Site& site, const Ipv6Address& address,
                                                     uint16_t port) {
  boost::asio::ip::address_v6::bytes_type bytes;
  std::copy(address.begin(), address.end(), bytes.begin());
  boost::asio::ip::address_v6 made(bytes);
  if (made.is_link_local()) made.scope_id(site.scope);
  return {made, port};
}

const SocketStreams::Site* SocketStreams::site_at(PortId port) const {
  const auto found = std::find_if(sites_.begin(), sites_.end(), [port](const Site& site) {
    return site.parameters.port == port;
  });
  return found == sites_.end() ? nullptr : &*found;
}

const SocketStreams::Site* SocketStreams::site_of(const Tcp::endpoint& local,
                                                  const Tcp::endpoint& remote) const {
  const auto found = std::find_if(sites_.begin(), sites_.end(), [&](const Site& site) {
    return endpoint(site, site.parameters.local, 0).address() == local.address() &&
           endpoint(site, site.parameters.remote, 0).address() == remote.address();
  });
  return found == sites_.end() ? nullptr : &*found;
}

size_t SocketStreams::streams_of(PortId port) const {
  return static_cast<size_t>(
      std::count_if(streams_.begin(), streams_.end(),
                    [port](const StreamPointer& stream) { return stream->port == port; }));
}

void SocketStreams::listen() {
  std::vector<Tcp::endpoint> places;
  for (const Site& site : sites_) {
    const Tcp::endpoint place = endpoint(site, site.parameters.local, routing::kBgpPort);
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
  }
  for (const Tcp::endpoint& place : places) {
    Listener& listener = listeners_.emplace_back(io_);
    Tcp::acceptor& acceptor = listener.acceptor;
    acceptor.open(Tcp::v6());
    acceptor.set_option(boost::asio::ip::v6_only(true));
    acceptor.set_option(Tcp::acceptor::reuse_address(true));
    acceptor.bind(place);
    acceptor.listen(kBacklog);
    accept(listener);
  }
}

void SocketStreams::accept(Listener& listener) {
  listener.acceptor.async_accept([this, &listener, alive = std::weak_ptr(alive_)](
                                     boost::system::error_code error, Tcp::socket socket) {
    if (alive.expired() || error == boost::asio::error::operation_aborted) return;
    if (error) return accept_later(listener, error);
    listener.failing = false;
    accepted(std::move(socket));
    accept(listener);
    woken_();
  });
}

/// Without a descriptor the connection stays where it waits, and accepting it fails again at once.
void SocketStreams::accept_later(Listener& listener, const boost::system::error_code& error) {
  if (!std::exchange(listener.failing, true)) {
    trouble_("cannot accept connections: " + error.message());
  }
  listener.again.expires_after(kAcceptAgain);
  listener.again.async_wait(
      [this, &listener, alive = std::weak_ptr(alive_)](boost::system::error_code outcome) {
        if (!outcome && !alive.expired()) accept(listener);
      });
}

void SocketStreams::accepted(Tcp::socket socket) {
  boost::system::error_code error, other;
  const Tcp::endpoint remote = socket.remote_endpoint(error);
  const Site* site = site_of(socket.local_endpoint(other), remote);
  if (error || other || site == nullptr || streams_of(site->parameters.port) >= kMaxStreams) return;
  auto stream = std::make_shared<Stream>(site->parameters.port, std::move(socket));
  stream->open = true;
  stream->socket.set_option(Tcp::no_delay(true), error);
  stream->socket.non_blocking(true, error);
  // Connecting to the speaker waits for a time: exchange() has it.
  TcpSegment from;
  from.source_port = remote.port();
  stream->syn = from;
  streams_.push_back(std::move(stream));
}

routing::TcpSequence SocketStreams::next_sequence() { return {sequences_ += 0x0101'0101}; }

void SocketStreams::refuse(const Site& site, const TcpSegment& segment) {
  if (segment.rst) return;
  TcpSegment reset;
  reset.source_port = segment.destination_port;
  reset.destination_port = segment.source_port;
  reset.rst = true;
  reset.ack = !segment.ack;
  if (segment.ack) {
    reset.sequence = segment.acknowledged;
  } else {
    reset.acknowledged = segment.sequence + segment.length();
  }
  answers_.emplace_back(
      site.parameters.port,
      routing::make_tcp_packet({site.parameters.remote, site.parameters.local}, reset, 0));
}

void SocketStreams::connect(const Site& site, const TcpSegment& syn) {
  if (streams_of(site.parameters.port) >= kMaxStreams) return refuse(site, syn);
  auto stream = std::make_shared<Stream>(site.parameters.port, Tcp::socket(io_));
  stream->syn = syn;
  stream->syn->payload = {};
  streams_.push_back(stream);
  boost::system::error_code error;
  stream->socket.open(Tcp::v6(), error);
  if (!error) stream->socket.bind(endpoint(site, site.parameters.local, 0), error);
  if (error) {
    stream->failed = true;
    return;
  }
  stream->socket.async_connect(
      endpoint(site, site.parameters.remote, routing::kBgpPort),
      [this, stream, alive = std::weak_ptr(alive_)](boost::system::error_code outcome) {
        if (alive.expired() || outcome == boost::asio::error::operation_aborted) return;
        stream->open = !outcome;
        stream->failed = static_cast<bool>(outcome);
        boost::system::error_code ignored;
        if (stream->open) stream->socket.set_option(Tcp::no_delay(true), ignored);
        if (stream->open) stream->socket.non_blocking(true, ignored);
        woken_();
      });
}

/// The speaker is the neighbour's local end; the connections here are its remote one.
void SocketStreams::from_speaker(PortId port, const routing::Octets& packet, FabricTime now) {
  const Site* site = site_at(port);
  const auto parsed = routing::parse_tcp_packet(packet);
  if (site == nullptr || !parsed) return;  // BFD, which has no stream
  const TcpSegment& segment = parsed->segment;
  for (const StreamPointer& stream : streams_) {
    if (stream->port != port) continue;
    if (stream->tcp) {
      const TcpConnection::Identity& identity = stream->tcp->identity();
      if (identity.local_port != segment.destination_port ||
          identity.remote_port != segment.source_port)
        continue;
      return stream->tcp->on_segment(segment, now);
    }
    const bool asked_again = stream->syn && stream->syn->syn &&
                             stream->syn->source_port == segment.source_port && !stream->failed;
    if (asked_again) return;
  }
  if (segment.syn && !segment.ack && !segment.rst) return connect(*site, segment);
  refuse(*site, segment);
}

/// Takes what waits in the kernel, so that no hold time expires while a neighbour's message waits here, however
/// late this process comes to it. Has anything come?
bool SocketStreams::read(const StreamPointer& stream) {
  boost::system::error_code error;
  stream->arrived = stream->socket.read_some(boost::asio::buffer(stream->incoming), error);
  if (error == boost::asio::error::would_block || error == boost::asio::error::try_again) {
    wait_for_octets(stream);
    return false;
  }
  stream->peer_ended |= error == boost::asio::error::eof;
  stream->failed |= error && error != boost::asio::error::eof;
  return true;
}

void SocketStreams::wait_for_octets(const StreamPointer& stream) {
  if (std::exchange(stream->waiting, true)) return;
  stream->socket.async_wait(Tcp::socket::wait_read, [this, stream, alive = std::weak_ptr(alive_)](
                                                        boost::system::error_code error) {
    if (alive.expired() || error == boost::asio::error::operation_aborted) return;
    stream->waiting = false;
    woken_();
  });
}

void SocketStreams::write(const StreamPointer& stream) {
  stream->writing = true;
  stream->socket.async_write_some(
      boost::asio::buffer(stream->outgoing), [this, stream, alive = std::weak_ptr(alive_)](
                                                 boost::system::error_code error, size_t octets) {
        if (alive.expired() || error == boost::asio::error::operation_aborted) return;
        stream->writing = false;
        stream->outgoing.erase(stream->outgoing.begin(),
                               stream->outgoing.begin() + static_cast<std::ptrdiff_t>(octets));
        stream->failed |= static_cast<bool>(error);
        woken_();
      });
}

bool SocketStreams::move_octets(const StreamPointer& stream, FabricTime now) {
  const Site& site = *site_at(stream->port);
  if (stream->syn && stream->failed) {
    refuse(site, *stream->syn);
    stream->syn.reset();
    return true;
  }
  if (stream->syn && stream->open) {
    const TcpSegment syn = *std::exchange(stream->syn, std::nullopt);
    TcpConnection::Identity identity{site.parameters.remote, site.parameters.local,
                                     routing::kBgpPort, syn.source_port};
    if (syn.syn) {
      stream->tcp = TcpConnection::accept(identity, inner_tcp(), next_sequence(), syn, now);
    } else {
      std::swap(identity.local_port, identity.remote_port);
      stream->tcp = TcpConnection::connect(identity, inner_tcp(), next_sequence(), now);
    }
  }
  if (!stream->tcp) return false;
  TcpConnection& tcp = *stream->tcp;
  if (now >= tcp.deadline()) tcp.on_timer(now);
  bool moved = false;
  if (stream->failed) {
    if (tcp.state() != TcpConnection::State::kClosed) tcp.abort();
  } else if (tcp.established()) {
    if (!stream->peer_ended && stream->arrived == 0) moved |= read(stream);
    const size_t fits = std::min(stream->arrived, tcp.room());
    if (fits > 0) {
      tcp.send(routing::OctetView(stream->incoming).first(fits));
      std::copy(stream->incoming.begin() + static_cast<std::ptrdiff_t>(fits),
                stream->incoming.begin() + static_cast<std::ptrdiff_t>(stream->arrived),
                stream->incoming.begin());
      stream->arrived -= fits;
      moved = true;
    }
    if (stream->peer_ended && stream->arrived == 0) tcp.close();
  }
  if (!stream->failed && !stream->writing) {
    if (!tcp.received().empty()) {
      stream->outgoing.insert(stream->outgoing.end(), tcp.received().begin(), tcp.received().end());
      tcp.consume(tcp.received().size());
      moved = true;
    }
    boost::system::error_code ignored;
    if (!stream->outgoing.empty()) {
      write(stream);
    } else if (tcp.end() == TcpConnection::End::kReset ||
               tcp.end() == TcpConnection::End::kTimedOut) {
      stream->socket.set_option(Tcp::socket::linger(true, 0), ignored);
      stream->failed = true;
    } else if ((tcp.peer_closed() || tcp.state() == TcpConnection::State::kClosed) &&
               !stream->ended) {
      stream->ended = true;
      stream->socket.shutdown(Tcp::socket::shutdown_send, ignored);
    }
  }
  std::vector<routing::Octets> packets;
  tcp.output(now, packets);
  for (routing::Octets& packet : packets) answers_.emplace_back(stream->port, std::move(packet));
  return moved;
}

bool SocketStreams::exchange(FabricTime now) {
  bool moved = !packets_.empty();
  for (const auto& [port, packet] : std::exchange(packets_, {})) from_speaker(port, packet, now);
  const std::vector<StreamPointer> streams = streams_;
  for (const StreamPointer& stream : streams) moved |= move_octets(stream, now);
  std::erase_if(streams_, [](const StreamPointer& stream) {
    if (stream->syn || !stream->over()) return false;
    boost::system::error_code ignored;
    stream->socket.close(ignored);
    return true;
  });
  moved |= !answers_.empty();
  for (const auto& [port, packet] : std::exchange(answers_, {})) deliver_(port, packet);
  return moved;
}

FabricTime SocketStreams::deadline() const {
  FabricTime earliest = FabricTime::never();
  for (const StreamPointer& stream : streams_) {
    if (stream->tcp) earliest = std::min(earliest, stream->tcp->deadline());
  }
  return earliest;
}

bool SocketStreams::is_sending() const {
  return std::any_of(streams_.begin(), streams_.end(), [](const StreamPointer& stream) {
    return stream->writing || (stream->tcp && !stream->ended && !stream->failed);
  });
}

}  // namespace mrclab::lab
