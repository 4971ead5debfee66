// Any bytes as packets to a neighbour, and as a program of segments to a connection.

#include <algorithm>

#include "routing/base/prefix.h"
#include "routing/bfd/bfd_session.h"
#include "routing/tcp/tcp_connection.h"
#include "tests/fuzz/must.h"

using namespace mrclab;
using namespace mrclab::routing;

namespace {

const TcpConnection::Identity kOwnEnd{*parse_address("fe80::1"), *parse_address("fe80::2"),
                                      kBgpPort, 50000};

void check_packet(OctetView bytes) {
  if (const auto packet = parse_tcp_packet(bytes)) {
    const Octets again = make_tcp_packet(packet->addresses, packet->segment, 0);
    const auto same = parse_tcp_packet(again);
    MUST(same.has_value());
    MUST(same->segment.sequence == packet->segment.sequence);
    MUST(same->segment.mss == packet->segment.mss);
    MUST(std::ranges::equal(same->segment.payload, packet->segment.payload));
  }
  BfdSession bfd({}, {kOwnEnd.local, kOwnEnd.remote}, 7, 0, FabricTime::zero());
  std::vector<Octets> packets;
  bfd.on_packet(bytes, FabricTime::zero());
  bfd.on_timer(FabricTime::zero());
  bfd.output(packets);
  MUST(packets.size() == 1);
}

/// Five octets a step: flags, sequence, acknowledgement, window, payload.
void check_program(OctetView program) {
  const Octets payload(64, 0x55);
  TcpParameters parameters;
  parameters.window = 200;
  parameters.send_limit = 300;
  TcpSegment syn;
  syn.syn = true;
  TcpConnection tcp = TcpConnection::accept(kOwnEnd, parameters, TcpSequence{0xFFFF'FFF0}, syn, {});
  FabricTime now = FabricTime::zero();
  for (OctetReader reader(program); reader.rest().size() >= 5;) {
    const uint8_t flags = reader.u8();
    TcpSegment segment;
    segment.fin = (flags & 1) != 0;
    segment.syn = (flags & 2) != 0;
    segment.rst = (flags & 4) != 0;
    segment.ack = (flags & 8) == 0;
    segment.sequence = TcpSequence{0} + reader.u8();
    segment.acknowledged = TcpSequence{0xFFFF'FFF0} + reader.u8();
    segment.window = static_cast<uint16_t>(reader.u8() * 4);
    segment.payload = OctetView(payload).first(reader.u8() % 64);
    tcp.on_segment(segment, now);
    if ((flags & 16) != 0) tcp.send(OctetView(payload).first(std::min<size_t>(40, tcp.room())));
    if ((flags & 32) != 0) tcp.consume(tcp.received().size());
    if ((flags & 64) != 0) tcp.close();
    if ((flags & 128) != 0) {
      now = std::max(now, std::min(tcp.deadline(), now + FabricTime::from_ms(10)));
      tcp.on_timer(now);
    }
    std::vector<Octets> packets;
    tcp.output(now, packets);
    MUST(packets.size() < 16);
    for (const Octets& packet : packets) MUST(parse_tcp_packet(packet).has_value());
    MUST(tcp.received().size() <= parameters.window);
    MUST(tcp.unacknowledged() <= parameters.send_limit);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check_packet({data, size});
  check_program({data, size});
  return 0;
}
