// A peer that sends what it likes, over a socket: what ends the session and what does not (RFC 4271 section 6,
// RFC 7606). The tables of single attributes are in tests/routing/update_errors_test.cc.

#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "netio/system/file_descriptor.h"
#include "netio/system/system_error.h"
#include "peer_bench.h"
#include "routing/bgp/open.h"
#include "routing/bgp/update.h"

using namespace mrclab;
using namespace mrclab::lab;
using namespace mrclab::lab::test;

namespace {

constexpr uint32_t kOurAs = 65'001, kTheirAs = 65'002;

sockaddr_in6 place(const Ipv6Address& host, uint16_t port) {
  sockaddr_in6 made{};
  made.sin6_family = AF_INET6;
  made.sin6_port = htons(port);
  std::memcpy(&made.sin6_addr, host.data(), host.size());
  return made;
}

/// Plain octets over a socket that it opens to us.
class HostilePeer {
 public:
  explicit HostilePeer(PeerBench& bench, bool calls = true) : bench_(bench) {
    bench.add("them");
    ends = bench.link("us", "them");
    SpeakerPlan plan = PeerBench::plan("us", kOurAs, 0x0A000001);
    plan.neighbours = {PeerBench::neighbour("them", ends.a, ends.b, kTheirAs)};
    BgpDaemonSetup setup = daemon_setup(plan);
    setup.speaker.neighbours.front().passive = calls;
    setup.speaker.hold_time = 3;
    us = &bench.start_ours(setup);
  }

