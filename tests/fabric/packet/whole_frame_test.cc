#include "fabric/packet/whole_frame.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "fabric/packet/trailer.h"
#include "tests/support/mrc_frames.h"
#include "tests/support/sample_frames.h"

using namespace mrclab;

namespace {

using Octets = std::vector<uint8_t>;

/// A frame of headers, with the payload of build_frame() lent to it.
Frame lent_frame(FramePool& pool, const MrcFrameSpec& spec, const Octets& whole, bool icrc) {
  Frame frame = pool.make(mrc_header_size(spec));
  write_mrc_headers(spec, frame.writable_bytes());
  frame.set_modelled_size({whole.size()});
  frame.lend({whole.data() + frame.size(), static_cast<uint16_t>(spec.payload_length), icrc});
  return frame;
}

Octets joined(const FramePieces& pieces) {
  Octets all;
  for (const auto& piece : {pieces.head, pieces.payload, pieces.tail}) {
    all.insert(all.end(), piece.begin(), piece.end());
  }
  return all;
}

struct Sample {
  MrcFrameSpec spec;
  Octets whole;
  bool icrc;
};

std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (const Encapsulation kind :
       {Encapsulation::kSrv6, Encapsulation::kIpv6, Encapsulation::kIpv4}) {
    for (const size_t payload : {1u, 2u, 3u, 4u, 5u, 100u, 4096u}) {
      MrcFrameSpec spec = test::random_spec(Opcode::kWriteOnlyImm, payload, payload);
      spec.encapsulation = kind;
      all.push_back({spec, test::build_frame(spec), true});
      all.push_back(all.back());
      all.back().icrc = false;
      std::fill(all.back().whole.end() - kIcrcBytes, all.back().whole.end(), uint8_t{0});
    }
  }
  return all;
}

}  // namespace

TEST_CASE("a frame whose end is cut off holds the first bytes of what was lent to it") {
  FramePool pool;
  for (const Sample& s : samples()) {
    CAPTURE(s.whole.size());
    Frame frame = lent_frame(pool, s.spec, s.whole, s.icrc);
    hold_first(frame, kTrimmedFrameBytes);
    CHECK_FALSE(frame.has_lent());
    const size_t held =
        std::max(mrc_header_size(s.spec), std::min(kTrimmedFrameBytes, s.whole.size()));
    REQUIRE(frame.size() == held);
    CHECK(std::equal(frame.bytes().begin(), frame.bytes().end(), s.whole.begin()));
  }
}

TEST_CASE("a frame whose payload is lent has the bytes of one that holds it") {
  FramePool pool;
  for (const Sample& s : samples()) {
    CAPTURE(s.whole.size());
    CAPTURE(s.icrc);
    Frame frame = lent_frame(pool, s.spec, s.whole, s.icrc);
    CHECK(frame.modelled_size().value == s.whole.size());
    CHECK(whole_size(frame) == s.whole.size());
    CHECK(joined(pieces_of(frame)) == s.whole);
    for (size_t size = 0; size <= s.whole.size(); size += size < 200 ? 1 : 61) {
      Octets first(size, 0xEE);
      copy_first(frame, first);
      CHECK(std::equal(first.begin(), first.end(), s.whole.begin()));
    }
    Octets all(s.whole.size());
    copy_first(frame, all);
    CHECK(all == s.whole);

    Frame twin = frame.twin();
    hold_payload(frame);
    CHECK_FALSE(frame.has_lent());
    CHECK(std::equal(frame.bytes().begin(), frame.bytes().end(), s.whole.begin(), s.whole.end()));
    CHECK(frame.modelled_size().value == s.whole.size());
    CHECK(joined(pieces_of(frame)) == s.whole);
    CHECK(joined(pieces_of(twin)) == s.whole);
  }
}

TEST_CASE("what is written behind a frame comes behind its ICRC") {
  FramePool pool;
  const Octets behind{1, 2, 3, 4, 5};
  for (const Sample& s : samples()) {
    for (const bool held : {false, true}) {
      Frame frame = lent_frame(pool, s.spec, s.whole, s.icrc);
      if (held) hold_payload(frame);
      std::copy(behind.begin(), behind.end(),
                frame.storage().subspan(end_in_storage(frame)).begin());
      Octets expected = s.whole;
      expected.insert(expected.end(), behind.begin(), behind.end());
      CHECK(joined(pieces_of(frame, behind.size())) == expected);
    }
  }
}

TEST_CASE("bytes are those of the memory when somebody looks, with an ICRC that fits") {
  FramePool pool;
  MrcFrameSpec spec = test::random_spec(Opcode::kWriteOnly, 9, 64);
  const Octets whole = test::build_frame(spec);
  Octets memory(64, 1);
  Frame frame = lent_frame(pool, spec, whole, true);
  frame.lend({memory.data(), 64, true});
  CHECK(icrc_ok(joined(pieces_of(frame))));
  memory[13] = 2;
  const Octets now = joined(pieces_of(frame));
  CHECK(now[mrc_header_size(spec) + 13] == 2);
  CHECK(icrc_ok(now));
}

TEST_CASE(
    "a frame that is lost on its wire has no payload any more, and a buffer forgets whose it was") {
  FramePool pool;
  const Sample s = samples().front();
  Frame frame = lent_frame(pool, s.spec, s.whole, true);
  cut_to_void(frame);
  CHECK_FALSE(frame.has_lent());
  CHECK(frame.modelled_size().value == s.whole.size());
  Frame again = lent_frame(pool, s.spec, s.whole, true);
  const uint8_t* const buffer = again.bytes().data();
  again = Frame();
  again = pool.make(40);
  REQUIRE(again.bytes().data() == buffer);
  CHECK_FALSE(again.has_lent());
}
