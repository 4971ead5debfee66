// Any bytes as what comes off a veth: where its trailer is, its fields, what a void frame holds.

#include <libdeflate.h>

#include <algorithm>
#include <array>

#include "fabric/packet/trailer.h"
#include "tests/fuzz/must.h"

using namespace mrclab;

namespace {

using TrailerBytes = std::array<uint8_t, kTrailerBytes>;

/// A trailer that is accepted is the one that is written for its fields.
void check_trailer(std::span<const uint8_t> bytes) {
  const auto trailer = parse_trailer(bytes);
  if (!trailer) return;
  MUST(trailer->start <= trailer->end);
  MUST(trailer->end + trailer->flight >= trailer->end);
  TrailerBytes again;
  write_trailer(*trailer, again);
  MUST(std::equal(again.begin(), again.end(), bytes.begin()));
}

/// The same bytes with a right CRC, so that what lies behind that check is reached.
void check_with_right_crc(std::span<const uint8_t> bytes) {
  if (bytes.size() < kTrailerBytes) return;
  TrailerBytes healed;
  std::copy_n(bytes.begin(), kTrailerBytes, healed.begin());
  const uint32_t crc = ::libdeflate_crc32(0, healed.data(), kTrailerBytes - 4);
  for (unsigned i = 0; i < 4; ++i) {
    healed[kTrailerBytes - 4 + i] = static_cast<uint8_t>(crc >> (24 - 8 * i));
  }
  check_trailer(healed);
}

void check_void_frame(std::span<const uint8_t> bytes) {
  static FramePool pool(64);
  const Frame lost = unwrap_void_frame(pool, bytes);
  if (!lost) return;
  MUST(lost.size() <= kVoidHeaderBytes);
  const Frame again = make_void_frame(pool, lost);
  MUST(again);
  const Frame back = unwrap_void_frame(pool, again.bytes());
  MUST(back);
  MUST(std::ranges::equal(back.bytes(), lost.bytes()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> bytes(data, size);
  check_trailer(bytes);
  check_with_right_crc(bytes);
  if (const auto offset = trailer_offset(bytes)) {
    MUST(*offset + kTrailerBytes <= size);
    check_trailer(bytes.subspan(*offset));
    check_with_right_crc(bytes.subspan(*offset));
  }
  check_void_frame(bytes);
  return 0;
}
