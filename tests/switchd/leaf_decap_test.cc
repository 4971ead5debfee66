// A leaf that strips the outer header, and switches that are named by their links.

#include <doctest/doctest.h>

#include "fabric/paths/path_list.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "fixture.h"
#include "switchd/outer_header.h"
#include "tests/support/mrc_frames.h"
#include "tests/support/shipped_fabric.h"

using namespace mrclab;
using namespace mrclab::switchd;

namespace {

Topology draft(Decap decap, Segments segments) {
  FabricShape shape = parse_fabric(read_yaml_file(test::shipped_fabric("ai-backend")));
  shape.decap = decap;
  shape.segments = segments;
  return build_topology(shape);
}

/// A short write of h0 to h2 over Leaf1, Spine6 and Leaf3.
Frame write_frame(const Topology& topology, FramePool& pool, uint8_t ecn = kEcnEct0) {
  constexpr Path kPath{0, 2};
  MrcFrameSpec spec;
  spec.carrier = make_carrier(topology, 0, 2, kPath);
  spec.outer_source = spec.inner_source = host_address(topology, 0);
  spec.inner_destination = host_address(topology, 2);
  spec.ev = ev_of(kPath);
  spec.ecn = ecn;
  spec.bth.opcode = Opcode::kWriteOnly;
  WriteHeaders write;
  write.reth = Reth{1, 2, 500};
  spec.extension = write;
  spec.payload_length = 500;
  Frame frame = pool.make(mrc_frame_size(spec));
  const std::span<uint8_t> payload = write_mrc_headers(spec, frame.writable_bytes());
  std::fill(payload.begin(), payload.end(), uint8_t{0x5A});
  finish_mrc_frame(frame.writable_bytes());
  return frame;
}

ForwardingDecision at(const Topology& topology, const char* name, Frame& frame) {
  const ForwardingTable table(topology, *topology.find_node(name));
  return table.forward(frame.hop_bytes(), frame.modelled_size());
}

/// Through the first two switches of the path.
void to_last_leaf(const Topology& topology, Frame& frame) {
  for (const char* name : {"leaf1", "spine6"}) {
    REQUIRE(at(topology, name, frame).drop == DropCause::kNone);
  }
}

MrcPacket parsed(const Frame& frame) {
  MrcPacket packet;
  REQUIRE(parse_mrc_frame(frame.bytes(), packet) == ParseError::kNone);
  return packet;
}

}  // namespace

TEST_CASE("the last leaf strips the carrier that ends there and sends what is inside to its host") {
  const Topology topology = draft(Decap::kLeaf, Segments::kNode);
  FramePool pool;
  Frame frame = write_frame(topology, pool);
  const MrcPacket sent = parsed(frame);
  const Bytes size = frame.modelled_size();
  to_last_leaf(topology, frame);
  CHECK(to_string(parsed(frame).outer.destination) == "5f00:0:300::");
  const ForwardingDecision decision = at(topology, "leaf3", frame);
  REQUIRE(decision.drop == DropCause::kNone);
  CHECK(decision.port == topology.find_port("leaf3:d0")->port);
  CHECK(decision.strip);
  strip_outer(frame);
  CHECK(frame.modelled_size() == size - Bytes{kIpv6Bytes});
  const MrcPacket packet = parsed(frame);
  CHECK(packet.encapsulation == Encapsulation::kIpv6);
  CHECK(packet.inner.destination == host_address(topology, 2));
  CHECK(packet.inner.hop_limit == sent.inner.hop_limit - 1);
  CHECK(packet.entropy() == sent.entropy());
  CHECK(packet.ethernet.destination == topology.port(*topology.find_port("h2:p0")).mac);
  CHECK(icrc_ok(frame.bytes()));
}

