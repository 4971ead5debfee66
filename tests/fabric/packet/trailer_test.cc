#include "fabric/packet/trailer.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/bytes.h"
#include "tests/support/property.h"
#include "tests/support/sample_frames.h"

using namespace mrclab;
using namespace mrclab::test;

namespace {

using TrailerBytes = std::array<uint8_t, kTrailerBytes>;

TimeTrailer sample_trailer() {
  TimeTrailer t;
  t.lab = 0x01020304;
  t.wire = WireId{0x11};
  t.incarnation = 0x22;
  t.modelled_size = 4238;
  t.sequence = 0x3333;
  t.start = FabricTime::from_ps(0x4444);
  t.end = FabricTime::from_ps(0x5555);
  t.flight = FabricTime::from_ps(0x6666);
  return t;
}

TrailerBytes written(const TimeTrailer& trailer) {
  TrailerBytes bytes;
  bytes.fill(0xEE);
  write_trailer(trailer, bytes);
  return bytes;
}

/// A frame with a trailer behind it, as it is on a veth.
std::vector<uint8_t> on_veth(std::vector<uint8_t> frame) {
  const TrailerBytes bytes = written(sample_trailer());
  frame.insert(frame.end(), bytes.begin(), bytes.end());
  return frame;
}

std::vector<uint8_t> copy_of(const Frame& frame) {
  return {frame.bytes().begin(), frame.bytes().end()};
}

}  // namespace

TEST_CASE("the trailer has the layout that its header file gives") {
  // The CRC was computed with Python's zlib.crc32 over the 60 bytes before it.
  CHECK(to_hex(written(sample_trailer())) ==
        "4d52435401000000"
        "0102030400000011000000220000108e"
        "0000000000003333"
        "0000000000004444"
        "0000000000005555"
        "0000000000006666"
        "00000000"
        "9dc2b792");
}

TEST_CASE("a trailer reads back as it was written") {
  CHECK(counterexample([] {
          TimeTrailer t;
          t.lab = *rc::gen::arbitrary<uint32_t>();
          t.wire = WireId{*rc::gen::arbitrary<uint32_t>()};
          t.incarnation = *rc::gen::arbitrary<uint32_t>();
          t.modelled_size = *rc::gen::arbitrary<uint32_t>();
          t.sequence = *rc::gen::arbitrary<uint64_t>();
          t.start = FabricTime::from_ps(*rc::gen::inRange<int64_t>(0, int64_t{1} << 60));
          t.end = t.start + FabricTime::from_ps(*rc::gen::inRange<int64_t>(0, 1 << 30));
          t.flight = FabricTime::from_ps(*rc::gen::inRange<int64_t>(0, int64_t{1} << 60));
          t.lost = static_cast<DropCause>(*rc::gen::inRange(0, 15));
          t.damage = *rc::gen::arbitrary<uint32_t>();
          const auto back = parse_trailer(written(t));
          RC_ASSERT(back.has_value());
          RC_ASSERT(*back == t);
        }) == "");
}

TEST_CASE("a trailer with any bit of any byte flipped is rejected") {
  const TrailerBytes good = written(sample_trailer());
  REQUIRE(parse_trailer(good));
  for (size_t at = 0; at < good.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      TrailerBytes bad = good;
      bad[at] = static_cast<uint8_t>(bad[at] ^ 1u << bit);
      CHECK_FALSE(parse_trailer(bad));
    }
  }
}

TEST_CASE("a trailer with a right CRC but impossible contents is rejected") {
  const auto rejected = [](auto&& spoil) {
    TimeTrailer t = sample_trailer();
    spoil(t);
    return !parse_trailer(written(t));
  };
  CHECK_FALSE(rejected([](TimeTrailer&) {}));
  CHECK(rejected([](TimeTrailer& t) { t.end = t.start - FabricTime::from_ps(1); }));
  CHECK(rejected([](TimeTrailer& t) { t.start = t.end = FabricTime::from_ps(-1); }));
  CHECK(rejected([](TimeTrailer& t) { t.flight = FabricTime::from_ps(-1); }));
  CHECK(rejected([](TimeTrailer& t) { t.flight = FabricTime::never(); }));
  CHECK(rejected([](TimeTrailer& t) { t.end = FabricTime::never(); }));
  CHECK(rejected([](TimeTrailer& t) { t.lost = static_cast<DropCause>(250); }));
}

TEST_CASE("too few bytes are no trailer, bytes behind it do not matter") {
  const TrailerBytes good = written(sample_trailer());
  CHECK_FALSE(parse_trailer({}));
  CHECK_FALSE(parse_trailer(std::span(good).first(kTrailerBytes - 1)));
  std::vector<uint8_t> longer(good.begin(), good.end());
  longer.push_back(1);
  CHECK(parse_trailer(longer) == sample_trailer());
}

TEST_CASE("the trailer stands behind the IPv6 packet as its length says") {
  for (const Opcode opcode : kAllOpcodes) {
    const std::vector<uint8_t> frame = build_frame(random_spec(opcode, 1, 100));
    const std::vector<uint8_t> veth = on_veth(frame);
    REQUIRE(trailer_offset(veth) == frame.size());
    CHECK(parse_trailer(std::span(veth).subspan(frame.size())) == sample_trailer());
    CHECK_FALSE(trailer_offset(frame));
    CHECK_FALSE(trailer_offset(std::span(veth).first(veth.size() - 1)));
  }
  const std::vector<uint8_t> trimmed = trim(build_frame(random_spec(Opcode::kWriteOnly, 1, 900)));
  CHECK(trailer_offset(on_veth(trimmed)) == kTrimmedFrameBytes);
}

