#include "endpoint/nic/packet_maker.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "endpoint/base/sequence.h"
#include "fabric/packet/header_sizes.h"

namespace mrclab::endpoint {

PacketMaker::PacketMaker(FramePool& frames, const PathMapper& paths, uint32_t self,
                         const Options& options)
    : frames_(frames), paths_(paths), self_(self), options_(options), templates_(paths, self) {}

template <class PutExtension>
Frame PacketMaker::make_packet(const Way& way, Bth bth, size_t extension, const Content& content,
                               PutExtension put_extension) {
  const PathHeaders path = paths_.headers(way.to.host, way.ev);
  const HeaderTemplate& headers = templates_.of(path.encapsulation);
  const ConstMemory payload = content.payload;
  bth.destination_qp = way.to.qpn;
  bth.pad = static_cast<uint8_t>(-payload.size() & 3);
  const size_t header_size = headers.size() + extension;
  const size_t size = header_size + payload.size() + bth.pad + kIcrcBytes;
  const bool headers_only = (payload.elided() || content.lent) && !payload.empty();
  Frame frame = frames_.make(headers_only ? header_size : size);
  if (!frame) return frame;
  uint8_t* const out = frame.writable_bytes().data();
  headers.write({.path = path,
                 .destination = paths_.address_in(path.encapsulation, way.to.host),
                 .ev = paths_.on_wire(way.ev),
                 .dscp = way.dscp,
                 .ecn = way.ecn,
                 .size = size,
                 .bth = bth},
                out);
  put_extension(out + headers.size());
  finish(frame, header_size, size, payload);
  return frame;
}

Frame PacketMaker::data(const DataPacket& packet, Address to, FabricTime now, bool fleeting) {
  assert(is_write(packet.opcode) && has_immediate(packet.opcode) == packet.immediate.has_value());
  Bth bth;
  bth.opcode = packet.opcode;
  bth.ack_request = packet.ack_request;
  bth.retransmission = packet.retransmission;
  bth.has_tseth = true;
  bth.psn = packet.psn;
  const uint8_t dscp = !packet.trimmable       ? options_.dscps.no_trim
                       : packet.retransmission ? options_.dscps.trimmable_retx
                                               : options_.dscps.trimmable;
  const size_t extension =
      kMethBytes + kTsethBytes + kRethBytes + (packet.immediate ? kImmediateBytes : 0);
  return make_packet({packet.ev, to, dscp}, bth, extension,
                     {packet.payload, options_.lends && !fleeting}, [&](uint8_t* p) {
                       p += write_header<kMethTable>(packet.meth, p);
                       p += write_header<kTsethTable>(Tseth{tx_timestamp(now), false, 1}, p);
                       p += write_header<kRethTable>(packet.reth, p);
                       if (packet.immediate) {
                         write_header<kImmDtTable>(ImmDt{*packet.immediate}, p);
                       }
                     });
}

Frame PacketMaker::sack(const Seth& seth, EntropyValue ev, Address to) {
  Bth bth;
  bth.opcode = Opcode::kSack;
  bth.psn = seth.cumulative;
  return make_packet({ev, to, options_.dscps.control, kEcnNotEct}, bth, kSethBytes, {},
                     [&seth](uint8_t* p) {
                       p += write_header<kSethTable>(seth, p);
                       write_header<kCcStateTable>(seth, p);
                     });
}

Frame PacketMaker::make_extended(const Way& way, const Bth& bth, const Extension& extension,
                                 const Content& content) {
  return make_packet(way, bth, extension_size(bth.opcode, extension), content,
                     [&](uint8_t* p) { write_extension(bth.opcode, extension, p); });
}

Frame PacketMaker::control(Opcode opcode, Psn psn, const Extension& extension, EntropyValue ev,
                           Address to) {
  Bth bth;
  bth.opcode = opcode;
  bth.psn = psn;
  // MRC specification §7.4.6: a reliability probe goes where data goes, and may be marked there.
  const bool probe = opcode == Opcode::kProbeRequest;
  const Way way = {ev, to, probe ? options_.dscps.no_trim : options_.dscps.control,
                   probe ? kEcnEct0 : kEcnNotEct};
  return make_extended(way, bth, extension, {});
}

Frame PacketMaker::rc_data(const RcPacket& packet, EntropyValue ev, Address to, bool fleeting) {
  Bth bth;
  bth.opcode = packet.opcode;
  bth.psn = packet.psn;
  bth.ack_request = packet.ack_request;
  bth.solicited = packet.solicited;
  // The memory that a READ asks for may be written to before its answer is there.
  const bool lent = options_.lends && !fleeting && !is_rc_response(packet.opcode);
  return make_extended({ev, to, options_.dscps.lossless}, bth, packet.extension,
                       {packet.payload, lent});
}

Frame PacketMaker::rc_control(Opcode opcode, Psn psn, const Extension& extension, EntropyValue ev,
                              Address to) {
  Bth bth;
  bth.opcode = opcode;
  bth.psn = psn;
  const bool cnp = opcode == Opcode::kCongestionNotification;
  if (cnp) bth.variant_reserved = kBecn;
  // A CNP is ECT, as ConnectX-4 Lx sends it.
  const Way way = {ev, to, cnp ? options_.dscps.cnp : options_.dscps.control,
                   cnp ? kEcnEct0 : kEcnNotEct};
  return make_extended(way, bth, extension, {});
}

Frame PacketMaker::datagram(EntropyValue ev, uint32_t host, size_t payload, bool elided,
                            const Forged& forged) const {
  const PathHeaders path = paths_.headers(host, ev);
  MrcFrameSpec spec;
  spec.encapsulation = path.encapsulation;
  spec.source_mac = path.source_mac;
  spec.destination_mac = path.destination_mac;
  spec.outer_source = path.outer_source;
  spec.inner_source = paths_.address_in(path.encapsulation, forged.source.value_or(self_));
  if (forged.source) spec.outer_source = paths_.address(*forged.source);
  spec.inner_destination = paths_.address_in(path.encapsulation, host);
  spec.carrier = forged.carrier.value_or(path.carrier);
  spec.ev = paths_.on_wire(ev);
  spec.dscp = options_.dscps.no_trim;
  spec.ecn = kEcnNotEct;
  spec.udp_port = kDiscardPort;
  const FrameLayout at = layout_of(spec.encapsulation);
  const size_t size = at.bth + payload;
  // As many bytes as the history of packets looks at.
  Frame frame = frames_.make(elided ? std::min(size, at.after_bth) : size);
  if (!frame) return frame;
  write_datagram(spec, size, frame.writable_bytes());
  frame.set_modelled_size({size});
  return frame;
}

void PacketMaker::finish(Frame& frame, size_t header_size, size_t size, ConstMemory payload) const {
  const std::span<uint8_t> bytes = frame.writable_bytes();
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

}  // namespace mrclab::endpoint
