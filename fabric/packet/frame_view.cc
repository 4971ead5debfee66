// The parser: what follows what and how long it is. Where fields stand is header_fields.h.

#include "fabric/packet/frame_view.h"

#include <algorithm>

#include "fabric/packet/header_sizes.h"

namespace mrclab {
namespace {

template <const auto& kTable>
auto decode_header(const uint8_t* p) {
  typename std::remove_cvref_t<decltype(kTable)>::Decoded header;
  read_header<kTable>(p, header);
  return header;
}

Seth decode_seth(const uint8_t* p) {
  Seth seth = decode_header<kSethTable>(p);
  read_header<kCcStateTable>(p + kSethTable.bytes(), seth);
  return seth;
}

/// An IPv4 header in terms of IPv6 (see MrcPacket::outer).
Ipv6Header as_ipv6(const Ipv4Header& v4) {
  Ipv6Header out;
  out.traffic_class = v4.traffic_class;
  out.payload_length = static_cast<uint16_t>(v4.total_length - kIpv4Bytes);
  out.next_header = v4.protocol;
  out.hop_limit = v4.hop_limit;
  out.source = FrameView::mapped_ipv4(v4.source);
  out.destination = FrameView::mapped_ipv4(v4.destination);
  return out;
}

/// ERTH or EETH: a packet with an operation of another kind is not ours.
ParseError checked(EndpointOp op) {
  switch (op) {
    case EndpointOp::kPortStatusUpdate:
    case EndpointOp::kEvProbe: return ParseError::kNone;
  }
  return ParseError::kUnknownOpcode;
}

}  // namespace

/// The one header of an IPv4 packet.
ParseError FrameView::open_ipv4() {
  if (frame_.size() < kEthernetBytes + kIpv4Bytes) return ParseError::kTooShort;
  const uint8_t* const ip = first_ip();
  if (*ip != 0x45) return ParseError::kBadVersion;  // no options
  if (ipv4_checksum(ip) != 0) return ParseError::kBadIpChecksum;
  if (read_member<kIpv4Table, &Ipv4Header::total_length>(ip) < kIpv4Bytes) {
    return ParseError::kLengthMismatch;
  }
  encapsulation_ = Encapsulation::kIpv4;
  reached_ = Reached::kInner;
  const bool fragment = (read_member<kIpv4Table, &Ipv4Header::fragment>(ip) & 0x3FFF) != 0;
  const bool udp = read_member<kIpv4Table, &Ipv4Header::protocol>(ip) == kNextHeaderUdp;
  return udp && !fragment ? ParseError::kNone : ParseError::kNotUdp;
}

/// Everything between Ethernet and UDP.
ParseError FrameView::open_ip() {
  constexpr auto next_header = read_member<kIpv6Table, &Ipv6Header::next_header>;
  if (frame_.size() < kOuterOffset) return ParseError::kTooShort;
  reached_ = Reached::kEthernet;
  const auto ethertype = read_member<kEthernetTable, &EthernetHeader::ethertype>(frame_.data());
  if (ethertype == kEthertypeIpv4) return open_ipv4();
  if (ethertype != kEthertypeIpv6) return ParseError::kNotIpv6;
  if (frame_.size() < kInnerOffset) return ParseError::kTooShort;
  if (frame_[kOuterOffset] >> 4 != 6) return ParseError::kBadVersion;
  reached_ = Reached::kOuter;
  const uint8_t next = next_header(&frame_[kOuterOffset]);
  if (next == kNextHeaderUdp) {
    encapsulation_ = Encapsulation::kIpv6;
    reached_ = Reached::kInner;
    return ParseError::kNone;
  }
  if (next != kNextHeaderIpv6) return ParseError::kNotIpInIp;
  if (frame_.size() < kAfterBthOffset) return ParseError::kTooShort;
  if (frame_[kInnerOffset] >> 4 != 6) return ParseError::kBadVersion;
  reached_ = Reached::kInner;
  return next_header(&frame_[kInnerOffset]) == kNextHeaderUdp ? ParseError::kNone
                                                              : ParseError::kNotUdp;
}

/// The fixed part: Ethernet, IP, UDP; lengths must agree with one another.
ParseError FrameView::open_stack(ParseOptions options) {
  if (const ParseError error = open_ip(); error != ParseError::kNone) return error;
  constexpr auto payload_length_of = read_member<kIpv6Table, &Ipv6Header::payload_length>;
  const bool carried = encapsulation_ == Encapsulation::kSrv6;
  at_ = layout_of(encapsulation_);
  if (frame_.size() < at_.bth) return ParseError::kTooShort;
  reached_ = Reached::kUdp;
  const uint8_t* const udp = frame_.data() + at_.udp;
  const auto port = read_member<kUdpTable, &UdpHeader::destination_port>(udp);
  if (port != kMrcUdpPort && port != kMrcUdpPortAlternate) return ParseError::kNotMrcPort;
  if (frame_.size() < at_.after_bth) return ParseError::kTooShort;
  reached_ = Reached::kPort;
  const size_t udp_length = read_member<kUdpTable, &UdpHeader::length>(udp);
  const size_t ip_length =
      encapsulation_ == Encapsulation::kIpv4
          ? read_member<kIpv4Table, &Ipv4Header::total_length>(first_ip()) - kIpv4Bytes
          : payload_length_of(first_ip());
  original_ = at_.udp + udp_length;
  on_wire_ = (carried ? kInnerOffset : at_.udp) + ip_length;
  available_ = std::min(frame_.size(), on_wire_);
  if ((carried && udp_length != payload_length_of(frame_.data() + at_.ip)) ||
      on_wire_ > original_) {
    return ParseError::kLengthMismatch;
  }
  if (on_wire_ < at_.after_bth) return ParseError::kTruncatedHeaders;
  reached_ = Reached::kLengths;
  trimmed_ = on_wire_ < original_;
  cut_ = frame_.size() < on_wire_;
  return cut_ && !options.allow_cut ? ParseError::kTooShort : ParseError::kNone;
}

/// The payload and its pad: `headers` bytes stand in front of it in the whole packet, and those before
/// `begin` in this one.
ParseError FrameView::take_payload(size_t begin, size_t headers) {
  const size_t padded = original_ - at_.after_bth - headers - kIcrcBytes;
  if (padded % 4 != 0 || pad_ > padded) return ParseError::kBadPad;
  payload_length_ = padded - pad_;
  if (!trimmed_) {
    payload_ = frame_.subspan(begin, std::min(payload_length_, available_ - begin));
  }
  return ParseError::kNone;
}

/// METH, TSETH, RETH, ImmDt and the payload of a write. A trimmed packet keeps METH and TSETH; what
/// is left of RETH is not offered, since nothing protects it and memory must not be touched by it.
ParseError FrameView::open_write() {
  const size_t early = kMethBytes + (has_tseth_ ? kTsethBytes : 0);
  const size_t headers = early + kRethBytes + (has_immediate(opcode_) ? kImmediateBytes : 0);
  const size_t needed = at_.after_bth + (trimmed_ ? early : headers);
  if (available_ < needed) return ParseError::kTruncatedHeaders;  // or on_wire_, which is no less
  if (original_ < at_.after_bth + headers + kIcrcBytes) return ParseError::kLengthMismatch;
  return take_payload(needed, headers);
}

/// RETH, ImmDt and the payload of a request of RC, which no switch trims.
ParseError FrameView::open_rc_request() {
  const bool reth = !is_send(opcode_) && is_first(opcode_);
  const size_t headers = rc_extension_bytes(reth, has_immediate(opcode_));
  const size_t needed = at_.after_bth + headers;
  if (trimmed_ || original_ < needed + kIcrcBytes) return ParseError::kLengthMismatch;
  if (available_ < needed) return ParseError::kTruncatedHeaders;
  return take_payload(needed, headers);
}

/// AETH and the payload of an answer to a READ.
ParseError FrameView::open_rc_response() {
  const size_t needed = at_.after_bth + rc_response_bytes(opcode_);
  if (trimmed_ || original_ < needed + kIcrcBytes) return ParseError::kLengthMismatch;
  if (available_ < needed) return ParseError::kTruncatedHeaders;
  return take_payload(needed, rc_response_bytes(opcode_));
}

/// Everything but writes: one extension header of fixed size, never trimmed, no payload.
ParseError FrameView::open_control() {
  const size_t size = control_extension_bytes(opcode_);
  if (size == 0) return ParseError::kUnknownOpcode;
  if (original_ != at_.after_bth + size + kIcrcBytes || trimmed_) {
    return ParseError::kLengthMismatch;
  }
  if (pad_ != 0) return ParseError::kBadPad;
  if (available_ < at_.after_bth + size) return ParseError::kTruncatedHeaders;
  switch (opcode_) {
    case Opcode::kEndpointRequest: return checked(read_member<kErthTable, &Erth::op>(after_bth()));
    case Opcode::kEndpointResponse: return checked(read_member<kEethTable, &Eeth::op>(after_bth()));
    default: return ParseError::kNone;
  }
}

[[gnu::flatten]] ParseError FrameView::open(std::span<const uint8_t> frame, ParseOptions options) {
  // One by one: a copy of an empty view would be read back before its own stores are done.
  frame_ = frame;
  payload_ = {};
  payload_length_ = 0;
  encapsulation_ = Encapsulation::kSrv6;
  reached_ = Reached::kNothing;
  whole_ = trimmed_ = cut_ = false;
  ParseError error = open_stack(options);
  if (error != ParseError::kNone) return error;
  reached_ = Reached::kBth;
  opcode_ = read_member<kBthTable, &Bth::opcode>(bth());
  pad_ = read_member<kBthTable, &Bth::pad>(bth());
  // The bits that MRC has defined in BTH are reserved in RC's and are not looked at.
  is_rc_ = is_rc(opcode_);
  has_tseth_ = !is_rc_ && read_member<kBthTable, &Bth::has_tseth>(bth());
  error = is_write(opcode_)              ? open_write()
          : is_rc_request(opcode_)       ? open_rc_request()
          : is_rc_read_response(opcode_) ? open_rc_response()
                                         : open_control();
  whole_ = error == ParseError::kNone;
  return error;
}

void FrameView::decode(MrcPacket& packet) const {
  // If the frame has a BTH, the code below writes every member but the extension, so only that is cleared: clearing
  // the whole packet as well took 43 instructions for each packet that a host receives.
  if (reached_ < Reached::kBth) {
    packet = MrcPacket{};
  } else {
    packet.extension = std::monostate{};
  }
  if (reached_ < Reached::kEthernet) return;
  read_header<kEthernetTable>(frame_.data(), packet.ethernet);
  packet.encapsulation = encapsulation_;
  if (reached_ < Reached::kOuter) return;
  if (encapsulation_ == Encapsulation::kIpv4) {
    packet.outer = packet.inner = as_ipv6(decode_header<kIpv4Table>(first_ip()));
  } else {
    read_header<kIpv6Table>(first_ip(), packet.outer);
    if (encapsulation_ == Encapsulation::kIpv6) packet.inner = packet.outer;
  }
  if (reached_ < Reached::kInner) return;
  if (encapsulation_ == Encapsulation::kSrv6) {
    read_header<kIpv6Table>(&frame_[kInnerOffset], packet.inner);
  }
  if (reached_ < Reached::kUdp) return;
  read_header<kUdpTable>(&frame_[at_.udp], packet.udp);
  if (reached_ < Reached::kPort) return;
  if (encapsulation_ == Encapsulation::kIpv4) {
    packet.inner.flow_label = flow_label_of(hashed_ev_ipv4(packet.udp.source_port));
    packet.outer.flow_label = packet.inner.flow_label;
  }
  packet.trimmed = trimmed_;
  packet.cut = cut_;
  if (reached_ < Reached::kBth) return;
  read_header<kBthTable>(bth(), packet.bth);
  if (is_rc_) packet.bth.retransmission = packet.bth.has_tseth = false;
  packet.payload = payload_;
  packet.payload_length = payload_length_;
  read_extension(packet.extension);
}

void FrameView::read_extension(Extension& extension) const {
  const uint8_t* p = after_bth();
  if (is_write(opcode_)) {
    WriteHeaders& write = extension.emplace<WriteHeaders>();
    if (!whole_) return;
    write.meth = meth();
    if (has_tseth_) write.tseth = tseth();
    if (trimmed_) return;
    write.reth = reth();
    p += kMethBytes + (has_tseth_ ? kTsethBytes : 0) + kRethBytes;
    if (has_immediate(opcode_)) write.immediate = decode_header<kImmDtTable>(p).data;
    return;
  }
  if (is_rc_request(opcode_)) {
    RcHeaders& request = extension.emplace<RcHeaders>();
    if (!whole_) return;
    if (!is_send(opcode_) && is_first(opcode_)) {
      request.reth = decode_header<kRethTable>(p);
      p += kRethBytes;
    }
    if (has_immediate(opcode_)) request.immediate = decode_header<kImmDtTable>(p).data;
    return;
  }
  if (!whole_) return;
  switch (opcode_) {
    case Opcode::kRcReadRequest:
      extension = RcHeaders{decode_header<kRethTable>(p), std::nullopt};
      break;
    case Opcode::kRcReadMiddle: extension = RcResponse{}; break;
    case Opcode::kRcReadFirst:
    case Opcode::kRcReadLast:
    case Opcode::kRcReadOnly:
      extension = RcResponse{decode_header<kAethTable>(p), std::nullopt};
      break;
    case Opcode::kRcAtomicAcknowledge:
      extension = RcResponse{decode_header<kAethTable>(p),
                             decode_header<kAtomicAckEthTable>(p + kAethBytes)};
      break;
    case Opcode::kRcCompareSwap:
    case Opcode::kRcFetchAdd: extension = decode_header<kAtomicEthTable>(p); break;
    case Opcode::kAcknowledge:
    case Opcode::kRcAcknowledge: extension = decode_header<kAethTable>(p); break;
    case Opcode::kCongestionNotification: extension = CnpHeader{}; break;
    case Opcode::kSack: extension = decode_seth(p); break;
    case Opcode::kNack: extension = decode_header<kNethTable>(p); break;
    case Opcode::kProbeRequest: extension = decode_header<kPethTable>(p); break;
    case Opcode::kEndpointRequest: extension = decode_header<kErthTable>(p); break;
    case Opcode::kEndpointResponse: extension = decode_header<kEethTable>(p); break;
    default: break;
  }
}

Meth FrameView::meth() const { return decode_header<kMethTable>(after_bth()); }

Reth FrameView::reth() const {
  return decode_header<kRethTable>(after_bth() + kMethBytes + (has_tseth_ ? kTsethBytes : 0));
}

/// Flat, so that what open() finds out need not be stored for decode() to read it back.
[[gnu::flatten]] ParseError parse_mrc_frame(std::span<const uint8_t> frame, MrcPacket& packet,
                                            ParseOptions options) {
  FrameView view;
  const ParseError error = view.open(frame, options);
  view.decode(packet);
  return error;
}

}  // namespace mrclab
