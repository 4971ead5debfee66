// Any bytes as a frame of MRC or RC, or of pauses. What parses must be what is built from what was parsed.

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "fabric/history/history.h"
#include "fabric/packet/headers.h"
#include "fabric/packet/pause_frame.h"
#include "tests/fuzz/must.h"
#include "tests/support/mrc_frames.h"
#include "tests/support/sample_frames.h"

using namespace mrclab;
using mrclab::test::spec_of;

namespace {

void check_spans(std::span<const uint8_t> bytes, const MrcPacket& packet) {
  MUST(packet.payload.size() <= packet.payload_length);
  if (packet.payload.empty()) return;
  MUST(packet.payload.data() >= bytes.data());
  MUST(packet.payload.data() + packet.payload.size() <= bytes.data() + bytes.size());
}

void check_rebuilt(const MrcPacket& packet) {
  const MrcFrameSpec spec = spec_of(packet);
  std::vector<uint8_t> frame(mrc_frame_size(spec), 0xEE);
  MUST(frame.size() == layout_of(packet.encapsulation).udp + packet.udp.length);
  const std::span<uint8_t> payload = write_mrc_headers(spec, frame);
  std::copy(packet.payload.begin(), packet.payload.end(), payload.begin());
  finish_mrc_frame(frame);
  MUST(icrc_ok(frame));
  MrcPacket again;
  MUST(parse_mrc_frame(frame, again) == ParseError::kNone);
  Bth expected = packet.bth;
  if (!is_write(expected.opcode)) expected.has_tseth = false;  // means nothing there
  MUST(again.bth == expected);
  MUST(again.extension == packet.extension);
  MUST(again.ethernet == packet.ethernet);
  MUST(again.entropy() == packet.entropy());
  MUST(again.outer.traffic_class == packet.outer.traffic_class);
  MUST(std::ranges::equal(again.payload, packet.payload));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> bytes(data, size);
  MrcPacket packet;
  const ParseError strict = parse_mrc_frame(bytes, packet);
  MUST(name_of(strict) != "unknown");
  const bool sound = icrc_ok(bytes);
  if (strict == ParseError::kNone) {
    MUST(!packet.cut);
    MUST(!(sound && packet.trimmed));
    check_spans(bytes, packet);
    if (!packet.trimmed) check_rebuilt(packet);
  }
  const ParseError lenient = parse_mrc_frame(bytes, packet, {.allow_cut = true});
  MUST(strict != ParseError::kNone || lenient == ParseError::kNone);
  if (lenient == ParseError::kNone) check_spans(bytes, packet);

  if (const std::optional<PauseFrame> pause = parse_pause(bytes)) {
    std::array<uint8_t, kPauseFrameBytes> frame;
    write_pause(*pause, {}, frame);
    MUST(parse_pause(frame) == pause);
    MUST(lossless_quanta(frame) == lossless_quanta(bytes));
  }
  static FramePool pool(64);
  const Frame frame = pool.copy(bytes);
  if (frame) {
    history_record({FabricTime::zero(), PortId{0}, Direction::kIngress, PacketEvent::kPassed,
                    DropCause::kNone, QueueClass::kNone, frame});
  }
  return 0;
}