TEST_CASE("the trailer of a frame whose payload is elided is its end") {
  for (const Encapsulation kind :
       {Encapsulation::kSrv6, Encapsulation::kIpv6, Encapsulation::kIpv4}) {
    MrcFrameSpec spec = random_spec(Opcode::kWriteOnly, 1, 900);
    spec.encapsulation = kind;
    const std::vector<uint8_t> frame = build_frame(spec);
    for (const size_t left : {frame.size() - 1, frame.size() - 900, layout_of(kind).after_bth}) {
      const std::vector<uint8_t> veth = on_veth({frame.begin(), frame.begin() + left});
      REQUIRE(trailer_offset(veth) == left);
      CHECK(parse_trailer(std::span(veth).subspan(left)) == sample_trailer());
      CHECK_FALSE(trailer_offset(std::span(veth).first(veth.size() - 1)));
      CHECK_FALSE(trailer_offset(std::span(veth).first(left)));
    }
  }
}

TEST_CASE("frames that are neither IPv6 nor void have no trailer") {
  std::vector<uint8_t> veth = on_veth(build_frame(random_spec(Opcode::kSack, 1)));
  veth[12] = 0x08;
  veth[13] = 0x06;
  CHECK_FALSE(trailer_offset(veth));
  veth = on_veth(build_frame(random_spec(Opcode::kSack, 1)));
  veth[kOuterOffset] = 0x45;
  CHECK_FALSE(trailer_offset(veth));
}

TEST_CASE("a void frame keeps the headers and the modelled size of what was lost") {
  FramePool pool;
  const std::vector<uint8_t> bytes = build_frame(random_spec(Opcode::kWriteOnly, 1, 2000));
  const Frame lost = pool.copy(bytes);
  const Frame void_frame = make_void_frame(pool, lost);
  REQUIRE(void_frame);
  CHECK(void_frame.size() == kEthernetBytes + 2 + kVoidHeaderBytes);
  CHECK(void_frame.modelled_size() == lost.modelled_size());
  CHECK(void_frame.bytes()[12] == 0x88);
  CHECK(void_frame.bytes()[13] == 0xB5);
  CHECK(std::equal(bytes.begin(), bytes.begin() + 12, void_frame.bytes().begin()));

  const Frame back = unwrap_void_frame(pool, on_veth(copy_of(void_frame)));
  REQUIRE(back);
  CHECK(copy_of(back) == std::vector<uint8_t>(bytes.begin(), bytes.begin() + kVoidHeaderBytes));
  CHECK(trailer_offset(on_veth(copy_of(void_frame))) == void_frame.size());
}

TEST_CASE("a short lost frame makes a short void frame") {
  FramePool pool;
  for (const size_t size : {0u, 1u, 13u, 60u}) {
    CAPTURE(size);
    std::vector<uint8_t> bytes(size, 0xAB);
    const Frame void_frame = make_void_frame(pool, pool.copy(bytes));
    REQUIRE(void_frame);
    CHECK(copy_of(unwrap_void_frame(pool, void_frame.bytes())) == bytes);
  }
}

TEST_CASE("what is cut to travel as a void frame keeps its modelled size") {
  FramePool pool;
  Frame lost = pool.make(2000);
  cut_to_void(lost);
  CHECK(lost.size() == kVoidHeaderBytes);
  CHECK(lost.modelled_size() == Bytes{2000});
}

TEST_CASE("a malformed void frame is refused") {
  FramePool pool;
  const Frame lost = pool.copy(build_frame(random_spec(Opcode::kSack, 1)));
  const std::vector<uint8_t> good = copy_of(make_void_frame(pool, lost));
  REQUIRE(unwrap_void_frame(pool, good));
  std::vector<uint8_t> bad = good;
  bad[12] = 0x86;
  CHECK_FALSE(unwrap_void_frame(pool, bad));
  bad = good;
  bad[kEthernetBytes + 1] = kVoidHeaderBytes + 1;  // more than a void frame may hold
  bad.resize(1000);
  CHECK_FALSE(unwrap_void_frame(pool, bad));
  CHECK_FALSE(trailer_offset(bad));
  CHECK_FALSE(unwrap_void_frame(pool, std::span(good).first(good.size() - 1)));
  CHECK_FALSE(unwrap_void_frame(pool, std::span(good).first(kEthernetBytes + 1)));
  CHECK_FALSE(unwrap_void_frame(pool, {}));
}

TEST_CASE("a pool at its limit yields no void frame") {
  FramePool pool(64);
  std::vector<Frame> frames;
  for (int i = 0; i < 64; ++i) frames.push_back(pool.make(100));
  CHECK_FALSE(make_void_frame(pool, frames.front()));
}

TEST_CASE("any bytes at all are looked at without harm") {
  CHECK(counterexample(
            [] {
              auto bytes = *rc::gen::arbitrary<std::vector<uint8_t>>();
              if (bytes.size() > 14 && *rc::gen::arbitrary<bool>()) {
                const bool is_void = *rc::gen::arbitrary<bool>();
                bytes[12] = is_void ? 0x88 : 0x86;
                bytes[13] = is_void ? 0xB5 : 0xDD;
              }
              const auto offset = trailer_offset(bytes);
              RC_ASSERT((!offset || *offset + kTrailerBytes <= bytes.size()));
              FramePool pool(64);
              const Frame frame = unwrap_void_frame(pool, bytes);
              RC_ASSERT((!frame || frame.size() <= kVoidHeaderBytes));
              parse_trailer(bytes);
            },
            2000, 300) == "");
}