  void connect() {
    socket_ = connected();
    heard_.clear();
  }
  /// One connection more, without a word.
  netio::FileDescriptor connected() {
    netio::FileDescriptor made = socket_bound_to(0);
    const sockaddr_in6 to = place(ends.a, 179);
    REQUIRE(::connect(made.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
    return made;
  }
  void listen() {
    listener_ = socket_bound_to(179);
    REQUIRE(::listen(listener_.get(), 4) == 0);
  }
  bool was_called() {
    pollfd watched{listener_.get(), POLLIN, 0};
    return ::poll(&watched, 1, 0) == 1;
  }
  void send(routing::OctetView octets) {
    REQUIRE(::send(socket_.get(), octets.data(), octets.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(octets.size()));
  }
  void open_session() {
    connect();
    routing::OpenMessage open;
    open.as = routing::AsNumber{kTheirAs};
    open.hold_time = 3;
    open.router = routing::RouterId{0x0A000002};
    open.capabilities.ipv6_unicast = open.capabilities.route_refresh = true;
    open.capabilities.four_octet_as = open.as;
    send(routing::encode_open(open));
    send(routing::encode_keepalive());
    const size_t before = us->ups;
    REQUIRE(bench_.wait_for([&] { return us->ups > before; }));
  }
  /// The notification that ends the connection.
  std::optional<routing::Notification> answer() {
    std::optional<routing::Notification> found;
    const bool ended = bench_.wait_for([&] {
      pollfd watched{socket_.get(), POLLIN, 0};
      if (::poll(&watched, 1, 0) != 1) return false;
      uint8_t chunk[4096];
      const ssize_t n = ::recv(socket_.get(), chunk, sizeof chunk, 0);
      if (n <= 0) return true;
      heard_.insert(heard_.end(), chunk, chunk + n);
      return false;
    });
    CHECK(ended);
    for (routing::OctetView left = heard_; !left.empty();) {
      const auto next = routing::next_message(left);
      const auto* message = std::get_if<routing::FramedMessage>(&next);
      if (message == nullptr) break;
      if (message->type == routing::MessageType::kNotification) {
        found = routing::decode_notification(message->body);
      }
      left = left.subspan(message->length);
    }
    return found;
  }

  PeerBench::Ends ends;
  OurSpeaker* us = nullptr;

 private:
  netio::FileDescriptor socket_bound_to(uint16_t port) {
    netio::FileDescriptor made(
        netio::check_system_call("open a socket", bench_.lab.at("them").run_in([] {
          return ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
        })));
    const sockaddr_in6 from = place(ends.b, port);
    REQUIRE(::bind(made.get(), reinterpret_cast<const sockaddr*>(&from), sizeof from) == 0);
    return made;
  }

  PeerBench& bench_;
  netio::FileDescriptor socket_, listener_;
  routing::Octets heard_;
};

routing::Octets good_attributes() {
  routing::PathAttributes attributes;
  attributes.as_path = routing::AsPath{}.prepended(routing::AsNumber{kTheirAs});
  return routing::encode_attributes(attributes, true);
}

/// An UPDATE with these attributes behind MP_REACH_NLRI for `to`.
routing::Octets update(const PeerBench::Ends& ends, const routing::Prefix& to,
                       const routing::Octets& attributes) {
  std::vector<routing::Octets> made;
  routing::encode_announcements(made, attributes, ends.b, std::vector<routing::Prefix>{to});
  return made.at(0);
}

routing::Octets with(routing::Octets attributes, const routing::Octets& more) {
  attributes.insert(attributes.end(), more.begin(), more.end());
  return attributes;
}

}  // namespace

TEST_SUITE("root: BGP peers") {
  TEST_CASE("a peer's wrong attributes cost it the route, not the session") {
    PeerBench bench;
    HostilePeer peer(bench);
    peer.open_session();
    const routing::Prefix good = numbered(0xA, 0), bad = numbered(0xA, 1), last = numbered(0xA, 2);
    const auto is_there = [&](const routing::Prefix& to) { return peer.us->routes.contains(to); };
    peer.send(update(peer.ends, bad, good_attributes()));
    REQUIRE(bench.wait_for([&] { return is_there(bad); }));
    const routing::Octets wrong[] = {
        {0xC0, 0x10, 7, 0, 4, 0, 0, 0, 0, 0},  // extended communities of 7 octets
        {0xC0, 0x08, 3, 0, 0, 0},              // communities of 3
        {0x80, 0x04, 3, 0, 0, 0},              // MED of 3
        {0xC0, 0x10, 0x20, 0},                 // runs beyond the end of all attributes
    };
    unsigned faults = 0;
    for (const routing::Octets& attribute : wrong) {
      CAPTURE(faults);
      peer.send(update(peer.ends, bad, with(good_attributes(), attribute)));
      CHECK(bench.wait_for([&] { return peer.us->faults.size() > faults && !is_there(bad); }));
      faults = static_cast<unsigned>(peer.us->faults.size());
      peer.send(update(peer.ends, bad, good_attributes()));
      REQUIRE(bench.wait_for([&] { return is_there(bad); }));
    }
    // Discarded alone: a wrong AGGREGATOR.
    peer.send(update(peer.ends, good, with(good_attributes(), {0xC0, 0x07, 3, 0, 0, 0})));
    CHECK(bench.wait_for([&] { return is_there(good) && peer.us->faults.size() > faults; }));
    peer.send(update(peer.ends, last, good_attributes()));
    CHECK(bench.wait_for([&] { return is_there(last); }));
    CHECK(peer.us->downs.empty());
  }

  TEST_CASE(
      "what RFC 7606 cannot mend ends the session, with the reason, and the peer may come again") {
    PeerBench bench;
    HostilePeer peer(bench);
    const routing::Prefix to = numbered(0xA, 0);
    struct Row {
      const char* about;
      routing::Octets message;
      routing::ErrorCode code;
      uint8_t subcode;
    };
    routing::Octets marker = routing::encode_keepalive(), length = marker, type = marker;
    marker[3] = 0;
    length[17] = 18;
    type[18] = 9;
    // MP_REACH_NLRI twice; with a next hop of 7 octets; with a prefix of 200 bits.
    routing::Octets reach{0x90, 0x0E, 0, 30, 0, 2, 1, 16};
    reach.insert(reach.end(), peer.ends.b.begin(), peer.ends.b.end());
    reach.insert(reach.end(), {0, 64, 0x20, 1, 0xD, 0xB8, 0, 0xB, 0, 0});
    routing::Octets wide = update(peer.ends, to, good_attributes());
    const auto plain = [&](uint8_t hop_octets, uint8_t bits) {
      routing::Octets attribute{0x80, 0x0E, 0, 0, 2, 1, hop_octets};
      attribute.resize(attribute.size() + hop_octets, 0x20);
      attribute.insert(attribute.end(), {0, bits, 0x20, 1, 0xD, 0xB8, 0, 0xB, 0, 0});
      attribute[2] = static_cast<uint8_t>(attribute.size() - 3);
      routing::Octets made;
      const size_t at = routing::begin_message(made, routing::MessageType::kUpdate);
      const routing::Octets all = with(attribute, good_attributes());
      made.insert(made.end(),
                  {0, 0, static_cast<uint8_t>(all.size() >> 8), static_cast<uint8_t>(all.size())});
      made.insert(made.end(), all.begin(), all.end());
      routing::finish_message(made, at);
      return made;
    };
    const Row rows[] = {
        {"marker", marker, routing::ErrorCode::kHeader, 1},
        {"length", length, routing::ErrorCode::kHeader, 2},
        {"type", type, routing::ErrorCode::kHeader, 3},
        {"MP_REACH_NLRI twice", update(peer.ends, to, with(good_attributes(), reach)),
         routing::ErrorCode::kUpdate, 1},
        {"a next hop of 7 octets", plain(7, 64), routing::ErrorCode::kUpdate, 9},
        {"a prefix of 200 bits", plain(16, 200), routing::ErrorCode::kUpdate, 9},
    };
    for (const Row& row : rows) {
      CAPTURE(row.about);
      peer.open_session();
      peer.send(update(peer.ends, to, good_attributes()));
      REQUIRE(bench.wait_for([&] { return peer.us->routes.contains(to); }));
      const size_t downs = peer.us->downs.size();
      peer.send(row.message);
      const auto answer = peer.answer();
      REQUIRE(answer.has_value());
      CHECK(answer->code == row.code);
      CHECK(answer->subcode == row.subcode);
      CHECK(
          bench.wait_for([&] { return peer.us->downs.size() > downs && peer.us->routes.empty(); }));
    }
  }

  TEST_CASE("connections that say nothing keep no neighbour out") {
    PeerBench bench;
    HostilePeer peer(bench);
    std::vector<netio::FileDescriptor> silent;
    // More than there is room for, as whoever can send from the neighbour's address may open them.
    for (int i = 0; i < 24; ++i) {
      silent.push_back(peer.connected());
      bench.io.restart();
      bench.io.poll();
    }
    peer.open_session();
    CHECK(peer.us->ups == 1);
    // And they end no session.
    for (int i = 0; i < 24; ++i) {
      silent.push_back(peer.connected());
      bench.io.restart();
      bench.io.poll();
    }
    const routing::Prefix to = numbered(0xA, 0);
    peer.send(update(peer.ends, to, good_attributes()));
    CHECK(bench.wait_for([&] { return peer.us->routes.contains(to); }));
    CHECK(peer.us->downs.empty());
  }

  TEST_CASE(
      "a neighbour that waits to be called is called, though somebody holds silent connections") {
    PeerBench bench;
    HostilePeer peer(bench, false);
    peer.listen();
    std::vector<netio::FileDescriptor> silent;
    for (int i = 0; i < 3; ++i) {
      silent.push_back(peer.connected());
      bench.io.restart();
      bench.io.poll();
    }
    CHECK(bench.wait_for([&] { return peer.was_called(); }));
  }

  TEST_CASE("what lies in the socket is heard before a neighbour is called silent") {
    PeerBench bench;
    HostilePeer peer(bench);
    peer.open_session();
    // This process does not get to its work for longer than the hold time, in which the neighbour does what it shall.
    for (int i = 0; i < 4; ++i) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      peer.send(routing::encode_keepalive());
    }
    const routing::Prefix to = numbered(0xA, 0);
    peer.send(update(peer.ends, to, good_attributes()));
    CHECK(bench.wait_for([&] { return peer.us->routes.contains(to); }));
    CHECK(peer.us->downs.empty());
  }

  TEST_CASE(
      "without descriptors connections wait, which is said once and takes no processor time") {
    PeerBench bench;
    HostilePeer peer(bench);
    peer.open_session();
    const netio::FileDescriptor waiting = peer.connected();
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit none{0, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    size_t handled = 0;
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    while (std::chrono::steady_clock::now() < until) {
      bench.io.restart();
      handled += bench.io.run_one_until(until);
    }
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(handled < 100);
    REQUIRE(peer.us->troubles.size() == 1);
    CHECK(peer.us->troubles[0].find("cannot accept connections") == 0);
    const routing::Prefix to = numbered(0xA, 0);
    peer.send(update(peer.ends, to, good_attributes()));
    CHECK(bench.wait_for([&] { return peer.us->routes.contains(to); }));
  }
}
