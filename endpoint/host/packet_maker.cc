#include "endpoint/host/packet_maker.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "endpoint/base/sequence.h"
#include "fabric/packet/header_sizes.h"

namespace mrclab::endpoint {

PacketMaker::PacketMaker(FramePool& frames, const PathMapper& paths, uint32_t self,
                         const Options& options)
    : frames_(frames), paths_(paths), self_(self), options_(options), templates_(paths, self) {}

MrcFrameSpec PacketMaker::address(EntropyValue ev, Address to) const {
  const PathHeaders path = paths_.headers(to.host, ev);
  MrcFrameSpec spec;
  spec.encapsulation = path.encapsulation;
  spec.source_mac = path.source_mac;
  spec.destination_mac = path.destination_mac;
  spec.outer_source = path.outer_source;
  spec.inner_source = paths_.address_in(path.encapsulation, self_);
  spec.inner_destination = paths_.address_in(path.encapsulation, to.host);
  spec.carrier = path.carrier;
  spec.udp_port = paths_.udp_port();
  spec.ev = paths_.on_wire(ev);
  spec.bth.destination_qp = to.qpn;
  return spec;
}

uint8_t* PacketMaker::put_head(const Way& way, const PathHeaders& path, const Bth& bth, size_t size,
                               uint8_t* out) {
  const HeaderTemplate& headers = templates_.of(path.encapsulation);
  headers.write({.path = path,
                 .destination = paths_.address_in(path.encapsulation, way.to.host),
                 .ev = paths_.on_wire(way.ev),
                 .dscp = way.dscp,
                 .ecn = way.ecn,
                 .size = size,
                 .bth = bth},
                out);
  return out + headers.size();
}

Frame PacketMaker::data(const DataPacket& packet, Address to, FabricTime now) {
  assert(is_write(packet.opcode) && has_immediate(packet.opcode) == packet.immediate.has_value());
  const PathHeaders path = paths_.headers(to.host, packet.ev);
  const size_t header_size = layout_of(path.encapsulation).after_bth + kMethBytes + kTsethBytes +
                             kRethBytes + (packet.immediate ? kImmediateBytes : 0);
  const size_t pad = -packet.payload.size() & 3;
  const size_t size = header_size + packet.payload.size() + pad + kIcrcBytes;
  Frame frame = room_for(header_size, size, packet.payload, options_.lends);
  if (!frame) return frame;

  Bth bth;
  bth.opcode = packet.opcode;
  bth.pad = static_cast<uint8_t>(pad);
  bth.destination_qp = to.qpn;
  bth.ack_request = packet.ack_request;
  bth.retransmission = packet.retransmission;
  bth.has_tseth = true;
  bth.psn = packet.psn;
  const uint8_t dscp = !packet.trimmable       ? options_.dscps.no_trim
                       : packet.retransmission ? options_.dscps.trimmable_retx
                                               : options_.dscps.trimmable;
  uint8_t* p = put_head({packet.ev, to, dscp}, path, bth, size, frame.bytes().data());
  p += write_header<kMethTable>(packet.meth, p);
  p += write_header<kTsethTable>(Tseth{tx_timestamp(now), false, 1}, p);
  p += write_header<kRethTable>(packet.reth, p);
  if (packet.immediate) write_header<kImmDtTable>(ImmDt{*packet.immediate}, p);
  finish(frame, header_size, size, packet.payload);
  return frame;
}

Frame PacketMaker::sack(const Seth& seth, EntropyValue ev, Address to) {
  const PathHeaders path = paths_.headers(to.host, ev);
  const size_t header_size = layout_of(path.encapsulation).after_bth + kSethBytes;
  const size_t size = header_size + kIcrcBytes;
  Frame frame = frames_.make(size);
  if (!frame) return frame;
  Bth bth;
  bth.opcode = Opcode::kSack;
  bth.destination_qp = to.qpn;
  bth.psn = seth.cumulative;
  uint8_t* p =
      put_head({ev, to, options_.dscps.control, kEcnNotEct}, path, bth, size, frame.bytes().data());
  p += write_header<kSethTable>(seth, p);
  write_header<kCcStateTable>(seth, p);
  finish(frame, header_size, size, {});
  return frame;
}

Frame PacketMaker::control(Opcode opcode, Psn psn, const Extension& extension, EntropyValue ev,
                           Address to) const {
  MrcFrameSpec spec = address(ev, to);
  // MRC specification §7.4.6: a reliability probe goes where data goes, and may be marked there.
  const bool probe = opcode == Opcode::kProbeRequest;
  spec.dscp = probe ? options_.dscps.no_trim : options_.dscps.control;
  spec.ecn = probe ? kEcnEct0 : kEcnNotEct;
  spec.bth.opcode = opcode;
  spec.bth.psn = psn;
  spec.extension = extension;
  return write(spec, {});
}

Frame PacketMaker::rc_data(const RcPacket& packet, EntropyValue ev, Address to) const {
  MrcFrameSpec spec = address(ev, to);
  spec.dscp = options_.dscps.lossless;
  spec.bth.opcode = packet.opcode;
  spec.bth.psn = packet.psn;
  spec.bth.ack_request = packet.ack_request;
  spec.extension = packet.headers;
  spec.payload_length = packet.payload.size();
  return write(spec, packet.payload);
}

Frame PacketMaker::rc_control(Opcode opcode, Psn psn, const Extension& extension, EntropyValue ev,
                              Address to) const {
  MrcFrameSpec spec = address(ev, to);
  const bool cnp = opcode == Opcode::kCongestionNotification;
  spec.dscp = cnp ? options_.dscps.cnp : options_.dscps.control;
  spec.ecn = cnp ? kEcnEct0 : kEcnNotEct;  // as ConnectX-4 Lx sends a CNP
  spec.bth.opcode = opcode;
  spec.bth.psn = psn;
  if (cnp) spec.bth.variant_reserved = kBecn;
  spec.extension = extension;
  return write(spec, {});
}

Frame PacketMaker::datagram(EntropyValue ev, uint32_t host, size_t payload, bool elided) const {
  MrcFrameSpec spec = address(ev, {host, {}});
  spec.dscp = options_.dscps.no_trim;
  spec.ecn = kEcnNotEct;
  spec.udp_port = kDiscardPort;
  const FrameLayout at = layout_of(spec.encapsulation);
  const size_t size = at.bth + payload;
  // As many bytes as the history of packets looks at.
  Frame frame = frames_.make(elided ? std::min(size, at.after_bth) : size);
  if (!frame) return frame;
  write_datagram(spec, size, frame.bytes());
  frame.set_modelled_size({size});
  return frame;
}

Frame PacketMaker::room_for(size_t header_size, size_t size, ConstMemory payload,
                            bool lends) const {
  const bool headers_only = (payload.elided() || lends) && !payload.empty();
  return frames_.make(headers_only ? header_size : size);
}

void PacketMaker::finish(Frame& frame, size_t header_size, size_t size, ConstMemory payload) const {
  const std::span<uint8_t> bytes = frame.bytes();
  if (bytes.size() == header_size) {
    frame.set_modelled_size({size});
    if (!payload.elided()) {
      frame.lend({payload.data(), static_cast<uint16_t>(payload.size()), options_.icrc});
    }
    return;
  }
  uint8_t* const room = bytes.data() + header_size;
  if (!payload.empty()) std::memcpy(room, payload.data(), payload.size());
  if (options_.icrc) {
    finish_mrc_frame(bytes);
  } else {
    std::fill(room + payload.size(), bytes.data() + bytes.size(), uint8_t{0});
  }
}

Frame PacketMaker::write(const MrcFrameSpec& spec, ConstMemory payload) const {
  const size_t header_size = mrc_header_size(spec), size = mrc_frame_size(spec);
  Frame frame = room_for(header_size, size, payload, false);
  if (!frame) return frame;
  write_mrc_headers(spec, frame.bytes());
  finish(frame, header_size, size, payload);
  return frame;
}

}  // namespace mrclab::endpoint
