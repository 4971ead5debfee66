#include "fabric/history/history.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/bytes.h"
#include "tests/support/fabrics.h"
#include "tests/support/property.h"
#include "tests/support/sample_frames.h"

using namespace mrclab;
using namespace mrclab::test;

namespace {

constexpr FabricTime kEnd = FabricTime::from_us(100);

/// Feeds a digest of node p0.t0-0 of octet with one frame at a time.
class Story {
 public:
  Story() : topology_(octet()), digest_(topology_, topology_.t0(0, 0), kEnd) {}

  void packet(FabricTime t, uint32_t port, Direction direction, std::vector<uint8_t> bytes,
              PacketEvent event = PacketEvent::kPassed, DropCause cause = DropCause::kNone,
              QueueClass queue = QueueClass::kNone) {
    const Frame frame = pool_.copy(bytes);
    digest_.packet({t, PortId{port}, direction, event, cause, queue, frame});
  }
  std::vector<HistoryStream> streams() const { return digest_.streams(); }
  std::string digest() const { return history_sha256(streams()); }

 private:
  Topology topology_;
  FramePool pool_;
  HistoryDigest digest_;
};

const FabricTime kT = FabricTime::from_ns(1);

std::vector<uint8_t> seen_frame(uint64_t seed = 1) {
  return build_frame(random_spec(Opcode::kWriteOnly, seed, 200));
}

std::string digest_of(FabricTime t, uint32_t port, Direction direction, std::vector<uint8_t> frame,
                      PacketEvent event = PacketEvent::kPassed, DropCause cause = DropCause::kNone,
                      QueueClass queue = QueueClass::kNone) {
  Story story;
  story.packet(t, port, direction, std::move(frame), event, cause, queue);
  return story.digest();
}

std::string digest_with(std::vector<uint8_t> frame, size_t at) {
  frame.at(at) ^= 0x01;
  return digest_of(kT, 0, Direction::kIngress, std::move(frame));
}

}  // namespace

TEST_CASE("a fabric with very many streams reports one for each node") {
  const Topology octet = test::octet();
  HistoryDigest few(octet, octet.host(1), FabricTime::never());
  CHECK(few.reported() == few.streams());
  const Topology topology = build_topology(test::shape_of("many", 8, 256, 128, 1));
  REQUIRE(topology.links.size() > kMostStreams / 4);
  HistoryDigest many(topology, topology.host(1), FabricTime::never());
  const std::vector<HistoryStream> before = many.reported();
  REQUIRE(before.size() == 1);
  CHECK(before[0].name == "h1");
  CHECK(before[0].count == 0);
  CHECK(before[0].hash.size() == kStreamHashBytes);
  const Frame nothing;
  PacketRecord record{.t = FabricTime::from_us(1), .port = PortId{3}, .frame = nothing};
  many.packet(record);
  const std::vector<HistoryStream> after = many.reported();
  CHECK(after[0].count == 1);
  CHECK(after[0].hash != before[0].hash);
  HistoryDigest elsewhere(topology, topology.host(1), FabricTime::never());
  record.port = PortId{2};
  elsewhere.packet(record);
  CHECK(elsewhere.reported()[0].hash != after[0].hash);
}

TEST_CASE("a record holds the fields of the packet at their places") {
  MrcFrameSpec spec = random_spec(Opcode::kWriteOnly, 1, 100);
  spec.ev = {0x0003C001};
  spec.dscp = kDscpTrimmable;
  spec.ecn = kEcnCe;
  spec.bth.psn = Psn{0x456};
  FramePool pool;
  const Frame frame = pool.copy(build_frame(spec));
  const auto record =
      history_record({FabricTime::from_ps(0x1122), PortId{0}, Direction::kEgress,
                      PacketEvent::kTrimmed, DropCause::kQueueFull, QueueClass::kControl, frame});
  const auto hex = [&record](size_t at, size_t size) {
    return to_hex(std::span(record).subspan(at, size));
  };
  CHECK(hex(0, 8) == "0000000000001122");
  CHECK(hex(8, 4) == "01040213");  // trimmed, queue full, control queue, DSCP 4 with CE
  CHECK(hex(12, 4) == to_hex(std::array{uint8_t{0}, uint8_t{0},
                                        static_cast<uint8_t>(frame.wire_length().value >> 8),
                                        static_cast<uint8_t>(frame.wire_length().value)}));
  CHECK(hex(16, 16) == to_hex(spec.carrier));
  CHECK(hex(32, 16) == to_hex(spec.inner_source));
  CHECK(hex(48, 16) == to_hex(spec.inner_destination));
  CHECK(hex(64, 12) == to_hex(frame.bytes().subspan(kBthOffset, kBthBytes)));
  CHECK(hex(76, 4) == "00000456");
  CHECK(hex(80, 4) == "0003c001");
}

