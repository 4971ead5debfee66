// One speaker with many prefixes from each of its planes: bgp_scale [PREFIXES [PLANES]]. A host with a session per
// plane; in each a neighbour that announces all prefixes, each with an AS path of its own. Prints seconds of
// processor time until the last prefix is in the forwarding table, and the most memory of the process.

#include <sys/resource.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include "routing/speaker/speaker.h"

using namespace mrclab;
using namespace mrclab::routing;

namespace {

Prefix host_prefix(uint32_t n) {
  Ipv6Address address = *parse_address("2001:db8:1::");
  store_be(&address[12], n);
  return Prefix::host(address);
}

Ipv6Address end_of(uint32_t plane, bool host) {
  Ipv6Address address = *parse_address("2001:db8:f::");
  address[13] = static_cast<uint8_t>(plane);
  address[15] = host ? 1 : 2;
  return address;
}

struct Host : SpeakerEvents {
  std::vector<std::pair<PortId, Octets>> sent;
  size_t writes = 0, full = 0;
  size_t planes = 0;
  void send(PortId port, Octets packet, FabricTime) override {
    sent.emplace_back(port, std::move(packet));
  }
  void fib_changed(const Prefix&, const FibEntry& entry, FabricTime) override {
    ++writes;
    full += entry.hops.size() == planes;
  }
};

/// A neighbour without tables: it sends an UPDATE for each prefix.
struct Plane {
  Plane(uint32_t index, FabricTime now)
      : tcp(TcpConnection::connect({end_of(index, false), end_of(index, true), 50'000, kBgpPort},
                                   {}, TcpSequence{1}, now)) {
    parameters.as = AsNumber{65'001 + index};
    parameters.router = RouterId{1 + index};
    parameters.capabilities.ipv6_unicast = true;
  }
  TcpConnection tcp;
  SessionParameters parameters;
  std::optional<BgpSession> session;
  uint32_t next = 0;

  void step(uint32_t prefixes, FabricTime now) {
    if (!session) {
      if (!tcp.established()) return;
      session.emplace(parameters, now);
    }
    const size_t size = std::min(session->room(), tcp.received().size());
    session->feed(tcp.received().first(size));
    tcp.consume(size);
    while (session->take_message(now)) {
    }
    while (session->established() && next < prefixes && session->outbox().size() < 32'768) {
      PathAttributes attributes;
      attributes.as_path = AsPath({{AsSegment::Type::kSequence,
                                    {parameters.as, {65'200}, {65'100}, {4'200'000'000U + next}}}});
      attributes.next_hop = tcp.identity().local;
      attributes.extended = {
          make_bandwidth(BitRate::from_gbps(100), parameters.as, kLinkBandwidth)};
      const Prefix prefix = host_prefix(next++);
      std::vector<Octets> messages;
      encode_announcements(messages, encode_attributes(attributes, true), attributes.next_hop,
                           {&prefix, 1});
      session->send(messages[0], now);
    }
    const size_t leaves = std::min(session->outbox().size(), tcp.room());
    tcp.send(OctetView(session->outbox()).first(leaves));
    session->outbox().erase(session->outbox().begin(),
                            session->outbox().begin() + static_cast<std::ptrdiff_t>(leaves));
  }
};

uint32_t number(const char* text) {
  uint32_t value = 0;
  std::from_chars(text, text + std::strlen(text), value);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  const uint32_t prefixes = argc > 1 ? number(argv[1]) : 100'000,
                 planes = argc > 2 ? number(argv[2]) : 4;
  FabricTime now = FabricTime::zero();
  SpeakerParameters parameters;
  parameters.as = AsNumber{65'000};
  parameters.router = RouterId{0x0A00'0001};
  parameters.transit = false;
  Host host;
  host.planes = planes;
  std::vector<Plane> neighbours;
  for (uint32_t plane = 0; plane < planes; ++plane) {
    NeighbourParameters neighbour;
    neighbour.port = PortId{plane};
    neighbour.local = end_of(plane, true);
    neighbour.remote = end_of(plane, false);
    neighbour.rate = BitRate::from_gbps(400);
    neighbour.passive = true;
    parameters.neighbours.push_back(neighbour);
    neighbours.emplace_back(plane, now);
  }
  Speaker speaker(std::move(parameters), host);
  speaker.start(now);
  const double begin = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  std::vector<Octets> packets;
  // Each turn is a round trip of 2 us.
  for (uint64_t turn = 0; turn < 10'000'000 && host.full < prefixes; ++turn) {
    for (uint32_t plane = 0; plane < planes; ++plane) {
      neighbours[plane].step(prefixes, now);
      packets.clear();
      neighbours[plane].tcp.output(now, packets);
      for (const Octets& packet : packets) speaker.receive(PortId{plane}, packet, now);
    }
    speaker.run(now);
    now += FabricTime::from_us(2);
    for (auto& [port, packet] : std::exchange(host.sent, {})) {
      neighbours[port.value].tcp.on_segment(parse_tcp_packet(packet)->segment, now);
    }
  }
  const double seconds = static_cast<double>(std::clock()) / CLOCKS_PER_SEC - begin;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "%u prefixes x %u planes: %zu paths of %zu complete, %.2f s of processor, %ld MiB, %zu "
      "writes\n",
      prefixes, planes, speaker.table().size(), host.full, seconds, usage.ru_maxrss / 1024,
      host.writes);
  return host.full >= prefixes ? 0 : 1;
}
