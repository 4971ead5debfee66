#include "fabric/packet/frame.h"

#include <doctest/doctest.h>

#include "fabric/packet/frame_room.h"
#include "tests/support/fabrics.h"

using namespace mrclab;

TEST_CASE("a frame has the size that was asked for and costs its wire length") {
  FramePool pool;
  Frame frame = pool.make(1000);
  REQUIRE(frame);
  CHECK(frame.size() == 1000);
  CHECK(frame.bytes().size() == 1000);
  CHECK(frame.wire_length() == Bytes{1024});
  frame.set_modelled_size({4000});
  CHECK(frame.size() == 1000);
  CHECK(frame.wire_length() == Bytes{4024});
  frame.resize(128);
  CHECK(frame.modelled_size() == Bytes{128});
}

TEST_CASE("a full frame leaves room for the trailer behind it") {
  FramePool pool;
  Frame frame = pool.make(kFrameCapacity);
  REQUIRE(frame);
  CHECK(frame.storage().size() == kFrameCapacity + kTrailerReserve);
  CHECK(frame.storage().data() == frame.bytes().data());
  CHECK_FALSE(pool.make(kFrameCapacity + 1));
}

TEST_CASE("a copy has the same bytes in another buffer") {
  FramePool pool;
  const std::vector<uint8_t> bytes{1, 2, 3, 4, 5};
  Frame frame = pool.copy(bytes);
  REQUIRE(frame);
  CHECK(std::vector<uint8_t>(frame.bytes().begin(), frame.bytes().end()) == bytes);
  CHECK(pool.copy({}).size() == 0);
}

TEST_CASE("a dying frame gives its buffer back, a moved-from frame does not") {
  FramePool pool;
  {
    Frame a = pool.make(100);
    Frame b = std::move(a);
    CHECK_FALSE(a);
    CHECK(b);
    CHECK(pool.in_use() == 1);
    Frame c = pool.make(100);
    CHECK(pool.in_use() == 2);
    c = std::move(b);
    CHECK(pool.in_use() == 1);
    Frame& self = c;
    c = std::move(self);
    CHECK(c);
    c = Frame{};
    CHECK(pool.in_use() == 0);
  }
  CHECK(pool.in_use() == 0);
}

TEST_CASE("a pool stops at its limit, counts what it refused, and recovers") {
  FramePool pool(64);
  std::vector<Frame> frames;
  for (int i = 0; i < 64; ++i) frames.push_back(pool.make(10));
  CHECK_FALSE(pool.make(10));
  CHECK_FALSE(pool.make(10));
  CHECK(pool.exhausted() == 2);
  CHECK(pool.in_use() == 64);
  frames.pop_back();
  CHECK(pool.make(10));
  CHECK(pool.exhausted() == 2);
}

TEST_CASE(
    "a frame knows nothing of its content until somebody says, also one in a buffer of another") {
  FramePool pool;
  for (int i = 0; i < 2; ++i) {
    const Frame frame = pool.make(10);
    CHECK(frame.content() == 0);
    CHECK(frame.note() == 0);
    frame.set_content(7);
    frame.set_note(3);
    CHECK(frame.content() == 7);
    CHECK(frame.note() == 3);
  }
}

TEST_CASE("what is known of a frame stays while switches change it, and goes with its bytes") {
  FramePool pool;
  const auto known = [&] {
    Frame frame = pool.make(60);
    frame.set_content(7);
    frame.set_note(2);
    return frame;
  };
  Frame switched = known();
  switched.hop_bytes()[21] = 63;
  CHECK(switched.content() == 7);
  CHECK(switched.note() == 2);
  CHECK(switched.twin().note() == 2);
  Frame cut = known(), changed = known();
  cut.resize(40);
  changed.writable_bytes()[50] ^= 1;
  for (const Frame* frame : {&cut, &changed}) {
    CHECK(frame->content() == 0);
    CHECK(frame->note() == 0);
  }
}

TEST_CASE(
    "a pool for headers has small buffers: longer frames are refused, modelled ones are not") {
  FramePool headers(1000, kHeaderRoom);
  FramePool whole(1000);
  CHECK_FALSE(headers.make(kHeaderRoom.frame + 1));
  Frame frame = headers.make(kHeaderRoom.frame);
  Frame other = whole.make(kHeaderRoom.frame);
  REQUIRE(frame);
  frame.set_modelled_size({4238});
  CHECK(frame.wire_length() == Bytes{4262});
  CHECK(headers.memory().value * 20 < whole.memory().value);
  CHECK(headers.memory() == Bytes{64 * 176});
}

