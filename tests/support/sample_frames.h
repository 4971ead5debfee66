#pragma once
// Frames for tests, seeds and fuzzers: every opcode of MRC and of RC, with fields that are all different.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/base/random.h"
#include "fabric/packet/headers.h"
#include "tests/support/mrc_frames.h"

namespace mrclab::test {

inline constexpr std::array kAllOpcodes{
    Opcode::kWriteFirst,
    Opcode::kWriteMiddle,
    Opcode::kWriteLast,
    Opcode::kWriteLastImm,
    Opcode::kWriteOnly,
    Opcode::kWriteOnlyImm,
    Opcode::kAcknowledge,
    Opcode::kEndpointRequest,
    Opcode::kEndpointResponse,
    Opcode::kSack,
    Opcode::kNack,
    Opcode::kProbeRequest,
};

/// The first twelve are SENDs and WRITEs.
inline constexpr std::array kRcOpcodes{
    Opcode::kSendFirst,     Opcode::kSendMiddle,
    Opcode::kSendLast,      Opcode::kSendLastImm,
    Opcode::kSendOnly,      Opcode::kSendOnlyImm,
    Opcode::kRcWriteFirst,  Opcode::kRcWriteMiddle,
    Opcode::kRcWriteLast,   Opcode::kRcWriteLastImm,
    Opcode::kRcWriteOnly,   Opcode::kRcWriteOnlyImm,
    Opcode::kRcAcknowledge, Opcode::kCongestionNotification,
    Opcode::kRcReadRequest, Opcode::kRcReadFirst,
    Opcode::kRcReadMiddle,  Opcode::kRcReadLast,
    Opcode::kRcReadOnly,    Opcode::kRcAtomicAcknowledge,
    Opcode::kRcCompareSwap, Opcode::kRcFetchAdd,
};

/// A stream of uniform numbers from one seed.
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(mix64(seed)) {}
  template <class T>
  T next() {
    return static_cast<T>(state_ = mix64(state_));
  }
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(next<uint64_t>() >> 8) % bound; }
  bool flip() { return below(2) == 1; }
  Ipv6Address address() {
    Ipv6Address a;
    std::generate(a.begin(), a.end(), [this] { return next<uint8_t>(); });
    return a;
  }

 private:
  uint64_t state_;
};

inline Seth random_seth(Numbers& n) {
  Seth s;
  s.type = n.next<uint8_t>() & 0xF;
  s.next = n.next<uint8_t>() & 0x1F;
  s.mark = static_cast<SackMark>(n.below(3));
  s.probe_response = n.flip();
  s.psn_offset_or_probe_id = n.next<uint16_t>();
  s.entropy = {n.next<uint32_t>()};
  s.spdcid = n.next<uint16_t>();
  s.dpdcid = n.next<uint16_t>();
  s.port_mask = n.next<uint8_t>();
  s.cumulative = Psn{n.next<uint32_t>()};
  s.cc_type = n.next<uint8_t>() & 0xF;
  s.cc_flags = n.next<uint8_t>() & 0xF;
  s.mpr = n.next<uint8_t>();
  s.sack_offset = n.next<int16_t>();
  s.bitmap = n.next<uint64_t>();
  s.tx_timestamp = n.next<uint16_t>();
  s.out_of_order = n.next<uint16_t>() & 0x7FFF;
  s.restore_cwnd = n.flip();
  s.receiver_penalty = n.next<uint8_t>() & 0x7F;
  s.received_units = n.next<uint32_t>() & 0xFF'FFFF;
  return s;
}

