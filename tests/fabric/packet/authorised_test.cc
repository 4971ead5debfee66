// What a host may send, as frames.

#include <doctest/doctest.h>

#include "fabric/packet/authorised.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/path.h"
#include "fabric/topology/programs/program_table.h"
#include "tests/support/fabrics.h"

using namespace mrclab;

namespace {

struct Sent {
  uint32_t outer = 0, inner = 0;  ///< whose addresses are the sources
  uint32_t to = 5;
  Encapsulation encapsulation = Encapsulation::kSrv6;
};

Topology tenants(Authorise authorise) {
  FabricShape shape = test::shape_of("octet", 8, 2, 4, 4);
  shape.authorise = authorise;
  shape.tenants = {{"a", {"h0", "h5"}}, {"b", {"h1", "h6"}}};
  return build_topology(shape);
}

std::vector<uint8_t> frame_of(const Topology& t, const Sent& sent) {
  const bool ipv4 = sent.encapsulation == Encapsulation::kIpv4;
  const auto address = [&](uint32_t host) {
    return ipv4 ? host_address_ipv4(host) : host_address(t, host);
  };
  MrcFrameSpec spec;
  spec.encapsulation = sent.encapsulation;
  spec.outer_source = host_address(t, sent.outer);
  spec.inner_source = address(sent.inner);
  spec.inner_destination = address(sent.to);
  spec.carrier = make_carrier(t, 0, sent.to, {3, sent.to < 4 ? kT0LocalUplink : 2});
  spec.udp_port = 9;
  std::vector<uint8_t> bytes(layout_of(spec.encapsulation).bth + 64);
  write_datagram(spec, bytes.size(), bytes);
  return bytes;
}

DropCause judged(const Topology& t, const std::vector<uint8_t>& frame) {
  return not_authorised(t, {t.host(0), PortId{3}}, frame);
}

}  // namespace

TEST_CASE("a host sends as itself, to its own tenant, by its own programs") {
  const Topology t = tenants(Authorise::kT0);
  constexpr DropCause kSource = DropCause::kNotAuthorisedSource,
                      kTenant = DropCause::kNotAuthorisedTenant;
  for (const Encapsulation by :
       {Encapsulation::kSrv6, Encapsulation::kIpv6, Encapsulation::kIpv4}) {
    CAPTURE(static_cast<int>(by));
    CHECK(judged(t, frame_of(t, {0, 0, 5, by})) == DropCause::kNone);
    CHECK(judged(t, frame_of(t, {0, 5, 5, by})) == kSource);
    CHECK(judged(t, frame_of(t, {0, 0, 6, by})) == kTenant);
    CHECK(judged(t, frame_of(t, {0, 0, 4, by})) == kTenant);  // which has none
    CHECK(judged(t, frame_of(t, {0, 0, 1, by})) == kTenant);
  }
  CHECK(judged(t, frame_of(t, {1, 0, 5, Encapsulation::kSrv6})) == kSource);
  CHECK(judged(tenants(Authorise::kOff), frame_of(t, {1, 1, 6, Encapsulation::kSrv6})) ==
        DropCause::kNone);
}

TEST_CASE("a routing header would be further programs; what no switch forwards is not looked at") {
  const Topology t = tenants(Authorise::kBoth);
  std::vector<uint8_t> frame = frame_of(t, {});
  frame[kEthernetBytes + 6] = 43;
  CHECK(judged(t, frame) == DropCause::kNotAuthorised);
  frame = frame_of(t, {});
  frame[kEthernetBytes + 24 + 4] ^= 0x40;  // its first uSID
  CHECK(judged(t, frame) == DropCause::kNotAuthorised);
  frame = frame_of(t, {7, 7, 5, Encapsulation::kIpv6});
  frame[kEthernetBytes + 24] = 0xFF;  // multicast
  CHECK(judged(t, frame) == DropCause::kNone);
  for (size_t size = 0; size < frame.size(); ++size) {
    frame = frame_of(t, {7, 7, 6, Encapsulation::kSrv6});
    frame.resize(size);
    judged(t, frame);  // reads nothing behind it
  }
}
