#include "live/bgpd/bgp_daemon.h"

#include <algorithm>
#include <chrono>

#include "netio/kernel/namespace.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// A round reads 16 KiB of each connection: about a millisecond of work.
constexpr int kRoundsOfTurn = 64;
/// How long a neighbour may take for its OPEN (our choice; RFC 4271 has 4 minutes): whoever can send from its address
/// holds a connection for no longer.
constexpr FabricTime kOpenPatience = FabricTime::from_ms(10'000);

BgpDaemonSetup over_sockets(BgpDaemonSetup setup) {
  setup.speaker.tcp = SocketStreams::inner_tcp();
  setup.speaker.open_patience = kOpenPatience;
  return setup;
}

}  // namespace

BgpDaemon::BgpDaemon(boost::asio::io_context& io, BgpDaemonSetup setup, BgpDaemonEvents& events)
    : events_(events),
      setup_(over_sockets(std::move(setup))),
      speaker_(setup_.speaker, *this),
      streams_(
          io,
          [this](PortId port, routing::OctetView packet) { speaker_.receive(port, packet, at_); },
          [this] { turn(); }, [this](const std::string& what) { events_.trouble(what); }),
      timer_(io),
      link_events_(io) {
  for (size_t i = 0; i < setup_.speaker.neighbours.size(); ++i) {
    streams_.add_neighbour(setup_.speaker.neighbours[i],
                           i < setup_.devices.size() ? setup_.devices[i] : "");
  }
  if (!setup_.kernel_routes) return;
  netlink_.emplace(netio::NetworkNamespace::current());
  links_.emplace(netio::NetworkNamespace::current());
  link_events_.assign(links_->fd());
}

BgpDaemon::~BgpDaemon() {
  if (!netlink_) return;
  link_events_.release();
  try {
    netio::RouteBatch batch(*netlink_);
    for (const routing::Prefix& prefix : in_kernel_) batch.remove_route(kernel_route(prefix, {}));
    batch.flush();
  } catch (const std::exception&) {  // the namespace is about to go, too
  }
}

FabricTime BgpDaemon::now() const {
  const auto since = SteadyClock::now() - born_;
  return FabricTime::from_ns(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

void BgpDaemon::start() {
  streams_.listen();
  for (const BgpDaemonSetup::Origin& origin : setup_.origins) {
    speaker_.originate(origin.prefix, now(), origin.rate);
  }
  speaker_.start(now());
  if (links_) watch_links();
  turn();
}

void BgpDaemon::watch_links() {
  link_events_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                          [this, alive = std::weak_ptr(alive_)](boost::system::error_code error) {
                            if (error || alive.expired()) return;
                            look_at_links();
                            watch_links();
                          });
}

void BgpDaemon::look_at_links() {
  try {
    for (const netio::LinkState& link : links_->read_or_ask(*netlink_)) {
      follow_link(link);
      turn();  // a link that is up again at once was down
    }
  } catch (const netio::SystemError& error) {
    events_.trouble(error.what());
  }
}

void BgpDaemon::follow_link(const netio::LinkState& link) {
  for (size_t i = 0; i < setup_.devices.size(); ++i) {
    if (setup_.devices[i] != link.name) continue;
    speaker_.set_carrier(setup_.speaker.neighbours[i].port, link.carrier, now());
  }
  for (const BgpDaemonSetup::Origin& origin : setup_.origins) {
    if (origin.device.empty() || origin.device != link.name) continue;
    if (link.carrier) {
      speaker_.originate(origin.prefix, now(), origin.rate);
    } else {
      speaker_.retract(origin.prefix, now());
    }
  }
}

void BgpDaemon::shut_down() {
  speaker_.shut_down(now());
  turn();
}

/// Everything that can happen now, and a timer for what cannot. In each round sockets are read before the speaker looks
/// at its timers, both at one instant: a hold timer ends no session whose messages lie in the kernel already.
void BgpDaemon::turn() {
  if (turning_) return;
  turning_ = true;
  bool more = true;
  for (int round = 0; more && round < kRoundsOfTurn; ++round) {
    at_ = now();
    more = streams_.exchange(at_);
    speaker_.run(at_);
    more |= streams_.has_packets();
  }
  turning_ = false;
  write_kernel();
  // A neighbour that never pauses must not keep signals and others waiting.
  const FabricTime next = more ? now() : std::min(speaker_.deadline(), streams_.deadline());
  if (next == FabricTime::never()) {
    timer_.cancel();
    return;
  }
  timer_.expires_at(born_ + std::chrono::nanoseconds(next.ps() / 1000 + 1));
  timer_.async_wait([this, alive = std::weak_ptr(alive_)](boost::system::error_code error) {
    if (!error && !alive.expired()) turn();
  });
}

netio::Route BgpDaemon::kernel_route(const routing::Prefix& prefix,
                                     const routing::FibEntry& entry) const {
  netio::Route route;
  route.destination = {prefix.address(), prefix.length()};
  route.protocol = netio::kBgpRoutes;
  route.metric = netio::kBgpMetric;
  if (entry.known && entry.hops.empty()) route.end = netio::RouteEnd::kBlackhole;
  for (const routing::WeightedHop& hop : entry.hops) {
    const size_t neighbour = hop.port.value;
    route.ways.push_back(
        {setup_.devices[neighbour], setup_.speaker.neighbours[neighbour].remote, {}, hop.weight});
  }
  return route;
}

void BgpDaemon::write_kernel() {
  if (!netlink_ || unwritten_.empty()) return;
  try {
    netio::RouteBatch batch(*netlink_);
    for (const auto& [prefix, entry] : unwritten_) {
      if (entry.known || !entry.hops.empty()) {
        batch.route(kernel_route(prefix, entry));
        in_kernel_.insert(prefix);
      } else if (in_kernel_.erase(prefix) > 0) {
        batch.remove_route(kernel_route(prefix, {}));
      }
    }
    batch.flush();
  } catch (const netio::SystemError& error) {
    events_.trouble(error.what());
  }
  unwritten_.clear();
}

void BgpDaemon::send(PortId port, routing::Octets packet, FabricTime) {
  streams_.take(port, std::move(packet));
}

void BgpDaemon::session_up(PortId port, FabricTime) {
  up_.insert(port);
  events_.session_up(port.value);
}

void BgpDaemon::session_down(PortId port, const std::string& reason, FabricTime) {
  up_.erase(port);
  events_.session_down(port.value, reason);
}

void BgpDaemon::fib_changed(const routing::Prefix& prefix, const routing::FibEntry& entry,
                            FabricTime) {
  if (netlink_) unwritten_[prefix] = entry;
  events_.route_changed(prefix, entry);
}

void BgpDaemon::attribute_fault(PortId port, const routing::AttributeFault& fault, FabricTime) {
  events_.attribute_fault(port.value, fault);
}

void BgpDaemon::bound_met(PortId port, const std::string& what, FabricTime) {
  events_.trouble("neighbour " + std::to_string(port.value) + ": " + what);
}

}  // namespace mrclab::lab