inline Extension random_extension(Opcode opcode, Numbers& n) {
  const auto u8 = [&n] { return n.next<uint8_t>(); };
  const auto u16 = [&n] { return n.next<uint16_t>(); };
  const auto u32 = [&n] { return n.next<uint32_t>(); };
  const auto op = [&n] { return n.flip() ? EndpointOp::kEvProbe : EndpointOp::kPortStatusUpdate; };
  switch (opcode) {
    case Opcode::kAcknowledge:
    case Opcode::kRcAcknowledge: return Aeth{u8(), u32() & 0xFF'FFFF};
    case Opcode::kCongestionNotification: return CnpHeader{};
    case Opcode::kRcReadRequest:
      return RcHeaders{Reth{n.next<uint64_t>(), u32(), u32()}, std::nullopt};
    case Opcode::kRcReadFirst:
    case Opcode::kRcReadLast:
    case Opcode::kRcReadOnly: return RcResponse{Aeth{u8(), u32() & 0xFF'FFFF}, std::nullopt};
    case Opcode::kRcReadMiddle: return RcResponse{};
    case Opcode::kRcAtomicAcknowledge:
      return RcResponse{Aeth{u8(), u32() & 0xFF'FFFF}, AtomicAckEth{n.next<uint64_t>()}};
    case Opcode::kRcCompareSwap:
    case Opcode::kRcFetchAdd:
      return AtomicEth{n.next<uint64_t>(), u32(), n.next<uint64_t>(), n.next<uint64_t>()};
    case Opcode::kSack: return random_seth(n);
    case Opcode::kNack: {
      Neth h{u8(), u8(), {u32()}, u16(), u16(), Psn{u32()}, 0, 0, u16()};
      h.cc_type = u8() & 0xF;
      h.cc_flags = u8() & 0xF;
      return h;
    }
    case Opcode::kProbeRequest:
      return Peth{u8(), u16(), u16(), u16(), u16(), n.flip(), static_cast<uint8_t>(u8() & 0xF)};
    case Opcode::kEndpointRequest: return Erth{op(), u8(), u32(), u16(), n.flip()};
    case Opcode::kEndpointResponse: return Eeth{op(), u16()};
    default: break;
  }
  if (is_rc_request(opcode)) {
    RcHeaders headers;
    if (is_first(opcode) && !is_send(opcode)) headers.reth = Reth{n.next<uint64_t>(), u32(), u32()};
    if (has_immediate(opcode)) headers.immediate = u32();
    return headers;
  }
  WriteHeaders w;
  w.meth = {u16(), u16()};
  if (n.flip()) w.tseth = Tseth{u16(), n.flip(), static_cast<uint8_t>(u8() & 0xF)};
  w.reth = Reth{n.next<uint64_t>(), u32(), u32()};
  if (has_immediate(opcode)) w.immediate = u32();
  return w;
}

/// A frame in which every field that can be chosen is random. What has a payload has one of `payload_length` bytes.
inline MrcFrameSpec random_spec(Opcode opcode, uint64_t seed, size_t payload_length = 0) {
  Numbers n{seed};
  MrcFrameSpec spec;
  for (uint8_t& byte : spec.source_mac) byte = n.next<uint8_t>();
  for (uint8_t& byte : spec.destination_mac) byte = n.next<uint8_t>();
  spec.outer_source = n.address();
  spec.carrier = n.address();
  spec.inner_source = n.address();
  spec.inner_destination = n.address();
  spec.dscp = n.next<uint8_t>() & 0x3F;
  spec.ecn = n.next<uint8_t>() & 3;
  spec.hop_limit = n.next<uint8_t>();
  spec.ev = {n.next<uint32_t>()};
  spec.bth.opcode = opcode;
  spec.bth.solicited = n.flip();
  spec.bth.migration = n.flip();
  spec.bth.transport_version = n.next<uint8_t>() & 0xF;
  spec.bth.p_key = n.next<uint16_t>();
  spec.bth.variant_reserved = n.next<uint8_t>();
  spec.bth.destination_qp = {n.next<uint32_t>() & 0xFF'FFFF};
  spec.bth.ack_request = n.flip();
  spec.bth.retransmission = n.flip() && !is_rc(opcode);
  spec.bth.psn = Psn{n.next<uint32_t>()};
  spec.extension = random_extension(opcode, n);
  spec.payload_length = has_payload(opcode) ? payload_length : 0;
  return spec;
}

/// The finished frame; its payload counts up from the low byte of the PSN.
inline std::vector<uint8_t> build_frame(const MrcFrameSpec& spec) {
  std::vector<uint8_t> frame(mrc_frame_size(spec), 0xEE);
  uint32_t value = spec.bth.psn.value();
  for (uint8_t& byte : write_mrc_headers(spec, frame)) byte = static_cast<uint8_t>(value++);
  finish_mrc_frame(frame);
  return frame;
}

/// What would build this packet again.
inline MrcFrameSpec spec_of(const MrcPacket& packet) {
  MrcFrameSpec spec;
  spec.encapsulation = packet.encapsulation;
  spec.source_mac = packet.ethernet.source;
  spec.destination_mac = packet.ethernet.destination;
  spec.outer_source = packet.outer.source;
  spec.carrier = packet.outer.destination;
  spec.inner_source = packet.inner.source;
  spec.inner_destination = packet.inner.destination;
  spec.dscp = packet.outer.dscp();
  spec.ecn = packet.outer.ecn();
  spec.hop_limit = packet.outer.hop_limit;
  spec.ev = packet.entropy();
  spec.bth = packet.bth;
  spec.extension = packet.extension;
  spec.payload_length = packet.payload.size();
  return spec;
}

/// What a switch does (MRC paper §2.1; SONiC's size): cuts the frame and corrects the outer length.
inline std::vector<uint8_t> trim(std::vector<uint8_t> frame, size_t size = kTrimmedFrameBytes) {
  if (frame.size() <= size) return frame;
  frame.resize(size);
  const size_t length = size - kInnerOffset;
  frame[kOuterOffset + 4] = static_cast<uint8_t>(length >> 8);
  frame[kOuterOffset + 5] = static_cast<uint8_t>(length);
  return frame;
}

}  // namespace mrclab::test
