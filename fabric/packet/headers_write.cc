// Writes MRC frames. Where fields stand is header_fields.h.

#include <algorithm>
#include <cassert>

#include "fabric/packet/header_sizes.h"
#include "fabric/packet/headers.h"

namespace mrclab {
namespace {

void put_ipv6(uint8_t* p, const MrcFrameSpec& spec, uint8_t next_header, size_t payload_length,
              const Ipv6Address& source, const Ipv6Address& destination) {
  Ipv6Header header;
  header.traffic_class = static_cast<uint8_t>(spec.dscp << 2 | (spec.ecn & 3));
  header.flow_label = flow_label_of(spec.ev);
  header.payload_length = static_cast<uint16_t>(payload_length);
  header.next_header = next_header;
  header.hop_limit = spec.hop_limit;
  header.source = source;
  header.destination = destination;
  write_header<kIpv6Table>(header, p);
}

size_t put_extension(uint8_t* p, const WriteHeaders& w) {
  uint8_t* const begin = p;
  p += write_header<kMethTable>(w.meth, p);
  if (w.tseth) p += write_header<kTsethTable>(*w.tseth, p);
  assert(w.reth && "every write packet carries RETH (MRC paper §2.1)");
  p += write_header<kRethTable>(*w.reth, p);
  if (w.immediate) p += write_header<kImmDtTable>(ImmDt{*w.immediate}, p);
  return static_cast<size_t>(p - begin);
}

size_t put_extension(uint8_t* p, const Seth& s) {
  const size_t seth = write_header<kSethTable>(s, p);
  return seth + write_header<kCcStateTable>(s, p + seth);
}

size_t put_extension(uint8_t* p, const Aeth& a) { return write_header<kAethTable>(a, p); }
size_t put_extension(uint8_t* p, const Neth& n) { return write_header<kNethTable>(n, p); }
size_t put_extension(uint8_t* p, const Peth& h) { return write_header<kPethTable>(h, p); }
size_t put_extension(uint8_t* p, const Erth& e) { return write_header<kErthTable>(e, p); }
size_t put_extension(uint8_t* p, const Eeth& e) { return write_header<kEethTable>(e, p); }
size_t put_extension(uint8_t*, const std::monostate&) { return 0; }
size_t put_extension(uint8_t* p, const RcHeaders& request) {
  uint8_t* const begin = p;
  if (request.reth) p += write_header<kRethTable>(*request.reth, p);
  if (request.immediate) p += write_header<kImmDtTable>(ImmDt{*request.immediate}, p);
  return static_cast<size_t>(p - begin);
}
size_t put_extension(uint8_t* p, const AtomicEth& a) { return write_header<kAtomicEthTable>(a, p); }
size_t put_extension(uint8_t* p, const RcResponse& response) {
  uint8_t* const begin = p;
  if (response.aeth) p += write_header<kAethTable>(*response.aeth, p);
  if (response.original) p += write_header<kAtomicAckEthTable>(*response.original, p);
  return static_cast<size_t>(p - begin);
}
size_t put_extension(uint8_t* p, const CnpHeader&) {
  std::fill_n(p, kCnpBytes, uint8_t{0});
  return kCnpBytes;
}

/// Does the extension belong to the opcode? A caller that mixes them up is broken.
bool matches(Opcode opcode, const Extension& extension) {
  if (const auto* write = std::get_if<WriteHeaders>(&extension)) {
    return is_write(opcode) && has_immediate(opcode) == write->immediate.has_value();
  }
  if (const auto* request = std::get_if<RcHeaders>(&extension)) {
    if (opcode == Opcode::kRcReadRequest) return request->reth && !request->immediate;
    const bool reth = is_rc_request(opcode) && !is_send(opcode) && is_first(opcode);
    return is_rc_request(opcode) && has_immediate(opcode) == request->immediate.has_value() &&
           reth == request->reth.has_value();
  }
  if (const auto* response = std::get_if<RcResponse>(&extension)) {
    return is_rc_response(opcode) &&
           response->aeth.has_value() == (opcode != Opcode::kRcReadMiddle) &&
           response->original.has_value() == (opcode == Opcode::kRcAtomicAcknowledge);
  }
  switch (opcode) {
    case Opcode::kRcCompareSwap:
    case Opcode::kRcFetchAdd: return std::holds_alternative<AtomicEth>(extension);
    case Opcode::kAcknowledge:
    case Opcode::kRcAcknowledge: return std::holds_alternative<Aeth>(extension);
    case Opcode::kCongestionNotification: return std::holds_alternative<CnpHeader>(extension);
    case Opcode::kSack: return std::holds_alternative<Seth>(extension);
    case Opcode::kNack: return std::holds_alternative<Neth>(extension);
    case Opcode::kProbeRequest: return std::holds_alternative<Peth>(extension);
    case Opcode::kEndpointRequest: return std::holds_alternative<Erth>(extension);
    case Opcode::kEndpointResponse: return std::holds_alternative<Eeth>(extension);
    default: return false;
  }
}

void put_ipv4(uint8_t* p, const MrcFrameSpec& spec, size_t total_length) {
  Ipv4Header header;
  header.traffic_class = static_cast<uint8_t>(spec.dscp << 2 | (spec.ecn & 3));
  header.total_length = static_cast<uint16_t>(total_length);
  header.hop_limit = spec.hop_limit;
  header.protocol = kNextHeaderUdp;
  std::copy(spec.inner_source.begin() + 12, spec.inner_source.end(), header.source.begin());
  std::copy(spec.inner_destination.begin() + 12, spec.inner_destination.end(),
            header.destination.begin());
  write_header<kIpv4Table>(header, p);
  header.checksum = ipv4_checksum(p);
  write_header<kIpv4Table>(header, p);
}

/// Ethernet, IP and UDP of a frame of `size` bytes.
void put_stack(const MrcFrameSpec& spec, size_t size, uint8_t* p) {
  const FrameLayout at = layout_of(spec.encapsulation);
  const bool ipv4 = spec.encapsulation == Encapsulation::kIpv4;
  write_header<kEthernetTable>(
      EthernetHeader{spec.destination_mac, spec.source_mac, ipv4 ? kEthertypeIpv4 : kEthertypeIpv6},
      p);
  if (spec.encapsulation == Encapsulation::kSrv6) {
    put_ipv6(p + kOuterOffset, spec, kNextHeaderIpv6, size - kInnerOffset, spec.outer_source,
             spec.carrier);
  }
  if (ipv4) {
    put_ipv4(p + at.ip, spec, size - at.ip);
  } else {
    put_ipv6(p + at.ip, spec, kNextHeaderUdp, size - at.udp, spec.inner_source,
             spec.inner_destination);
  }
  write_header<kUdpTable>(
      UdpHeader{source_port_of(spec.ev), spec.udp_port, static_cast<uint16_t>(size - at.udp), 0},
      p + at.udp);
}

}  // namespace

size_t extension_size(Opcode opcode, const Extension& extension) {
  if (const auto* request = std::get_if<RcHeaders>(&extension)) {
    return rc_extension_bytes(request->reth.has_value(), request->immediate.has_value());
  }
  if (is_rc_read_response(opcode)) return rc_response_bytes(opcode);
  const auto* write = std::get_if<WriteHeaders>(&extension);
  if (write == nullptr) return control_extension_bytes(opcode);
  return kMethBytes + kRethBytes + (write->tseth ? kTsethBytes : 0) +
         (write->immediate ? kImmediateBytes : 0);
}

size_t write_extension(Opcode opcode, const Extension& extension, uint8_t* out) {
  assert(matches(opcode, extension));
  static_cast<void>(opcode);
  return std::visit([out](const auto& header) { return put_extension(out, header); }, extension);
}

void write_datagram(const MrcFrameSpec& spec, size_t size, std::span<uint8_t> out) {
  const size_t headers = layout_of(spec.encapsulation).bth;
  assert(size >= headers && size - kEthernetBytes <= 0xFFFF && out.size() >= headers);
  put_stack(spec, size, out.data());
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(headers), out.end(), uint8_t{0});
}

}  // namespace mrclab
