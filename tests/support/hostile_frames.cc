#include "tests/support/hostile_frames.h"

#include <algorithm>

#include "fabric/packet/pause_frame.h"
#include "fabric/topology/dscp.h"

namespace mrclab::test {

std::optional<HostileStep> read_hostile_step(ProgramBytes& program) {
  if (!program.more()) return std::nullopt;
  HostileStep step;
  step.skip = program.u8();
  step.what = static_cast<Mutation>(program.u8() % static_cast<uint8_t>(Mutation::kCount));
  step.how.field = program.u8();
  step.how.variant = program.u8();
  step.how.value = program.u16();
  return step;
}

std::vector<uint8_t> any_pause(ForgeryChoice how) {
  PauseFrame pause;
  pause.classes = static_cast<uint8_t>(how.field | 1u << kLosslessPriority);
  pause.quanta.fill(how.value);
  std::array<uint8_t, kPauseFrameBytes> frame;
  write_pause(pause, {}, frame);
  std::vector<uint8_t> bytes(frame.begin(), frame.end());
  if (how.variant % 8 == 6) bytes.resize(how.value % kPauseFrameBytes);
  if (how.variant % 8 == 7) bytes[how.value % kPauseFrameBytes] ^= how.field;
  return bytes;
}

std::vector<uint8_t> trimmed_somewhere(std::span<const uint8_t> frame, ForgeryChoice how) {
  return trimmed_by_switch(frame, how.field % 2 == 0 ? kDscpTrimmed : kDscpTrimmedLastHop);
}

void flip_bits(std::vector<uint8_t>& frame, ForgeryChoice how) {
  if (frame.empty()) return;
  const size_t range = how.field % 2 == 0 ? std::min<size_t>(frame.size(), 160) : frame.size();
  const size_t at = how.value % range;
  frame[at] ^= static_cast<uint8_t>(1 << how.variant % 8);
  // The second one somewhere behind the first.
  if (how.variant >= 128) frame[(at + how.variant / 8) % frame.size()] ^= uint8_t{1};
}

void PastFrames::remember(uint32_t from, PortId port, std::span<const uint8_t> bytes) {
  PastFrame& slot = frames_[count_++ % frames_.size()];
  slot.from = from;
  slot.port = port;
  slot.bytes.assign(bytes.begin(), bytes.end());
  MrcPacket packet;
  if (parse_mrc_frame(bytes, packet) == ParseError::kNone && carries_data(packet.bth.opcode)) {
    newest_psn_[from] = packet.bth.psn;
  }
}

const PastFrame* PastFrames::recall(uint8_t which) const {
  const uint64_t held = std::min<uint64_t>(count_, frames_.size());
  return held == 0 ? nullptr : &frames_[which % held];
}

}  // namespace mrclab::test