TEST_CASE("the same history gives the same digest") {
  Story a, b;
  for (Story* story : {&a, &b}) {
    for (uint64_t i = 0; i < 500; ++i) {  // more than is buffered
      story->packet(FabricTime::from_ns(static_cast<int64_t>(i)), i % 8,
                    i % 3 == 0 ? Direction::kIngress : Direction::kEgress, seen_frame(i));
      if (story == &a && i % 100 == 7) a.digest();  // looking in between changes nothing
    }
  }
  CHECK(a.digest() == b.digest());
  CHECK(a.digest().size() == 64);
}

TEST_CASE("streams of different ports do not depend on how their records interleave") {
  Story a, b;
  a.packet(kT, 0, Direction::kIngress, seen_frame(1));
  a.packet(kT, 1, Direction::kIngress, seen_frame(2));
  b.packet(kT, 1, Direction::kIngress, seen_frame(2));
  b.packet(kT, 0, Direction::kIngress, seen_frame(1));
  CHECK(a.digest() == b.digest());
}

TEST_CASE("the order within a stream matters") {
  Story a, b;
  a.packet(kT, 0, Direction::kIngress, seen_frame(1));
  a.packet(kT, 0, Direction::kIngress, seen_frame(2));
  b.packet(kT, 0, Direction::kIngress, seen_frame(2));
  b.packet(kT, 0, Direction::kIngress, seen_frame(1));
  CHECK(a.digest() != b.digest());
}

TEST_CASE("time, port, direction, event, cause and queue all matter, to the picosecond") {
  const std::string base = digest_of(kT, 0, Direction::kIngress, seen_frame());
  CHECK(digest_of(kT, 0, Direction::kIngress, seen_frame()) == base);
  CHECK(digest_of(kT + FabricTime::from_ps(1), 0, Direction::kIngress, seen_frame()) != base);
  CHECK(digest_of(kT, 1, Direction::kIngress, seen_frame()) != base);
  CHECK(digest_of(kT, 0, Direction::kEgress, seen_frame()) != base);
  CHECK(digest_of(kT, 0, Direction::kIngress, seen_frame(), PacketEvent::kDropped) != base);
  CHECK(digest_of(kT, 0, Direction::kIngress, seen_frame(), PacketEvent::kPassed,
                  DropCause::kWireDown) != base);
  CHECK(digest_of(kT, 0, Direction::kIngress, seen_frame(), PacketEvent::kPassed, DropCause::kNone,
                  QueueClass::kData) != base);
}

TEST_CASE("headers that say what the packet is matter; MAC, hop limit, payload and ICRC do not") {
  const std::string base = digest_of(kT, 0, Direction::kIngress, seen_frame());
  const size_t end = seen_frame().size();
  for (const size_t at : {size_t{0}, size_t{11}, kOuterOffset + 7, kOuterOffset + 8, end - 1,
                          end - kIcrcBytes - 20}) {
    CAPTURE(at);
    CHECK(digest_with(seen_frame(), at) == base);
  }
  for (const size_t at :
       {kOuterOffset, kOuterOffset + 24, kOuterOffset + 39, kInnerOffset + 3, kInnerOffset + 8,
        kInnerOffset + 39, kUdpOffset + 1, kBthOffset, kBthOffset + 11}) {
    CAPTURE(at);
    CHECK(digest_with(seen_frame(), at) != base);
  }
}

TEST_CASE("what happens after the end of the run is not part of its history") {
  Story story;
  story.packet(kEnd, 0, Direction::kIngress, seen_frame());
  const std::string before = story.digest();
  story.packet(kEnd + FabricTime::from_ps(1), 0, Direction::kIngress, seen_frame());
  CHECK(story.digest() == before);
  CHECK(story.streams()[0].count == 1);
}

TEST_CASE("every port has a stream in and a stream out, named after it") {
  const std::vector<HistoryStream> streams = Story{}.streams();
  REQUIRE(streams.size() == 2 * 8);
  CHECK(streams[0].name == "p0.t0-0:d0/in");
  CHECK(streams[1].name == "p0.t0-0:d0/out");
  CHECK(streams[15].name == "p0.t0-0:u3/out");
  std::vector<uint8_t> nothing_yet(17);
  nothing_yet[0] = 3;  // the version
  CHECK(streams[0].hash == nothing_yet);
}

