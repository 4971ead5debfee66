// A run without payload: what is made, what is accepted, and what never gets memory.

#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "endpoint/base/memory_registry.h"
#include "endpoint/host/host_node.h"
#include "endpoint/nic/packet_maker.h"
#include "endpoint/options/profile_maker.h"
#include "endpoint/queue_pair/sequence_ring.h"
#include "endpoint/roce/rc_packet.h"
#include "endpoint/workload/ramp.h"
#include "fabric/packet/headers.h"
#include "fabric/packet/whole_frame.h"
#include "fabric/topology/path.h"
#include "tests/support/fabrics.h"

namespace mrclab::endpoint {
namespace {

class Counts : public NodeObserver {
 public:
  void packet(const PacketRecord& record) override { ++records[record.cause]; }
  void event(const EventRecord&) override {}
  std::map<DropCause, int> records;
};

class Nowhere : public FrameSink {
 public:
  void transmit(Transmission&&) override { ++sent; }
  int sent = 0;
};

DataPacket packet_of(ConstMemory payload) {
  DataPacket packet;
  packet.opcode = Opcode::kWriteFirst;
  packet.psn = Psn{7};
  packet.ev = ev_of({3, 1});
  packet.payload = payload;
  packet.reth = {0x1000, 0xAB, 8192};
  return packet;
}

TEST_CASE("a frame without payload is the head of the frame with it, and as long on the wire") {
  const Topology topology = test::octet();
  FramePool pool;
  FramePool headers(16, kHeaderRoom);
  const TopologyPaths paths(topology, topology.host(0));
  const std::vector<uint8_t> bytes(4096, 0x5A);
  const PacketMaker::Address to{4, Qpn{0x123}};
  const FabricTime now = FabricTime::from_us(3);
  const Frame whole = PacketMaker(pool, paths, 0, {}).data(packet_of(bytes), to, now);
  const Frame elided = PacketMaker(headers, paths, 0, {})
                           .data(packet_of(ConstMemory::elided(bytes.size())), to, now);
  REQUIRE(whole);
  REQUIRE(elided);
  CHECK(elided.size() == whole.size() - 4096 - kIcrcBytes);
  CHECK(elided.modelled_size() == whole.modelled_size());
  CHECK(elided.wire_length() == whole.wire_length());
  CHECK(std::equal(elided.bytes().begin(), elided.bytes().end(), whole.bytes().begin()));
}

TEST_CASE(
    "a request of RC is lent its payload; an answer, and what a program may change, is copied") {
  const Topology topology = test::octet();
  FramePool pool;
  const TopologyPaths paths(topology, topology.host(0));
  const std::vector<uint8_t> bytes(4093, 0x5A);
  const PacketMaker::Address to{4, Qpn{0x123}};
  const EntropyValue ev = ev_of({3, 1});
  PacketMaker lending(pool, paths, 0, {.lends = true});
  RcPacket request;
  request.opcode = Opcode::kRcWriteMiddle;
  request.payload = bytes;
  request.extension = RcHeaders{};
  const auto bytes_of = [](const Frame& frame) {
    std::vector<uint8_t> whole(whole_size(frame));
    copy_first(frame, whole);
    return whole;
  };
  const Frame copied = PacketMaker(pool, paths, 0, {}).rc_data(request, ev, to);
  const Frame lent = lending.rc_data(request, ev, to);
  REQUIRE(copied);
  REQUIRE(lent);
  CHECK_FALSE(copied.has_lent());
  REQUIRE(lent.has_lent());
  CHECK(lent.lent().data == bytes.data());
  CHECK(bytes_of(lent) == bytes_of(copied));
  CHECK_FALSE(lending.rc_data(request, ev, to, true).has_lent());
  RcPacket answer = request;
  answer.opcode = Opcode::kRcReadMiddle;
  answer.extension = RcResponse{};
  CHECK_FALSE(lending.rc_data(answer, ev, to).has_lent());
}

TEST_CASE("a host without payload takes a cut frame only if its length is the modelled one") {
  const Topology topology = test::octet();
  FramePool pool;
  const TopologyPaths paths(topology, topology.host(0));
  PacketMaker maker(pool, paths, 0, {});
  const auto frame = [&] {
    Frame made = maker.data(packet_of(ConstMemory::elided(4096)), {4, Qpn{0x123}}, {});
    // As it arrives behind the last switch: only the destination port is left in the carrier.
    Ipv6Address carrier;
    std::copy_n(made.bytes().begin() + 38, 16, carrier.begin());
    for (int hop = 0; hop < 3; ++hop) shift_carrier(carrier);
    std::copy(carrier.begin(), carrier.end(), made.writable_bytes().begin() + 38);
    return made;
  };
  struct Case {
    const char* what;
    bool payload_elided;
    int64_t modelled;  ///< beside the true one
    size_t cut;
    Refusal expected;
  };
  for (const Case& c : {Case{"nobody has this queue pair", true, 0, 0, Refusal::kUnknownQp},
                        Case{"longer than its headers say", true, 4, 0, Refusal::kMalformed},
                        Case{"shorter", true, -4, 0, Refusal::kMalformed},
                        Case{"headers cut short", true, 0, 1, Refusal::kMalformed},
                        Case{"payload is expected here", false, 0, 0, Refusal::kMalformed}}) {
    INFO(c.what);
    Counts counts;
    HostConfig config;
    config.transport = make_profile("lab", topology);
    config.payload_elided = c.payload_elided;
    HostNode host({topology, topology.host(4), 1, pool, counts}, config);
    Arrival arrival;
    arrival.frame = frame();
    const Bytes modelled = arrival.frame.modelled_size();
    arrival.frame.resize(arrival.frame.size() - c.cut);
    arrival.frame.set_modelled_size(
        {static_cast<uint64_t>(static_cast<int64_t>(modelled.value) + c.modelled)});
    arrival.arrival = FabricTime::from_us(5);
    host.receive(PortId{3}, std::move(arrival));
    Nowhere nowhere;
    host.run_until(FabricTime::from_us(10), nowhere);
    CHECK(host.stats().refused[static_cast<size_t>(c.expected)] == 1);
    CHECK(nowhere.sent == 0);
  }
}

TEST_CASE("memory without bytes has lengths and bounds, and nobody reads or writes it") {
  const Memory memory = Memory::elided(1000);
  CHECK(memory.size() == 1000);
  CHECK(memory.subspan(900, 100).size() == 100);
  CHECK(memory.subspan(900, 100).elided());
  fill_ramp(memory, 0, {1, 2});
  CHECK(count_mismatched_bytes(memory, 0, {1, 2}) == 0);
  std::vector<uint8_t> bytes(1000, 7);
  add_elements(bytes, memory);
  CHECK(bytes == std::vector<uint8_t>(1000, 7));
  CHECK(ConstMemory(Memory(bytes)).data() == bytes.data());
}

TEST_CASE("a region without bytes is as well protected as one with") {
  MemoryRegistry registry;
  CHECK(registry.add_elided({0x1000, 0xABC001, {4096}}).size() == 4096);
  CHECK(registry.resolve(0xABC001, 0x1000, 4096).check == MemoryCheck::kOk);
  CHECK(registry.resolve(0xABC001, 0x1000, 4096).data == nullptr);
  CHECK(registry.resolve(0xABC001, 0x1001, 4096).check == MemoryCheck::kOutOfBounds);
  CHECK(registry.resolve(0xABD001, 0x1000, 1).check == MemoryCheck::kBadRkey);
  CHECK_THROWS_AS(registry.add_elided({0x1000, 0xABC001, {4096}}), std::invalid_argument);
  CHECK(registry.remove(0xABC001));
  CHECK(registry.resolve(0xABC001, 0x1000, 1).check == MemoryCheck::kBadRkey);
}

TEST_CASE("a ring keeps what is in its window however it grows") {
  SequenceRing<Sequence> ring;
  Sequence begin = 1'000'000'007;
  Sequence used = begin;
  for (int round = 0; round < 200; ++round) {
    ring.make_room(begin, used, used + 3);
    for (int i = 0; i < 3; ++i, ++used) ring[used] = used;
    begin += round % 5;  // slower than it fills, so that it grows again and again
    for (Sequence s = begin; s < used; ++s) REQUIRE(ring[s] == s);
  }
}

TEST_CASE("a ring keeps what is in its window however far that moves at once") {
  SequenceRing<Sequence> ring;
  ring.make_room(0, 0, 100);
  Sequence begin = 0;
  for (Sequence used = 37; used < 3'000; begin = used - 20, used += 37) {
    ring.make_room(begin, used - 37, used);
    for (Sequence s = used - 37; s < used; ++s) ring[s] = s;
    for (Sequence s = begin; s < used; ++s) REQUIRE(ring[s] == s);
  }
}

}  // namespace
}  // namespace mrclab::endpoint
