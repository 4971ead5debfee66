#include "fabric/packet/pause_frame.h"

#include <algorithm>

#include "fabric/base/byte_order.h"

namespace mrclab {
namespace {

constexpr size_t kEthertypeAt = 12, kOpcodeAt = 14, kClassesAt = 16, kQuantaAt = 18;
constexpr uint16_t kPfcOpcode = 0x0101;
constexpr MacAddress kMacControlAddress{0x01, 0x80, 0xC2, 0x00, 0x00, 0x01};
constexpr Bytes kQuantum{64};              // 512 bits
constexpr uint64_t kLongestHeaders = 160;  // of any data packet here

}  // namespace

bool is_mac_control(std::span<const uint8_t> frame) {
  return frame.size() >= kOpcodeAt && load_be<uint16_t>(&frame[kEthertypeAt]) == kPauseEthertype;
}

std::optional<PauseFrame> parse_pause(std::span<const uint8_t> frame) {
  if (!is_mac_control(frame) || frame.size() < kQuantaAt + 16) return std::nullopt;
  if (load_be<uint16_t>(&frame[kOpcodeAt]) != kPfcOpcode) return std::nullopt;
  PauseFrame pause;
  pause.classes = frame[kClassesAt + 1];
  for (size_t i = 0; i < pause.quanta.size(); ++i) {
    pause.quanta[i] = load_be<uint16_t>(&frame[kQuantaAt + 2 * i]);
  }
  return pause;
}

void write_pause(const PauseFrame& pause, const MacAddress& source,
                 std::span<uint8_t, kPauseFrameBytes> out) {
  std::fill(out.begin(), out.end(), uint8_t{0});
  std::copy(kMacControlAddress.begin(), kMacControlAddress.end(), out.begin());
  std::copy(source.begin(), source.end(), out.begin() + 6);
  store_be<uint16_t>(&out[kEthertypeAt], kPauseEthertype);
  store_be<uint16_t>(&out[kOpcodeAt], kPfcOpcode);
  store_be<uint16_t>(&out[kClassesAt], pause.classes);
  for (size_t i = 0; i < pause.quanta.size(); ++i) {
    store_be<uint16_t>(&out[kQuantaAt + 2 * i], pause.quanta[i]);
  }
}

Frame make_pause(FramePool& pool, const MacAddress& source, uint16_t quanta) {
  Frame frame = pool.make(kPauseFrameBytes);
  if (!frame) return frame;
  PauseFrame pause;
  pause.classes = 1u << kLosslessPriority;
  pause.quanta[kLosslessPriority] = quanta;
  write_pause(pause, source, frame.writable_bytes().first<kPauseFrameBytes>());
  frame.set_modelled_size({kPauseFrameBytes});
  return frame;
}

std::optional<uint16_t> lossless_quanta(std::span<const uint8_t> frame) {
  const std::optional<PauseFrame> pause = parse_pause(frame);
  if (!pause || (pause->classes & 1u << kLosslessPriority) == 0) return std::nullopt;
  return pause->quanta[kLosslessPriority];
}

FabricTime pause_time(uint16_t quanta, BitRate rate) {
  return serialization_time(Bytes{kQuantum.value * quanta}, rate);
}

Bytes pause_headroom(const Topology& topology, WireId in) {
  const Wire& wire = topology.wire(in);
  const FabricTime reaction = wire.propagation * 2 + topology.ingress_latency(wire.from.node) +
                              topology.ingress_latency(wire.to.node);
  const Bytes frame = wire_length({topology.pmtu + kLongestHeaders});
  return bytes_in(wire.rate, reaction) + frame * 4;
}

}  // namespace mrclab
