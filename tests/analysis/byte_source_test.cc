// The checksum of what a source has skipped, however it was read.

#include "analysis/capture/byte_source.h"

#include <doctest/doctest.h>

#include <random>

#include "analysis/capture/cut_frame.h"
#include "tests/support/mrc_frames.h"
#include "tests/support/sample_frames.h"

namespace mrclab::analysis {

TEST_CASE("a checksum of what was skipped is that of the bytes, over any refills") {
  std::mt19937 random(3);
  std::vector<uint8_t> bytes(700'000);  // its buffer is filled three times
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  ByteSource memory(bytes);
  ByteSource file(::fmemopen(bytes.data(), bytes.size(), "rb"));
  for (ByteSource* source : {&memory, &file}) {
    source->keep_checksum();
    size_t at = 0;
    for (int step = 0; at < bytes.size(); ++step) {
      const size_t size = std::min<size_t>(1 + random() % 1500, bytes.size() - at);
      REQUIRE(source->peek(size).size() >= size);
      source->skip(size);
      at += size;
      if (step % 50 != 0 && at < bytes.size()) continue;
      REQUIRE(source->checksum_of_skipped() == checksum(0, std::span(bytes).first(at)));
    }
  }
}

TEST_CASE(
    "a frame that was cut within its headers reads as one that ends in zeros, and offers no "
    "payload") {
  const std::vector<uint8_t> frame =
      test::build_frame(test::random_spec(Opcode::kWriteOnly, 5, 200));
  const MrcFrameSpec spec = test::random_spec(Opcode::kWriteOnly, 5, 200);
  const size_t headers = mrc_header_size(spec);
  for (size_t size = 0; size <= frame.size(); ++size) {
    CAPTURE(size);
    const std::span<const uint8_t> kept(frame.data(), size);
    MrcPacket packet;
    CutFrame cut;
    const ParseError error = cut.open(kept);
    REQUIRE(error == parse_cut_frame(kept, packet));
    if (size < kAfterBthOffset) {
      CHECK(error == ParseError::kTooShort);
      continue;
    }
    REQUIRE(error == ParseError::kNone);
    CHECK(cut.view().psn() == spec.bth.psn);
    CHECK(cut.view().reth() == std::get<WriteHeaders>(packet.extension).reth);
    const size_t payload = size < headers ? 0 : std::min<size_t>(size - headers, 200);
    CHECK(cut.payload().size() == payload);
    CHECK(packet.payload.size() == payload);
  }
}

}  // namespace mrclab::analysis
