#pragma once
// A speaker of ours (routing/speaker) as a program of this machine: over the kernel's TCP, by the wall clock, and its
// forwarding table in the kernel's, as routes of several weighted next hops. Peers that are not ours, and switches
// whose packets the kernel forwards, have it beside them.
// With routes in the kernel it follows its links: without a carrier there is no session.
//
// Runs in the io_context that it is given, in the network namespace of the thread that constructs and runs it.

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "live/bgpd/socket_streams.h"
#include "netio/kernel/route.h"
#include "routing/speaker/speaker.h"

namespace mrclab::lab {

struct BgpDaemonSetup {
  routing::SpeakerParameters speaker;
  std::vector<std::string> devices;  ///< by neighbour: the interface of its link
  struct Origin {
    routing::Prefix prefix;
    /// Its announced bandwidth; none: the rate of the link of the announcement.
    std::optional<BitRate> rate;
    /// The interface behind which it is: it is announced while that has a carrier. Empty: always.
    std::string device = {};
    /// The next hop behind `device`, for a program that needs one; unspecified: on the link itself.
    Ipv6Address via{};
  };
  std::vector<Origin> origins;
  bool kernel_routes = false;  ///< routes are written into the main table of this namespace
};

/// What happens in it, as it happens.
class BgpDaemonEvents {
 public:
  virtual ~BgpDaemonEvents() = default;
  virtual void session_up(size_t /*neighbour*/) {}
  virtual void session_down(size_t /*neighbour*/, const std::string& /*reason*/) {}
  virtual void route_changed(const routing::Prefix&, const routing::FibEntry&) {}
  virtual void attribute_fault(size_t /*neighbour*/, const routing::AttributeFault&) {}
  /// A bound was met, or the kernel refused a route.
  virtual void trouble(const std::string& /*what*/) {}
};

class BgpDaemon : private routing::SpeakerEvents {
 public:
  /// `io` and `events` outlive this. The port of a neighbour is its index.
  BgpDaemon(boost::asio::io_context& io, BgpDaemonSetup setup, BgpDaemonEvents& events);
  /// Removes its routes from the kernel.
  ~BgpDaemon() override;
  BgpDaemon(const BgpDaemon&) = delete;
  BgpDaemon& operator=(const BgpDaemon&) = delete;

  /// Listens and connects. Throws boost::system::system_error where port 179 is taken.
  void start();
  /// Calls change(speaker, now), and does what follows from it.
  template <class Change>
  void change(Change&& change) {
    change(speaker_, now());
    turn();
  }
  /// Sends Cease to all neighbours. It has left when drained() holds.
  void shut_down();
  bool drained() const { return !streams_.is_sending(); }

  const routing::Speaker& speaker() const { return speaker_; }
  size_t sessions() const { return up_.size(); }

 private:
  FabricTime now() const;
  void turn();
  void watch_links();
  void look_at_links();
  void follow_link(const netio::LinkState& link);
  void write_kernel();
  netio::Route kernel_route(const routing::Prefix& prefix, const routing::FibEntry& entry) const;

  void send(PortId port, routing::Octets packet, FabricTime now) override;
  void session_up(PortId port, FabricTime now) override;
  void session_down(PortId port, const std::string& reason, FabricTime now) override;
  void fib_changed(const routing::Prefix& prefix, const routing::FibEntry& entry,
                   FabricTime now) override;
  void attribute_fault(PortId port, const routing::AttributeFault& fault, FabricTime now) override;
  void bound_met(PortId port, const std::string& what, FabricTime now) override;

  const std::chrono::steady_clock::time_point born_ = std::chrono::steady_clock::now();
  BgpDaemonEvents& events_;
  BgpDaemonSetup setup_;
  routing::Speaker speaker_;
  SocketStreams streams_;
  boost::asio::steady_timer timer_;
  std::set<PortId> up_;
  std::optional<netio::NamespaceNetlink> netlink_;
  std::optional<netio::LinkWatch> links_;
  boost::asio::posix::stream_descriptor link_events_;       ///< readable when links_ has news
  std::map<routing::Prefix, routing::FibEntry> unwritten_;  ///< the kernel does not have these yet
  std::set<routing::Prefix> in_kernel_;
  bool turning_ = false;
  FabricTime at_ = FabricTime::zero();                      ///< the instant of this round
  std::shared_ptr<void> alive_ = std::make_shared<char>();  ///< for a timer that outlives this
};

}  // namespace mrclab::lab
