#include "fabric/packet/packet_unwrapper.h"

#include <algorithm>

#include "fabric/base/byte_order.h"
#include "fabric/packet/headers.h"

namespace mrclab {
namespace {

constexpr int kMostHeaders = 32;
constexpr uint16_t kSnapFrom = 0x0600;  // below it the field is a length (IEEE 802.3)
constexpr uint16_t kMplsUnicast = 0x8847, kMplsMulticast = 0x8848, kTransparentEthernet = 0x6558,
                   kErspan2 = 0x88BE, kErspan3 = 0x22EB, kRoce1Type = 0x8915, kNshType = 0x894F,
                   kMacsecType = 0x88E5, kMacInMacType = 0x88E7, kPppoeType = 0x8864,
                   kMetadataType = 0x8909;
constexpr uint8_t kIpv4InIp = 4, kIpv6InIp = 41, kUdp = 17, kGreProtocol = 47, kEsp = 50, kAh = 51,
                  kMplsInIp = 137, kEthernetInIp = 143, kNextIbGlobal = 0x1B;

bool is_tag(uint16_t type) {
  return type == 0x8100 || type == 0x88A8 || type == 0x9100 || type == 0x9200 || type == 0x9300;
}

uint16_t at16(std::span<const uint8_t> bytes, size_t at) { return load_be<uint16_t>(&bytes[at]); }

bool is_roce_port(uint16_t port) { return port == kMrcUdpPort || port == kMrcUdpPortAlternate; }

/// 0x0800 or 0x86DD, by the version in front of an IP header.
uint16_t ip_type(std::span<const uint8_t> bytes) {
  return !bytes.empty() && bytes[0] >> 4 == 4 ? kEthertypeIpv4 : kEthertypeIpv6;
}

/// IPv6 headers that stand between IPv6 and its payload, and whose second byte is their length in units of 8.
bool is_extension(uint8_t next) {
  return next == 0 || next == 43 || next == 60 || next == 135 || next == 139 || next == 140;
}

}  // namespace

std::string_view name_of(Layer layer) {
  switch (layer) {
    case Layer::kVlan: return "VLAN tags";
    case Layer::kMacInMac: return "802.1ah";
    case Layer::kSnap: return "LLC/SNAP";
    case Layer::kMetadata: return "Cisco metadata";
    case Layer::kPppoe: return "PPPoE";
    case Layer::kMacsec: return "MACsec without encryption";
    case Layer::kNsh: return "NSH";
    case Layer::kMpls: return "MPLS";
    case Layer::kRoce1: return "RoCE version 1";
    case Layer::kIpv4Options: return "IPv4 options";
    case Layer::kExtensions: return "IPv6 extension headers";
    case Layer::kRouting: return "SRH or another routing header";
    case Layer::kAuthentication: return "AH";
    case Layer::kIpInIp: return "IP in IP";
    case Layer::kEthernetInIp: return "Ethernet in IP";
    case Layer::kGre: return "GRE";
    case Layer::kNvgre: return "NVGRE";
    case Layer::kErspan: return "ERSPAN";
    case Layer::kVxlan: return "VXLAN";
    case Layer::kVxlanGpe: return "VXLAN-GPE";
    case Layer::kGeneve: return "Geneve";
    case Layer::kGtp: return "GTP-U";
  }
  return "unknown";
}

std::span<const uint8_t> PacketUnwrapper::unwrapped(std::span<const uint8_t> frame) {
  hidden_ = Hidden::kNothing;
  layers_ = 0;
  outer_.clear();
  inner_.clear();
  rest_ = frame;
  ethernet_next_ = true;
  for (int headers = 0; headers < kMostHeaders; ++headers) {
    switch (step()) {
      case Step::kOn: continue;
      case Step::kFound: return layers_ == 0 ? frame : assembled();
      case Step::kNotHere:
        // A pause frame behind a tag is one, too.
        if (hidden_ == Hidden::kNothing && layers_ == 1u && inner_.empty()) return assembled();
        layers_ = 0;
        return frame;
    }
  }
  hidden_ = Hidden::kTooDeep;
  layers_ = 0;
  return frame;
}

bool PacketUnwrapper::has(size_t bytes) {
  if (rest_.size() >= bytes) return true;
  hidden_ = Hidden::kCut;
  return false;
}

/// Reads one header.
PacketUnwrapper::Step PacketUnwrapper::step() {
  if (!ethernet_next_) return ethernet_type();
  if (!has(kEthernetBytes)) return Step::kNotHere;
  std::copy_n(rest_.begin(), macs_.size(), macs_.begin());
  ethertype_ = at16(rest_, macs_.size());
  rest_ = rest_.subspan(kEthernetBytes);
  ethernet_next_ = false;
  return Step::kOn;
}

PacketUnwrapper::Step PacketUnwrapper::into_ethernet(Layer layer, size_t skipped) {
  if (!has(skipped)) return Step::kNotHere;
  took(layer);
  rest_ = rest_.subspan(skipped);
  ethernet_next_ = true;
  outer_.clear();
  inner_.clear();
  return Step::kOn;
}

/// `ethertype` 0: IP, whose version is in its first byte.
PacketUnwrapper::Step PacketUnwrapper::into_ethertype(Layer layer, size_t skipped,
                                                      uint16_t ethertype) {
  if (!has(skipped)) return Step::kNotHere;
  took(layer);
  rest_ = rest_.subspan(skipped);
  outer_.clear();
  inner_.clear();
  ethertype_ = ethertype != 0 ? ethertype : ip_type(rest_);
  return Step::kOn;
}

PacketUnwrapper::Step PacketUnwrapper::ethernet_type() {
  if (is_tag(ethertype_)) {
    return has(4) ? into_ethertype(Layer::kVlan, 4, at16(rest_, 2)) : Step::kNotHere;
  }
  switch (ethertype_) {
    case kEthertypeIpv4: return ipv4();
    case kEthertypeIpv6: return ipv6();
    case kMplsUnicast:
    case kMplsMulticast: return mpls();
    case kTransparentEthernet: return into_ethernet(Layer::kGre, 0);
    case kRoce1Type: return roce1();
    case kMacInMacType: return into_ethernet(Layer::kMacInMac, 4);
    case kMetadataType:
      return has(8) ? into_ethertype(Layer::kMetadata, 8, at16(rest_, 6)) : Step::kNotHere;
    case kPppoeType: {  // RFC 2516: 6 bytes, then PPP's protocol
      if (!has(8)) return Step::kNotHere;
      const uint16_t protocol = at16(rest_, 6);
      if (protocol != 0x0021 && protocol != 0x0057) return Step::kNotHere;
      return into_ethertype(Layer::kPppoe, 8, 0);
    }
    case kMacsecType: {  // IEEE 802.1AE 9.3: TCI, SL, PN 4, SCI 8 if its bit is set; E and C are encryption's bits
      if (!has(16)) return Step::kNotHere;
      if ((rest_[0] & 0x0C) != 0) {
        hidden_ = Hidden::kEncrypted;
        return Step::kNotHere;
      }
      const size_t tag = (rest_[0] & 0x20) != 0 ? 14 : 6;
      return into_ethertype(Layer::kMacsec, tag + 2, at16(rest_, tag));
    }
    case kNshType: {  // RFC 8300 section 2.2: length in 4 bytes, next protocol
      if (!has(8)) return Step::kNotHere;
      const size_t length = size_t{rest_[1] & 0x3Fu} * 4;
      const uint8_t next = rest_[3];
      if (length < 8) return Step::kNotHere;
      if (next == 3) return into_ethernet(Layer::kNsh, length);
      if (next == 5) return into_ethertype(Layer::kNsh, length, kMplsUnicast);
      return next == 1 || next == 2 ? into_ethertype(Layer::kNsh, length, 0) : Step::kNotHere;
    }
    default: break;
  }
  if (ethertype_ >= kSnapFrom) return Step::kNotHere;
  constexpr std::array<uint8_t, 6> kSnap{0xAA, 0xAA, 0x03, 0, 0, 0};
  if (rest_.size() < 8 || !std::equal(kSnap.begin(), kSnap.end(), rest_.begin())) {
    return Step::kNotHere;
  }
  return into_ethertype(Layer::kSnap, 8, at16(rest_, 6));
}

/// Labels up to the bottom of the stack. MPLS has no field for the protocol that follows, so the first four bits decide
/// as routers do (RFC 4928): 4 and 6 are IP, zeros begin the control word of a pseudowire (RFC 4385), and else it is
/// Ethernet.
PacketUnwrapper::Step PacketUnwrapper::mpls() {
  size_t at = 0;
  constexpr size_t kMostLabels = 16;
  for (size_t labels = 0;; ++labels, at += 4) {
    if (labels == kMostLabels || !has(at + 5)) return Step::kNotHere;
    if ((rest_[at + 2] & 1) != 0) break;
  }
  at += 4;
  const int version = rest_[at] >> 4;
  if (version == 4 || version == 6) return into_ethertype(Layer::kMpls, at, 0);
  return into_ethernet(Layer::kMpls, version == 0 ? at + 4 : at);
}

/// RoCE version 1 has a global routing header, which is laid out as IPv6 is, and no UDP. It is read as version 2.
PacketUnwrapper::Step PacketUnwrapper::roce1() {
  if (!has(kIpv6Bytes)) return Step::kNotHere;
  if (rest_[6] != kNextIbGlobal) return Step::kNotHere;
  took(Layer::kRoce1);
  inner_.assign(rest_.begin(), rest_.begin() + kIpv6Bytes);
  const auto length = static_cast<uint16_t>(at16(rest_, 4) + kUdpBytes);
  store_be<uint16_t>(&inner_[4], length);
  inner_[6] = kUdp;
  inner_.resize(kIpv6Bytes + kUdpBytes);
  store_be<uint16_t>(&inner_[kIpv6Bytes + 2], kMrcUdpPort);
  store_be<uint16_t>(&inner_[kIpv6Bytes + 4], length);
  rest_ = rest_.subspan(kIpv6Bytes);
  return Step::kFound;
}

PacketUnwrapper::Step PacketUnwrapper::ipv4() {
  if (!has(kIpv4Bytes)) return Step::kNotHere;
  const size_t header = size_t{rest_[0] & 0x0Fu} * 4;
  if (rest_[0] >> 4 != 4 || header < kIpv4Bytes) return Step::kNotHere;
  if (!has(header)) return Step::kNotHere;
  const uint16_t fragment = at16(rest_, 6) & 0x3FFF;
  const uint8_t protocol = rest_[9];
  if ((fragment & 0x1FFF) != 0) {
    hidden_ = Hidden::kFragment;
    return Step::kNotHere;
  }
  size_t taken = header;
  uint8_t next = protocol;
  if (next == kAh) {
    if (!has(header + 2)) return Step::kNotHere;
    next = rest_[header];
    taken += (size_t{rest_[header + 1]} + 2) * 4;
    if (!has(taken)) return Step::kNotHere;
    took(Layer::kAuthentication);
  }
  if (header > kIpv4Bytes) took(Layer::kIpv4Options);
  outer_.clear();
  inner_.assign(rest_.begin(), rest_.begin() + kIpv4Bytes);
  const uint16_t length = at16(rest_, 2);
  if (taken > kIpv4Bytes && length >= taken) {
    uint32_t sum = 0;
    for (size_t i = 0; i < header; i += 2) sum += at16(rest_, i);
    while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
    inner_[0] = 0x45;
    inner_[9] = next;
    store_be<uint16_t>(&inner_[2], static_cast<uint16_t>(length - (taken - kIpv4Bytes)));
    // The new checksum is as right, open or wrong as the one in the record.
    const uint16_t given = at16(rest_, 10);
    store_be<uint16_t>(&inner_[10], 0);
    const uint16_t right = ipv4_checksum(inner_.data());
    const uint16_t wrong = given == right ? static_cast<uint16_t>(~given) : given;
    store_be<uint16_t>(&inner_[10], given == 0 ? 0 : sum == 0xFFFF ? right : wrong);
  }
  rest_ = rest_.subspan(taken);
  if (fragment != 0) {  // the first of several
    if (next == kUdp && rest_.size() >= kUdpBytes && is_roce_port(at16(rest_, 2))) {
      hidden_ = Hidden::kFragment;
    }
    return Step::kNotHere;
  }
  return transport(next);
}

PacketUnwrapper::Step PacketUnwrapper::ipv6() {
  if (!has(kIpv6Bytes)) return Step::kNotHere;
  if (rest_[0] >> 4 != 6) return Step::kNotHere;
  uint8_t next = rest_[6];
  size_t at = kIpv6Bytes;
  bool first_of_several = false;
  for (int extensions = 0; extensions < kMostHeaders; ++extensions) {
    if (is_extension(next) || next == kAh) {
      if (!has(at + 8)) return Step::kNotHere;
      const size_t at_of_header = at;
      took(next == 43    ? Layer::kRouting
           : next == kAh ? Layer::kAuthentication
                         : Layer::kExtensions);
      const size_t units = rest_[at + 1];
      at += next == kAh ? (units + 2) * 4 : (units + 1) * 8;
      next = rest_[at_of_header];
      if (!has(at)) return Step::kNotHere;
      continue;
    }
    if (next != 44) break;
    if (!has(at + 8)) return Step::kNotHere;
    const uint16_t fragment = at16(rest_, at + 2);
    if ((fragment & 0xFFF8) != 0) {
      hidden_ = Hidden::kFragment;
      return Step::kNotHere;
    }
    first_of_several = (fragment & 1) != 0;
    took(Layer::kExtensions);
    next = rest_[at];
    at += 8;
  }
  const size_t taken = at - kIpv6Bytes;
  // Another IPv6 header around this one is a carrier, if none stands around it in turn.
  outer_ = inner_.size() == kIpv6Bytes ? inner_ : std::vector<uint8_t>{};
  inner_.assign(rest_.begin(), rest_.begin() + kIpv6Bytes);
  if (taken > 0) {
    const uint16_t length = at16(rest_, 4);
    store_be<uint16_t>(&inner_[4],
                       length >= taken ? static_cast<uint16_t>(length - taken) : length);
    inner_[6] = next;
    if (!outer_.empty()) {
      const auto outside = load_be<uint16_t>(&outer_[4]);
      if (outside >= taken) {
        store_be<uint16_t>(&outer_[4], static_cast<uint16_t>(outside - taken));
      }
    }
  }
  rest_ = rest_.subspan(at);
  if (first_of_several) {
    if (next == kUdp && rest_.size() >= kUdpBytes && is_roce_port(at16(rest_, 2))) {
      hidden_ = Hidden::kFragment;
    }
    return Step::kNotHere;
  }
  return transport(next);
}

PacketUnwrapper::Step PacketUnwrapper::transport(uint8_t protocol) {
  switch (protocol) {
    case kUdp: return udp();
    case kEsp: hidden_ = Hidden::kEncrypted; return Step::kNotHere;
    case kIpv4InIp: return into_ethertype(Layer::kIpInIp, 0, kEthertypeIpv4);
    case kIpv6InIp:
      // MRC's own encapsulation, which is nothing foreign; anything further around it is.
      if (inner_.size() != kIpv6Bytes || !outer_.empty()) took(Layer::kIpInIp);
      ethertype_ = kEthertypeIpv6;
      return Step::kOn;
    case kGreProtocol: return gre();
    case kMplsInIp: return into_ethertype(Layer::kMpls, 0, kMplsUnicast);
    case kEthernetInIp: return into_ethernet(Layer::kEthernetInIp, 0);
    default: return Step::kNotHere;
  }
}

PacketUnwrapper::Step PacketUnwrapper::udp() {
  constexpr uint16_t kVxlanPort = 4789, kVxlanLinux = 8472, kGpePort = 4790, kGenevePort = 6081,
                     kMplsPort = 6635, kGtpPort = 2152, kIpsecPort = 4500;
  if (!has(kUdpBytes)) return Step::kNotHere;
  const uint16_t port = at16(rest_, 2);
  if (is_roce_port(port)) return Step::kFound;
  const std::span<const uint8_t> body = rest_.subspan(kUdpBytes);
  const auto tunnel = [&](size_t bytes) { return has(kUdpBytes + bytes); };
  switch (port) {
    case kVxlanPort:
    case kVxlanLinux: return into_ethernet(Layer::kVxlan, kUdpBytes + 8);
    case kGpePort: {  // draft-ietf-nvo3-vxlan-gpe: the next protocol is in the fourth byte, if the P bit is set
      if (!tunnel(8)) return Step::kNotHere;
      const uint8_t next = (body[0] & 0x04) != 0 ? body[3] : 3;
      if (next == 3) return into_ethernet(Layer::kVxlanGpe, kUdpBytes + 8);
      if (next == 4) return into_ethertype(Layer::kVxlanGpe, kUdpBytes + 8, kNshType);
      if (next == 5) return into_ethertype(Layer::kVxlanGpe, kUdpBytes + 8, kMplsUnicast);
      return into_ethertype(Layer::kVxlanGpe, kUdpBytes + 8, 0);
    }
    case kGenevePort: {
      if (!tunnel(8)) return Step::kNotHere;
      const size_t skipped = kUdpBytes + 8 + size_t{body[0] & 0x3Fu} * 4;
      const uint16_t type = at16(body, 2);
      return type == kTransparentEthernet ? into_ethernet(Layer::kGeneve, skipped)
                                          : into_ethertype(Layer::kGeneve, skipped, type);
    }
    case kMplsPort: return into_ethertype(Layer::kMpls, kUdpBytes, kMplsUnicast);
    case kGtpPort: {  // 3GPP TS 29.281: version 1, a G-PDU; four more bytes if one of the flags E, S, PN is set
      if (!tunnel(8)) return Step::kNotHere;
      if (body[0] >> 4 != 3 || body[1] != 0xFF) return Step::kNotHere;
      return into_ethertype(Layer::kGtp, kUdpBytes + ((body[0] & 7) != 0 ? 12 : 8), 0);
    }
    case kIpsecPort: {  // RFC 3948: ESP, unless four zeros stand in front of IKE
      if (body.size() >= 4 && load_be<uint32_t>(body.data()) != 0) hidden_ = Hidden::kEncrypted;
      return Step::kNotHere;
    }
    default: return Step::kNotHere;
  }
}

PacketUnwrapper::Step PacketUnwrapper::gre() {
  if (!has(4)) return Step::kNotHere;
  const uint16_t flags = at16(rest_, 0), type = at16(rest_, 2);
  constexpr uint16_t kChecksum = 0x8000, kKey = 0x2000, kSequence = 0x1000, kVersion = 7;
  if ((flags & kVersion) != 0) return Step::kNotHere;
  const size_t header = 4 + ((flags & kChecksum) != 0 ? 4u : 0u) + ((flags & kKey) != 0 ? 4u : 0u) +
                        ((flags & kSequence) != 0 ? 4u : 0u);
  if (!has(header)) return Step::kNotHere;
  if (type == kErspan2 || type == kErspan3) {
    rest_ = rest_.subspan(header);
    return erspan(type, (flags & kSequence) != 0);
  }
  if (type == kTransparentEthernet) {
    const bool nvgre = (flags & kKey) != 0 && (flags & (kChecksum | kSequence)) == 0;
    return into_ethernet(nvgre ? Layer::kNvgre : Layer::kGre, header);
  }
  return into_ethertype(Layer::kGre, header, type);
}

/// Type I has no header and no sequence number, type II one of 8 bytes, type III one of 12, and 8 more if its O bit is set.
PacketUnwrapper::Step PacketUnwrapper::erspan(uint16_t ethertype, bool sequence) {
  if (ethertype == kErspan2) return into_ethernet(Layer::kErspan, sequence ? 8 : 0);
  if (!has(12)) return Step::kNotHere;
  return into_ethernet(Layer::kErspan, (rest_[11] & 1) != 0 ? 20 : 12);
}

std::span<const uint8_t> PacketUnwrapper::assembled() {
  scratch_.assign(macs_.begin(), macs_.end());
  const bool ip = !inner_.empty();
  const std::vector<uint8_t>& first = outer_.empty() ? inner_ : outer_;
  const uint16_t type = !ip ? ethertype_ : ip_type(first);
  scratch_.push_back(static_cast<uint8_t>(type >> 8));
  scratch_.push_back(static_cast<uint8_t>(type));
  scratch_.insert(scratch_.end(), outer_.begin(), outer_.end());
  scratch_.insert(scratch_.end(), inner_.begin(), inner_.end());
  scratch_.insert(scratch_.end(), rest_.begin(), rest_.end());
  return scratch_;
}

}  // namespace mrclab
