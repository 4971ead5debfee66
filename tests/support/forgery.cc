#include "tests/support/forgery.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "tests/support/mrc_frames.h"
#include "tests/support/sample_frames.h"

namespace mrclab::test {
namespace {

/// Distances at which something changes: neighbours, words of the bitmap, windows, half the space.
int32_t distance(ForgeryChoice c) {
  static constexpr std::array<int32_t, 16> kTable{
      1, -1, 2, -2, 16, -16, 63, -63, 64, -64, 1023, 1024, -1025, 5000, 0x7F'FFFF, -0x80'0000};
  const size_t i = c.variant % (kTable.size() + 4);
  return i < kTable.size() ? kTable[i] : static_cast<int16_t>(c.value);
}

uint64_t pattern(ForgeryChoice c) {
  switch (c.variant % 6) {
    case 0: return 0;
    case 1: return ~uint64_t{0};
    case 2: return uint64_t{1} << c.value % 64;
    case 3: return ~uint64_t{0} << c.value % 64;
    case 4: return ~uint64_t{0} >> c.value % 64;
    default: return mix64(c.value);
  }
}

uint32_t changed(uint32_t old, ForgeryChoice c) {
  return c.variant % 2 == 0 ? old + static_cast<uint32_t>(distance(c))
                            : static_cast<uint32_t>(pattern(c));
}

void forge_bth(MrcFrameSpec& spec, ForgeryChoice c) {
  Bth& bth = spec.bth;
  switch (c.variant % 6) {
    case 0: bth.ack_request = !bth.ack_request; break;
    case 1: bth.retransmission = !bth.retransmission; break;
    case 2: bth.p_key = c.value; break;
    case 3: bth.destination_qp = c.value % 4 == 0 ? kEndpointQpn : Qpn{c.value}; break;
    case 4: bth.transport_version = c.value & 0xF; break;
    default: bth.destination_qp.value ^= 1u << c.value % 24; break;
  }
}

void forge_write(MrcFrameSpec& spec, WriteHeaders& write, ForgeryChoice c) {
  switch (c.field / 4 % 10) {
    case 0:
      spec.bth.opcode = kAllOpcodes[c.variant % 6];
      write.immediate =
          has_immediate(spec.bth.opcode) ? std::optional<uint32_t>(c.value) : std::nullopt;
      break;
    case 1: write.reth->va += static_cast<uint64_t>(int64_t{distance(c)}); break;
    case 2: write.reth->va = pattern(c); break;
    case 3: write.reth->rkey = changed(write.reth->rkey, c); break;
    case 4: write.reth->dma_length = changed(write.reth->dma_length, c); break;
    case 5: write.meth.msn = static_cast<uint16_t>(changed(write.meth.msn, c)); break;
    case 6: write.meth.rqmsn = static_cast<uint16_t>(changed(write.meth.rqmsn, c)); break;
    case 7: spec.payload_length = c.value % 4200; break;
    case 8:
      if (write.immediate) write.immediate = changed(*write.immediate, c);
      break;
    default:
      write.tseth = c.variant % 2 == 0 ? std::optional(Tseth{c.value, false, 1}) : std::nullopt;
      break;
  }
}

void forge_request(MrcFrameSpec& spec, RcHeaders& request, ForgeryChoice c) {
  switch (c.field / 4 % 6) {
    case 0: {
      spec.bth.opcode = kRcOpcodes[c.variant % 12];
      const bool reth = is_first(spec.bth.opcode) && !is_send(spec.bth.opcode);
      if (!reth) request.reth.reset();
      if (reth && !request.reth) request.reth = Reth{pattern(c), c.value, c.value};
      request.immediate =
          has_immediate(spec.bth.opcode) ? std::optional<uint32_t>(c.value) : std::nullopt;
      break;
    }
    case 1:
      if (request.reth) request.reth->va += static_cast<uint64_t>(int64_t{distance(c)});
      break;
    case 2:
      if (request.reth) request.reth->rkey = changed(request.reth->rkey, c);
      break;
    case 3:
      if (request.reth) request.reth->dma_length = changed(request.reth->dma_length, c);
      break;
    case 4: spec.payload_length = c.value % 4200; break;
    default:
      if (request.immediate) request.immediate = changed(*request.immediate, c);
      break;
  }
}

void forge_sack(Seth& seth, ForgeryChoice c) {
  switch (c.field / 4 % 13) {
    case 0: seth.cumulative = seth.cumulative + distance(c); break;
    case 1: seth.psn_offset_or_probe_id = static_cast<uint16_t>(distance(c)); break;
    case 2: seth.sack_offset = static_cast<int16_t>(distance(c)); break;
    case 3: seth.bitmap = pattern(c); break;
    case 4: seth.bitmap ^= pattern(c); break;
    case 5: seth.mark = static_cast<SackMark>(c.variant % 3); break;
    case 6: seth.probe_response = !seth.probe_response; break;
    case 7: seth.mpr = static_cast<uint8_t>(c.value); break;
    case 8:
      seth.receiver_penalty = static_cast<uint8_t>(c.value & 0x7F);
      seth.restore_cwnd = (c.variant & 1) != 0;
      break;
    case 9: seth.received_units = changed(seth.received_units, c) & 0xFF'FFFF; break;
    case 10: seth.port_mask = static_cast<uint8_t>(c.value); break;
    case 11: seth.entropy.value = changed(seth.entropy.value, c); break;
    default: seth.tx_timestamp = static_cast<uint16_t>(seth.tx_timestamp + distance(c)); break;
  }
}

NackReason reason_of(uint16_t value) {
  static constexpr std::array kReasons{NackReason::kTrimmed,        NackReason::kTrimmedLastHop,
                                       NackReason::kNoBitmap,       NackReason::kNoPacketBuffer,
                                       NackReason::kNoResource,     NackReason::kPsnOutOfWindow,
                                       NackReason::kUnexpectedEvent};
  return value % 8 < kReasons.size() ? kReasons[value % 8] : static_cast<NackReason>(value >> 8);
}

void forge_nack(Neth& neth, ForgeryChoice c) {
  switch (c.field / 4 % 4) {
    case 0: neth.reason = static_cast<uint8_t>(reason_of(c.value)); break;
    case 1: neth.psn = neth.psn + distance(c); break;
    case 2: neth.entropy.value = changed(neth.entropy.value, c); break;
    default: neth.tx_timestamp = static_cast<uint16_t>(neth.tx_timestamp + distance(c)); break;
  }
}

uint8_t syndrome_of(uint16_t value) {
  static constexpr std::array<uint8_t, 8> kSyndromes{0x1F, 0x60, 0x61, 0x62, 0x63, 0x64, 0x20, 0};
  return (value & 0x100) == 0 ? kSyndromes[value % 8] : static_cast<uint8_t>(value);
}

void forge_extension(MrcFrameSpec& spec, ForgeryChoice c) {
  if (auto* write = std::get_if<WriteHeaders>(&spec.extension)) {
    forge_write(spec, *write, c);
  } else if (auto* request = std::get_if<RcHeaders>(&spec.extension)) {
    forge_request(spec, *request, c);
  } else if (auto* seth = std::get_if<Seth>(&spec.extension)) {
    forge_sack(*seth, c);
  } else if (auto* neth = std::get_if<Neth>(&spec.extension)) {
    forge_nack(*neth, c);
  } else if (auto* aeth = std::get_if<Aeth>(&spec.extension)) {
    aeth->syndrome = syndrome_of(c.value);
    if (c.variant % 2 == 1) aeth->msn = c.value;
  } else if (auto* peth = std::get_if<Peth>(&spec.extension)) {
    peth->probe_id = static_cast<uint16_t>(peth->probe_id + distance(c));
  } else if (auto* erth = std::get_if<Erth>(&spec.extension)) {
    erth->op = static_cast<EndpointOp>(c.variant % 2);
    erth->port_status_mask = static_cast<uint32_t>(pattern(c));
  } else if (auto* eeth = std::get_if<Eeth>(&spec.extension)) {
    eeth->op = static_cast<EndpointOp>(c.variant % 2);
  }
}

std::vector<uint8_t> build(const MrcFrameSpec& spec, std::span<const uint8_t> payload) {
  std::vector<uint8_t> bytes(mrc_frame_size(spec), 0xEE);
  const std::span<uint8_t> room = write_mrc_headers(spec, bytes);
  std::copy_n(payload.begin(), std::min(payload.size(), room.size()), room.begin());
  finish_mrc_frame(bytes);
  return bytes;
}

Extension invented(Opcode opcode, const MrcPacket& like, Psn near, ForgeryChoice c) {
  const int32_t far = distance(c);
  const auto stamp = static_cast<uint16_t>(c.value);
  switch (opcode) {
    case Opcode::kSack: {
      Seth seth;
      seth.cumulative = near + far;
      seth.entropy = like.entropy();
      seth.sack_offset = 1;
      seth.bitmap =
          pattern({0, static_cast<uint8_t>(c.value), static_cast<uint16_t>(c.value >> 8)});
      seth.tx_timestamp = stamp;
      return seth;
    }
    case Opcode::kNack: {
      Neth neth;
      neth.reason = static_cast<uint8_t>(reason_of(c.value));
      neth.psn = near + far;
      neth.entropy = like.entropy();
      return neth;
    }
    case Opcode::kAcknowledge:
    case Opcode::kRcAcknowledge: return Aeth{syndrome_of(c.value), 0};
    case Opcode::kCongestionNotification: return CnpHeader{};
    case Opcode::kProbeRequest: return Peth{0, stamp};
    case Opcode::kEndpointRequest:
      return Erth{static_cast<EndpointOp>(c.variant % 2), 0, static_cast<uint32_t>(pattern(c))};
    default: return Eeth{static_cast<EndpointOp>(c.variant % 2), stamp};
  }
}

}  // namespace

std::optional<std::vector<uint8_t>> forge_field(std::span<const uint8_t> frame,
                                                ForgeryChoice choice) {
  MrcPacket packet;
  if (parse_mrc_frame(frame, packet) != ParseError::kNone || packet.trimmed) return std::nullopt;
  MrcFrameSpec spec = spec_of(packet);
  switch (choice.field % 4) {
    case 0: spec.bth.psn = spec.bth.psn + distance(choice); break;
    case 1: forge_bth(spec, choice); break;
    default: forge_extension(spec, choice); break;
  }
  return build(spec, packet.payload);
}

std::optional<std::vector<uint8_t>> forge_control(std::span<const uint8_t> frame, Psn near,
                                                  ForgeryChoice choice) {
  static constexpr std::array kControl{Opcode::kSack,
                                       Opcode::kNack,
                                       Opcode::kAcknowledge,
                                       Opcode::kProbeRequest,
                                       Opcode::kEndpointRequest,
                                       Opcode::kEndpointResponse};
  static constexpr std::array kRcControl{Opcode::kRcAcknowledge, Opcode::kRcAcknowledge,
                                         Opcode::kCongestionNotification};
  MrcPacket packet;
  if (parse_mrc_frame(frame, packet) != ParseError::kNone) return std::nullopt;
  // Now and then what the other transport would send.
  const bool rc = is_rc(packet.bth.opcode) == (choice.field % 16 != 15);
  MrcFrameSpec spec = spec_of(packet);
  spec.payload_length = 0;
  spec.dscp = kDscpControl;
  spec.bth = Bth{};
  spec.bth.opcode =
      rc ? kRcControl[choice.field % kRcControl.size()] : kControl[choice.field % kControl.size()];
  spec.bth.psn = near + distance(choice);
  const bool endpoint =
      spec.bth.opcode == Opcode::kEndpointRequest || spec.bth.opcode == Opcode::kEndpointResponse;
  // Now and then to the wrong one on purpose.
  spec.bth.destination_qp =
      endpoint != (choice.field >= 250) ? kEndpointQpn : packet.bth.destination_qp;
  spec.extension = invented(spec.bth.opcode, packet, near, choice);
  return build(spec, {});
}

std::vector<uint8_t> trimmed_by_switch(std::span<const uint8_t> frame, uint8_t dscp) {
  std::vector<uint8_t> bytes(frame.begin(), frame.end());
  MrcPacket packet;
  const bool whole = parse_mrc_frame(frame, packet) == ParseError::kNone && !packet.trimmed;
  if (!whole || !is_write(packet.bth.opcode) || frame.size() <= kTrimmedFrameBytes) return bytes;
  bytes = trim(std::move(bytes));
  const auto traffic_class = static_cast<uint8_t>(dscp << 2 | packet.outer.ecn());
  bytes[kOuterOffset] = static_cast<uint8_t>(0x60 | traffic_class >> 4);
  bytes[kOuterOffset + 1] =
      static_cast<uint8_t>(traffic_class << 4 | (bytes[kOuterOffset + 1] & 0x0F));
  return bytes;
}

bool is_write_or_ack(std::span<const uint8_t> frame) {
  const std::optional<Encapsulation> kind = encapsulation_of(frame);
  const size_t bth = kind ? layout_of(*kind).bth : kBthOffset;
  if (frame.size() <= bth) return false;
  const auto opcode = static_cast<Opcode>(frame[bth]);
  return carries_data(opcode) || opcode == Opcode::kAcknowledge || opcode == Opcode::kRcAcknowledge;
}

}  // namespace mrclab::test
