// Writes MRC frames.

#include <algorithm>
#include <cassert>

#include "fabric/byte_order.h"
#include "fabric/header_sizes.h"
#include "fabric/headers.h"

namespace mrclab {
namespace {

uint8_t flag(bool set, unsigned shift) { return static_cast<uint8_t>(set ? 1u << shift : 0u); }

uint8_t nibbles(uint8_t high, uint8_t low) {
  return static_cast<uint8_t>((high & 0xF) << 4 | (low & 0xF));
}

void put_ipv6(uint8_t* p, const MrcFrameSpec& spec, uint8_t next_header, size_t payload_length,
              const Ipv6Address& source, const Ipv6Address& destination) {
  const uint32_t traffic_class = uint32_t{spec.dscp} << 2 | (spec.ecn & 3u);
  store_be<uint32_t>(p, 6u << 28 | (traffic_class & 0xFF) << 20 | flow_label_of(spec.ev));
  store_be<uint16_t>(p + 4, static_cast<uint16_t>(payload_length));
  p[6] = next_header;
  p[7] = spec.hop_limit;
  std::copy(source.begin(), source.end(), p + 8);
  std::copy(destination.begin(), destination.end(), p + 24);
}

void put_timestamp_unit(uint8_t* p, bool one_microsecond, uint8_t frame_type) {
  p[0] = flag(one_microsecond, 7);
  p[1] = frame_type & 0xF;
}

size_t put(uint8_t* p, const WriteHeaders& w) {
  uint8_t* const begin = p;
  store_be<uint16_t>(p, w.meth.rqmsn);
  store_be<uint16_t>(p + 2, w.meth.msn);
  p += kMethBytes;
  if (w.tseth) {
    store_be<uint16_t>(p, w.tseth->tx_timestamp);
    put_timestamp_unit(p + 2, w.tseth->one_microsecond_units, w.tseth->frame_type);
    p += kTsethBytes;
  }
  assert(w.reth && "every write packet carries RETH (MRC paper §2.1)");
  store_be<uint64_t>(p, w.reth->va);
  store_be<uint32_t>(p + 8, w.reth->rkey);
  store_be<uint32_t>(p + 12, w.reth->dma_length);
  p += kRethBytes;
  if (w.immediate) {
    store_be<uint32_t>(p, *w.immediate);
    p += kImmediateBytes;
  }
  return static_cast<size_t>(p - begin);
}

size_t put(uint8_t* p, const Aeth& a) {
  p[0] = a.syndrome;
  store_be24(p + 1, a.msn);
  return kAethBytes;
}

size_t put(uint8_t* p, const Seth& s) {
  p[0] = static_cast<uint8_t>((s.type & 0xF) << 4 | (s.next >> 1 & 0xF));
  p[1] = static_cast<uint8_t>((s.next & 1) << 7 | static_cast<uint8_t>(s.mark) << 5 |
                              flag(s.probe_response, 1));
  store_be<uint16_t>(p + 2, s.psn_offset_or_probe_id);
  store_be<uint32_t>(p + 4, s.entropy.value);
  store_be<uint16_t>(p + 8, s.spdcid);
  store_be<uint16_t>(p + 10, s.dpdcid);
  p[12] = s.port_mask;
  store_be24(p + 13, s.cumulative.value());
  p[16] = nibbles(s.cc_type, s.cc_flags);
  p[17] = s.mpr;
  store_be<uint16_t>(p + 18, static_cast<uint16_t>(s.sack_offset));
  store_be<uint64_t>(p + 20, s.bitmap);
  store_be<uint16_t>(p + 28, s.tx_timestamp);
  store_be<uint16_t>(p + 30, s.out_of_order & 0x7FFF);
  p[32] = static_cast<uint8_t>(flag(s.restore_cwnd, 7) | (s.receiver_penalty & 0x7F));
  store_be24(p + 33, s.received_units);
  return kSethBytes;
}

size_t put(uint8_t* p, const Neth& n) {
  std::fill_n(p, kNethBytes, uint8_t{0});
  p[2] = n.reason;
  p[3] = n.vendor;
  store_be<uint32_t>(p + 4, n.entropy.value);
  store_be<uint16_t>(p + 8, n.spdcid);
  store_be<uint16_t>(p + 10, n.dpdcid);
  store_be24(p + 13, n.psn.value());
  p[16] = nibbles(n.cc_type, n.cc_flags);
  store_be<uint16_t>(p + 18, n.tx_timestamp);
  return kNethBytes;
}

size_t put(uint8_t* p, const Peth& h) {
  std::fill_n(p, kPethBytes, uint8_t{0});
  p[3] = h.vendor;
  store_be<uint16_t>(p + 4, h.probe_id);
  store_be<uint16_t>(p + 8, h.spdcid);
  store_be<uint16_t>(p + 10, h.dpdcid);
  store_be<uint16_t>(p + 12, h.tx_timestamp);
  put_timestamp_unit(p + 14, h.one_microsecond_units, h.frame_type);
  return kPethBytes;
}

size_t put(uint8_t* p, const Erth& e) {
  std::fill_n(p, kErthBytes, uint8_t{0});
  p[1] = static_cast<uint8_t>(e.op);
  p[3] = e.vendor;
  store_be<uint32_t>(p + 4, e.port_status_mask);
  store_be<uint16_t>(p + 12, e.tx_timestamp);
  put_timestamp_unit(p + 14, e.one_microsecond_units, 1);
  return kErthBytes;
}

size_t put(uint8_t* p, const Eeth& e) {
  std::fill_n(p, kEethBytes, uint8_t{0});
  p[1] = static_cast<uint8_t>(static_cast<uint8_t>(e.op) << 2);
  store_be<uint16_t>(p + 28, e.tx_timestamp);
  return kEethBytes;
}

size_t put(uint8_t*, const std::monostate&) { return 0; }

size_t extension_bytes(const MrcFrameSpec& spec) {
  const auto* write = std::get_if<WriteHeaders>(&spec.extension);
  if (write == nullptr) return control_extension_bytes(spec.bth.opcode);
  return kMethBytes + kRethBytes + (write->tseth ? kTsethBytes : 0) +
         (write->immediate ? kImmediateBytes : 0);
}

/// Does the extension belong to the opcode? A caller that mixes them up is broken.
bool matches(Opcode opcode, const Extension& extension) {
  if (const auto* write = std::get_if<WriteHeaders>(&extension)) {
    return is_write(opcode) && has_immediate(opcode) == write->immediate.has_value();
  }
  switch (opcode) {
    case Opcode::kAcknowledge: return std::holds_alternative<Aeth>(extension);
    case Opcode::kSack: return std::holds_alternative<Seth>(extension);
    case Opcode::kNack: return std::holds_alternative<Neth>(extension);
    case Opcode::kProbeRequest: return std::holds_alternative<Peth>(extension);
    case Opcode::kEndpointRequest: return std::holds_alternative<Erth>(extension);
    case Opcode::kEndpointResponse: return std::holds_alternative<Eeth>(extension);
    default: return false;
  }
}

/// Ethernet, both IPv6 and UDP of a frame of `size` bytes.
void put_stack(const MrcFrameSpec& spec, size_t size, uint8_t* p) {
  std::copy(spec.destination_mac.begin(), spec.destination_mac.end(), p);
  std::copy(spec.source_mac.begin(), spec.source_mac.end(), p + 6);
  store_be<uint16_t>(p + 12, kEthertypeIpv6);
  put_ipv6(p + kOuterOffset, spec, kNextHeaderIpv6, size - kInnerOffset, spec.outer_source,
           spec.carrier);
  put_ipv6(p + kInnerOffset, spec, kNextHeaderUdp, size - kUdpOffset, spec.inner_source,
           spec.inner_destination);
  store_be<uint16_t>(p + kUdpOffset, source_port_of(spec.ev));
  store_be<uint16_t>(p + kUdpOffset + 2, spec.udp_port);
  store_be<uint16_t>(p + kUdpOffset + 4, static_cast<uint16_t>(size - kUdpOffset));
  store_be<uint16_t>(p + kUdpOffset + 6, 0);
}

uint8_t pad_of(size_t payload_length) { return static_cast<uint8_t>(-payload_length & 3); }

}  // namespace

std::array<uint8_t, kBthBytes> encode(const Bth& b) {
  std::array<uint8_t, kBthBytes> out{};
  out[0] = static_cast<uint8_t>(b.opcode);
  out[1] = static_cast<uint8_t>(flag(b.solicited, 7) | flag(b.migration, 6) | (b.pad & 3) << 4 |
                                (b.transport_version & 0xF));
  store_be<uint16_t>(&out[2], b.p_key);
  out[4] = b.variant_reserved;
  store_be24(&out[5], b.destination_qp.value);
  out[8] = static_cast<uint8_t>(flag(b.ack_request, 7) | flag(b.retransmission, 5) |
                                flag(b.has_tseth, 4));
  store_be24(&out[9], b.psn.value());
  return out;
}

size_t mrc_header_size(const MrcFrameSpec& spec) { return kAfterBthOffset + extension_bytes(spec); }

size_t mrc_frame_size(const MrcFrameSpec& spec) {
  return mrc_header_size(spec) + spec.payload_length + pad_of(spec.payload_length) + kIcrcBytes;
}

std::span<uint8_t> write_mrc_headers(const MrcFrameSpec& spec, std::span<uint8_t> out) {
  const size_t size = mrc_frame_size(spec);
  assert(matches(spec.bth.opcode, spec.extension));
  assert(spec.payload_length == 0 || is_write(spec.bth.opcode));
  assert(out.size() >= mrc_header_size(spec) && size - kInnerOffset <= 0xFFFF);
  uint8_t* p = out.data();
  put_stack(spec, size, p);

  Bth bth = spec.bth;
  const auto* write = std::get_if<WriteHeaders>(&spec.extension);
  bth.pad = pad_of(spec.payload_length);
  bth.has_tseth = write != nullptr && write->tseth.has_value();
  const std::array<uint8_t, kBthBytes> bth_bytes = encode(bth);
  std::copy(bth_bytes.begin(), bth_bytes.end(), p + kBthOffset);
  const size_t extension = std::visit(
      [p](const auto& header) { return put(p + kAfterBthOffset, header); }, spec.extension);
  const std::span<uint8_t> rest = out.subspan(kAfterBthOffset + extension);
  return rest.first(std::min(rest.size(), spec.payload_length));
}

void write_datagram(const MrcFrameSpec& spec, size_t size, std::span<uint8_t> out) {
  assert(size >= kBthOffset && size - kInnerOffset <= 0xFFFF && out.size() >= kBthOffset);
  put_stack(spec, size, out.data());
  std::fill(out.begin() + kBthOffset, out.end(), uint8_t{0});
}

}  // namespace mrclab
