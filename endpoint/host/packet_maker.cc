#include "endpoint/host/packet_maker.h"

#include <algorithm>
#include <cstring>

#include "endpoint/base/sequence.h"

namespace mrclab::endpoint {

PacketMaker::PacketMaker(FramePool& frames, const PathMapper& paths, uint32_t self,
                         const Options& options)
    : frames_(frames), paths_(paths), self_(self), options_(options) {}

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

Frame PacketMaker::data(const DataPacket& packet, Address to, FabricTime now) const {
  MrcFrameSpec spec = address(packet.ev, to);
  spec.dscp = !packet.trimmable       ? options_.dscps.no_trim
              : packet.retransmission ? options_.dscps.trimmable_retx
                                      : options_.dscps.trimmable;
  spec.bth.opcode = packet.opcode;
  spec.bth.psn = packet.psn;
  spec.bth.ack_request = packet.ack_request;
  spec.bth.retransmission = packet.retransmission;
  WriteHeaders write_headers;
  write_headers.meth = packet.meth;
  write_headers.tseth = Tseth{tx_timestamp(now), false, 1};
  write_headers.reth = packet.reth;
  write_headers.immediate = packet.immediate;
  spec.extension = write_headers;
  spec.payload_length = packet.payload.size();
  return write(spec, packet.payload, options_.lends);
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

Frame PacketMaker::write(const MrcFrameSpec& spec, ConstMemory payload, bool lends) const {
  const size_t size = mrc_frame_size(spec);
  const bool headers_only = (payload.elided() || lends) && !payload.empty();
  Frame frame = frames_.make(headers_only ? mrc_header_size(spec) : size);
  if (!frame) return frame;
  const std::span<uint8_t> bytes = frame.bytes();
  if (headers_only) {
    write_mrc_headers(spec, bytes);
    frame.set_modelled_size({size});
    if (!payload.elided()) {
      frame.lend({payload.data(), static_cast<uint16_t>(payload.size()), options_.icrc});
    }
    return frame;
  }
  const std::span<uint8_t> room = write_mrc_headers(spec, bytes);
  if (!payload.empty()) std::memcpy(room.data(), payload.data(), payload.size());
  if (options_.icrc) {
    finish_mrc_frame(bytes);
  } else {
    std::fill(room.data() + room.size(), bytes.data() + bytes.size(), uint8_t{0});
  }
  return frame;
}

}  // namespace mrclab::endpoint
