#pragma once
// The kernel's TCP under a pure speaker, whose own TCP ends here: for each of its connections there is one of the
// kernel's, and octets are moved between both. A connection that the speaker opens is answered when the kernel's is
// open; one that a peer opens is opened to the speaker as soon as the kernel has accepted it. What ends on one side
// ends in the same way on the other.
//
//   add_neighbour(), listen()   before anything else
//   take()                      a packet that the speaker sends (SpeakerEvents::send)
//   exchange()                  moves what can be moved; packets for the speaker go to `deliver`
//   deadline()                  when to call exchange() at the latest; it is also to be called after each event
//
// Sockets are made in the network namespace of the calling thread.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "routing/speaker/speaker_parameters.h"

namespace mrclab::lab {

class SocketStreams {
 public:
  using Deliver = std::function<void(PortId, routing::OctetView packet)>;
  /// Connections of one neighbour, those that are closing included; what exceeds it is refused.
  static constexpr size_t kMaxStreams = 8;

  /// `woken` is called after each event of a socket, `trouble` when connections cannot be accepted, once until they can
  /// be again; `io` outlives this.
  SocketStreams(boost::asio::io_context& io, Deliver deliver, std::function<void()> woken,
                std::function<void(const std::string&)> trouble);
  ~SocketStreams();
  SocketStreams(const SocketStreams&) = delete;
  SocketStreams& operator=(const SocketStreams&) = delete;

  /// `device` is needed for link-local addresses only.
  void add_neighbour(const routing::NeighbourParameters& neighbour, const std::string& device);
  /// Takes connections to port 179 of every neighbour's local address. Throws boost::system::system_error, as where
  /// another program has the port.
  void listen();

  /// The TCP of a speaker whose other end is here: no segment is lost, and a late one waited for
  /// a processor.
  static routing::TcpParameters inner_tcp();

  void take(PortId port, routing::Octets packet) { packets_.emplace_back(port, std::move(packet)); }
  /// Takes what has come by each socket, up to a bound. Has anything been moved?
  bool exchange(FabricTime now);
  /// Has the speaker sent what exchange() has not looked at?
  bool has_packets() const { return !packets_.empty(); }
  FabricTime deadline() const;
  /// Does a connection still have octets that the kernel has not taken?
  bool is_sending() const;

 private:
  using Tcp = boost::asio::ip::tcp;
  struct Site {
    routing::NeighbourParameters parameters;
    uint32_t scope = 0;  ///< index of the device, for link-local addresses
  };
  struct Stream;
  using StreamPointer = std::shared_ptr<Stream>;

  static Tcp::endpoint endpoint(const Site& site, const Ipv6Address& address, uint16_t port);
  const Site* site_at(PortId port) const;
  const Site* site_of(const Tcp::endpoint& local, const Tcp::endpoint& remote) const;
  size_t streams_of(PortId port) const;
  /// A place where we listen.
  struct Listener {
    explicit Listener(boost::asio::io_context& io) : acceptor(io), again(io) {}
    Tcp::acceptor acceptor;
    boost::asio::steady_timer again;  ///< when accepting has failed
    bool failing = false;
  };
  void accept(Listener& listener);
  void accept_later(Listener& listener, const boost::system::error_code& error);
  void accepted(Tcp::socket socket);
  void from_speaker(PortId port, const routing::Octets& packet, FabricTime now);
  void connect(const Site& site, const routing::TcpSegment& syn);
  void refuse(const Site& site, const routing::TcpSegment& segment);
  bool move_octets(const StreamPointer& stream, FabricTime now);
  bool read(const StreamPointer& stream);
  void wait_for_octets(const StreamPointer& stream);
  void write(const StreamPointer& stream);
  routing::TcpSequence next_sequence();

  boost::asio::io_context& io_;
  Deliver deliver_;
  std::function<void()> woken_;
  std::function<void(const std::string&)> trouble_;
  std::vector<Site> sites_;
  std::list<Listener> listeners_;
  std::vector<StreamPointer> streams_;
  std::vector<std::pair<PortId, routing::Octets>>
      packets_;  ///< the speaker has sent these; exchange() will look at them
  std::vector<std::pair<PortId, routing::Octets>>
      answers_;  ///< exchange() will give these to the speaker
  uint32_t sequences_ = 0;
  std::shared_ptr<void> alive_ = std::make_shared<char>();  ///< for operations that outlive this
};

}  // namespace mrclab::lab