TEST_CASE("frames of headers without an immediate have smaller buffers, each with its own room") {
  constexpr size_t kWriteBytes = 142, kSackBytes = 154;
  FramePool pool(64, kHeaderRoom);
  std::vector<Frame> writes;
  for (int i = 0; i < 64; ++i) writes.push_back(pool.make(kWriteBytes));
  // Frames under way are most of what a large fabric takes.
  CHECK(pool.memory() == Bytes{64 * 160});
  CHECK(writes[0].storage().size() == kHeaderRoom.short_frame);
  CHECK_FALSE(pool.make(kWriteBytes));
  Frame sack = pool.make(kSackBytes);
  REQUIRE(sack);
  CHECK(pool.memory() == Bytes{64 * 160 + 64 * 176});
  CHECK(sack.storage().size() == kHeaderRoom.frame);
  std::fill(sack.storage().begin(), sack.storage().end(), uint8_t{0xFF});
  std::fill(writes[3].storage().begin(), writes[3].storage().end(), uint8_t{0xFF});
  CHECK(writes[2].size() == kWriteBytes);
  CHECK(writes[4].size() == kWriteBytes);
  writes.pop_back();
  sack = Frame{};
  CHECK(pool.free_buffers() == 1 + 64);
  CHECK(pool.make(kWriteBytes));
  CHECK(pool.make(kSackBytes));
}

TEST_CASE("a frame keeps its bytes, lengths, damage and lent payload apart, also the largest") {
  FramePool pool(64, {.frame = 1001, .trailer = 3});
  std::vector<uint8_t> payload(4000, 7);
  Frame first = pool.make(1001), second = pool.make(1);
  std::fill(first.storage().begin(), first.storage().end(), uint8_t{0xFF});
  first.lend({payload.data(), 4000, true});
  first.set_modelled_size({5001});
  first.add_damage(8 * 4352 - 1);
  CHECK(first.size() == 1001);
  CHECK(first.modelled_size() == Bytes{5001});
  CHECK(first.damage() == 8 * 4352);
  CHECK(first.has_lent());
  CHECK(first.lent().data == payload.data());
  CHECK(first.lent().size == 4000);
  CHECK(first.lent().icrc);
  CHECK(first.storage().back() == 0xFF);
  CHECK_FALSE(second.has_lent());
  CHECK(second.lent().data == nullptr);
  const Frame twin = first.twin();
  CHECK(twin.lent().data == payload.data());
  CHECK(twin.damage() == first.damage());
  first.resize(1);
  CHECK(first.has_lent());
  first.drop_payload();
  CHECK_FALSE(first.has_lent());
  first.set_modelled_size({1'000'000});
  CHECK(first.modelled_size() == Bytes{65535});
}

TEST_CASE("a frame that goes to another thread's pool is counted and given back there") {
  FramePool here, there;
  {
    Frame frame = here.copy(std::vector<uint8_t>{1, 2, 3});
    here.let_go();
    CHECK(here.in_use() == 0);
    there.adopt(frame);
    CHECK(there.in_use() == 1);
    there.adopt(frame);  // which is its own by now
    CHECK(there.in_use() == 1);
    CHECK(frame.bytes()[2] == 3);
  }
  CHECK(there.in_use() == 0);
  CHECK(there.free_buffers() == 1);
}

TEST_CASE("behind a frame on a wire of any length there is room for its trailer") {
  const Topology topology = test::two_rows();
  for (const bool elided : {false, true}) {
    FramePool pool(64, room_on_wires(topology, elided));
    for (const size_t size : {size_t{60}, size_t{142}, size_t{154}}) {
      Frame frame = pool.make(size);
      REQUIRE(frame);
      CHECK(frame.storage().size() >= size + kTrailerReserve);
    }
  }
}

TEST_CASE("a pool gives another one half of what it has more free buffers of") {
  FramePool here, there;
  { const Frame frame = here.make(10); }
  CHECK(here.free_buffers() == 64);
  here.share(there);
  CHECK(here.free_buffers() == 32);
  CHECK(there.free_buffers() == 32);
  here.share(there);
  CHECK(there.free_buffers() == 32);
  Frame again = there.make(10);
  CHECK(there.memory() == Bytes{});
  again = Frame{};
  CHECK(there.free_buffers() == 32);
}