TEST_CASE(
    "a stream's digest is XXH3-128 over the digest so far and the record, whose content is hashed "
    "apart") {
  Story story;
  story.packet(FabricTime::from_ps(1), 0, Direction::kIngress, {});
  // By xxhsum -H3 of 48 zero bytes: e255222d4cbbadba. By xxhsum -H2: 16 zero bytes, 1 in 8 bytes, 4 zero bytes,
  // 84 (on the wire) in 4 bytes, 16 zero bytes, that hash; then what it gave in place of the first 16, and 2 in
  // place of 1. The version stands before it.
  CHECK(to_hex(story.streams()[0].hash) == "0384ef08b5320c30e780a483da12449be6");
  story.packet(FabricTime::from_ps(2), 0, Direction::kIngress, {});
  CHECK(to_hex(story.streams()[0].hash) == "0328b90f60ad3361237f6a3d3015cd7407");
}

/// The digest of one frame that is seen, changed, and seen again: as one frame of a pool, which may hold a hash of its
/// former content, and as two that hold none.
struct SeenTwice {
  template <class Change>
  SeenTwice(const std::vector<uint8_t>& bytes, const Change& change) {
    Frame one = pool.copy(bytes);
    see(together, one);
    change(one);
    see(together, one);
    see(apart, pool.copy(bytes));
    see(apart, pool.copy(one.bytes()));
  }
  bool same() const { return together.streams() == apart.streams(); }

  FramePool pool;
  Topology fabric = octet();
  HistoryDigest together{fabric, fabric.t0(0, 0), kEnd}, apart{fabric, fabric.t0(0, 0), kEnd};

 private:
  static void see(HistoryDigest& digest, const Frame& frame) {
    digest.packet({kT, PortId{0}, Direction::kIngress, PacketEvent::kPassed, {}, {}, frame});
  }
};

TEST_CASE(
    "a frame whose content is known has the digest of its bytes, whatever was changed in it") {
  CHECK(SeenTwice(seen_frame(), [](Frame& frame) {
          const std::span<uint8_t> bytes = frame.hop_bytes();
          --bytes[kOuterOffset + 7];
          bytes[kOuterOffset + 30] ^= 1;  // in the carrier
          REQUIRE(frame.content() != 0);
        }).same());
  CHECK(SeenTwice(seen_frame(), [](Frame& frame) {
          frame.writable_bytes()[kBthOffset] ^= 1;
        }).same());
  CHECK(SeenTwice(seen_frame(), [](Frame& frame) { frame.resize(kBthOffset); }).same());
  CHECK(SeenTwice(seen_frame(), [](Frame& frame) {
          Frame twin = frame.twin();
          CHECK(twin.content() == frame.content());
          twin.writable_bytes()[kBthOffset + 1] ^= 1;
          frame = std::move(twin);
        }).same());
}

TEST_CASE("a frame without an inner header has its destination looked at anew at every port") {
  MrcFrameSpec spec = random_spec(Opcode::kWriteOnly, 1, 200);
  spec.encapsulation = Encapsulation::kIpv6;
  const std::vector<uint8_t> bytes = build_frame(spec);
  CHECK(SeenTwice(bytes, [](Frame& frame) { frame.hop_bytes()[kOuterOffset + 30] ^= 1; }).same());
}

TEST_CASE("the digest of all nodes does not depend on the order in which they report") {
  Story story;
  for (uint32_t i = 0; i < 8; ++i) story.packet(kT, i, Direction::kIngress, seen_frame(i));
  std::vector<HistoryStream> streams = story.streams();
  const std::string digest = history_sha256(streams);
  std::reverse(streams.begin(), streams.end());
  CHECK(history_sha256(streams) == digest);
  streams.pop_back();
  CHECK(history_sha256(streams) != digest);
}

TEST_CASE("the digest of all nodes is SHA-256 over name length, name, count and hash") {
  // Python: hashlib.sha256(b'\0\1a' + (5).to_bytes(8, 'big') + bytes(32)).hexdigest()
  CHECK(history_sha256({{"a", 5, std::vector<uint8_t>(32)}}) ==
        "80b0ae79908ffefce00d01c06a9ff612cc9b5820b13b081ce68713442f8639f8");
}