TEST_CASE("a mark of the outer header is not lost with it, unless the inner one takes none") {
  const Topology topology = draft(Decap::kLeaf, Segments::kNode);
  for (const bool capable : {true, false}) {
    FramePool pool;
    Frame frame = write_frame(topology, pool, capable ? kEcnEct0 : kEcnNotEct);
    to_last_leaf(topology, frame);
    mark_ce(frame.hop_bytes());
    REQUIRE(at(topology, "leaf3", frame).drop == DropCause::kNone);
    strip_outer(frame);
    CHECK(parsed(frame).inner.ecn() == (capable ? kEcnCe : kEcnNotEct));
  }
}

TEST_CASE("a packet that a spine trimmed arrives as a trimmed one when a leaf has stripped it") {
  const Topology topology = draft(Decap::kLeaf, Segments::kNode);
  FramePool pool;
  Frame frame = write_frame(topology, pool);
  to_last_leaf(topology, frame);
  trim(frame, false, {});
  REQUIRE(at(topology, "leaf3", frame).drop == DropCause::kNone);
  strip_outer(frame);
  const MrcPacket packet = parsed(frame);
  CHECK(packet.trimmed);
  CHECK(packet.payload_length == 500);
  CHECK(packet.inner.dscp() == kDscpTrimmed);
}

TEST_CASE(
    "a leaf strips nothing for a host of another, no other upper layer, and nothing cut off") {
  const Topology topology = draft(Decap::kLeaf, Segments::kNode);
  FramePool pool;
  const auto refused = [&](auto change) {
    Frame frame = write_frame(topology, pool);
    to_last_leaf(topology, frame);
    change(frame.writable_bytes());
    const std::vector<uint8_t> before(frame.bytes().begin(), frame.bytes().end());
    const DropCause cause = at(topology, "leaf3", frame).drop;
    CHECK(std::equal(before.begin(), before.end(), frame.bytes().begin()));
    return name_of(cause);
  };
  CHECK(refused([](auto bytes) { bytes[kInnerOffset + 39] = 0; }) == name_of(DropCause::kNoRoute));
  CHECK(refused([](auto bytes) { bytes[kNextHeaderOffset] = kNextHeaderUdp; }) ==
        name_of(DropCause::kEndOfCarrier));
  CHECK(refused([](auto bytes) { bytes[kInnerOffset] = 0x45; }) == name_of(DropCause::kMalformed));
  CHECK(refused([](auto bytes) { bytes[kInnerOffset + 7] = 1; }) == name_of(DropCause::kHopLimit));
  CHECK(refused([](auto bytes) { store_be<uint16_t>(&bytes[kPayloadLengthOffset], 39); }) ==
        name_of(DropCause::kMalformed));
  const Topology nic = draft(Decap::kNic, Segments::kNode);
  Frame frame = write_frame(topology, pool);
  to_last_leaf(topology, frame);
  CHECK(at(nic, "leaf3", frame).drop == DropCause::kEndOfCarrier);
}

TEST_CASE("a link's uSID leads over that link whatever follows, and costs a hop like any other") {
  const Topology topology = draft(Decap::kNic, Segments::kAdjacency);
  FramePool pool;
  Frame frame = write_frame(topology, pool);
  CHECK(to_string(parsed(frame).outer.destination) == "5f00:0:a003:a002:300:e000::");
  const ForwardingDecision up = at(topology, "leaf1", frame);
  REQUIRE(up.drop == DropCause::kNone);
  CHECK(up.port == topology.find_port("leaf1:u1")->port);
  CHECK(to_string(parsed(frame).outer.destination) == "5f00:0:a002:300:e000::");
  CHECK(parsed(frame).outer.hop_limit == 63);
  const ForwardingDecision down = at(topology, "spine6", frame);
  REQUIRE(down.drop == DropCause::kNone);
  CHECK(down.port == topology.find_port("spine6:d2")->port);
  Frame ends = write_frame(topology, pool);
  std::fill_n(&ends.writable_bytes()[kDestinationOffset + 6], 10, uint8_t{0});
  CHECK(at(topology, "leaf1", ends).drop == DropCause::kEndOfCarrier);
}