TEST_CASE("a frame that is no MRC packet, or too short for one, is recorded with zero fields") {
  FramePool pool;
  const std::vector<uint8_t> whole = seen_frame();
  for (size_t size = 0; size < whole.size(); ++size) {
    const Frame frame = pool.copy(std::span(whole).first(size));
    const auto record =
        history_record({kT, PortId{0}, Direction::kIngress, PacketEvent::kPassed, {}, {}, frame});
    const auto zero = [&record](size_t from, size_t to) {
      return std::all_of(record.begin() + from, record.begin() + to,
                         [](uint8_t byte) { return byte == 0; });
    };
    CHECK(zero(16, 32) == (size < kInnerOffset));
    CHECK(zero(32, 64) == (size < kUdpOffset));
    CHECK(zero(64, 84) == (size < kAfterBthOffset));
  }
  std::vector<uint8_t> arp(42, 0xFF);
  arp[12] = 0x08;
  arp[13] = 0x06;
  const Frame frame = pool.copy(arp);
  const auto record =
      history_record({kT, PortId{0}, Direction::kIngress, PacketEvent::kPassed, {}, {}, frame});
  CHECK(std::all_of(record.begin() + 16, record.end(), [](uint8_t byte) { return byte == 0; }));
}

TEST_CASE("a trimmed packet is recorded with its BTH") {
  FramePool pool;
  const std::vector<uint8_t> whole = seen_frame();
  const Frame frame = pool.copy(trim(whole));
  const auto record = history_record(
      {kT, PortId{0}, Direction::kEgress, PacketEvent::kTrimmed, {}, QueueClass::kControl, frame});
  CHECK(to_hex(std::span(record).subspan(64, 12)) ==
        to_hex(std::span(whole).subspan(kBthOffset, kBthBytes)));
}

TEST_CASE("streams survive the way through text") {
  Story story;
  story.packet(kT, 3, Direction::kEgress, seen_frame());
  const std::vector<HistoryStream> streams = story.streams();
  CHECK(history_from_text(history_to_text(streams)) == streams);
  CHECK(history_from_text("") == std::vector<HistoryStream>{});
}

TEST_CASE("text that is no list of streams is refused") {
  const std::string good = history_to_text(Story{}.streams());
  REQUIRE(history_from_text(good));
  CHECK_FALSE(history_from_text(good.substr(0, good.size() - 1)));
  CHECK_FALSE(history_from_text("a 1 00\n"));
  CHECK_FALSE(history_from_text("\n"));
  CHECK_FALSE(history_from_text(" 1 " + std::string(64, '0') + "\n"));
  CHECK_FALSE(history_from_text("a -1 " + std::string(64, '0') + "\n"));
  CHECK_FALSE(history_from_text("a 1x " + std::string(64, '0') + "\n"));
  CHECK_FALSE(history_from_text("a 1 " + std::string(63, '0') + "g\n"));
  CHECK(history_from_text("a 1 " + std::string(64, '0') + "\n"));
  CHECK(history_from_text("a 1 " + std::string(32, '0') + "\n"));
  CHECK(history_from_text("a 1 03" + std::string(32, '0') + "\n"));
  CHECK_FALSE(history_from_text("a 1 04" + std::string(32, '0') + "\n"));
  CHECK_FALSE(history_from_text("a 1 " + std::string(48, '0') + "\n"));
  CHECK_FALSE(
      history_from_text("a 1 03" + std::string(32, '0') + "\nb 1 " + std::string(32, '0') + "\n"));
  CHECK_FALSE(
      history_from_text("a 1 " + std::string(64, '0') + "\nb 1 " + std::string(32, '0') + "\n"));
  CHECK(counterexample(
            [&good] {
              std::string text = good;
              for (int n = *rc::gen::inRange(0, 4); n > 0; --n) {
                text[*rc::gen::inRange<size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
              }
              history_from_text(text);
            },
            300) == "");
}

TEST_CASE("a digest that was saved goes on in another process as if nothing had been") {
  const Topology t = octet();
  FramePool pool;
  const Frame frame = pool.copy(seen_frame());
  HistoryDigest whole(t, t.t0(0, 0), kEnd), first(t, t.t0(0, 0), kEnd), second(t, t.t0(0, 0), kEnd);
  const auto packet = [&](HistoryDigest& digest, int64_t at) {
    digest.packet({kT * at, PortId{1}, Direction::kIngress, PacketEvent::kPassed, DropCause::kNone,
                   QueueClass::kNone, frame});
  };
  for (int64_t at = 1; at <= 5; ++at) packet(whole, at);
  for (int64_t at = 1; at <= 2; ++at) packet(first, at);
  REQUIRE(second.restore(first.saved()));
  for (int64_t at = 3; at <= 5; ++at) packet(second, at);
  CHECK(second.streams() == whole.streams());
  CHECK_FALSE(second.restore(""));
  CHECK_FALSE(second.restore("7 zz\n"));
  CHECK_FALSE(second.restore("a 1 " + std::string(32, '0') + "\n"));  // one of 16 streams
  CHECK(second.streams() == whole.streams());
}
