#include "fabric/packet/roce_frame.h"

#include <algorithm>

#include "fabric/base/byte_order.h"
#include "fabric/packet/frame_view.h"
#include "fabric/packet/headers.h"

namespace mrclab {
namespace {

constexpr uint8_t kReadRequest = 0x0C, kWriteFirst = 0x06, kWriteOnly = 0x0A, kWriteOnlyImm = 0x0B,
                  kFlush = 0x1C, kAtomicWrite = 0x1D, kReadMiddle = 0x0E;

uint32_t u24(const uint8_t* p) { return load_be<uint32_t>(p) >> 8; }

/// A management datagram (IBTA 13.4.3): class at 1, attribute at 16, data from 24 on. 7 is communication management.
std::optional<CmMessage> cm_in(std::span<const uint8_t> mad) {
  constexpr size_t kAttribute = 16, kData = 24;
  constexpr uint8_t kClass = 7;
  if (mad.size() < kData + 16 || mad[1] != kClass) return std::nullopt;
  CmMessage cm;
  cm.attribute = load_be<uint16_t>(&mad[kAttribute]);
  if (name_of_cm(cm.attribute).empty()) return std::nullopt;
  cm.local_id = load_be<uint32_t>(&mad[kData]);
  cm.remote_id = load_be<uint32_t>(&mad[kData + 4]);
  constexpr uint16_t kReq = 0x10, kRep = 0x13;
  const size_t qp_at = cm.attribute == kReq ? kData + 32 : kData + 12;
  if (cm.attribute != kReq && cm.attribute != kRep) return cm;
  if (mad.size() >= qp_at + 4) cm.local_qp = Qpn{u24(&mad[qp_at])};
  return cm;
}

void read_extended(std::span<const uint8_t> bytes, RoceFrame& out) {
  const IbtaTransport transport = out.transport();
  const uint8_t operation = out.operation();
  size_t at = 0;
  if (transport == IbtaTransport::kRd) at += 4;  // RDETH
  const bool datagram =
      transport == IbtaTransport::kUd || (transport == IbtaTransport::kRd && !out.is_response());
  if (datagram) {
    out.source_qp = Qpn{load_be<uint32_t>(&bytes[at + 4]) & 0xFFFFFF};
    at += 8;
  }
  if (transport == IbtaTransport::kXrc && !out.is_response()) at += 4;  // XRCETH
  if (operation == kFlush) at += 4;                                     // FETH
  if (operation == kReadRequest || operation == kWriteFirst || operation == kWriteOnly ||
      operation == kWriteOnlyImm || operation == kFlush || operation == kAtomicWrite) {
    out.dma_length = load_be<uint32_t>(&bytes[at + 12]);
  }
  if (out.is_response() && operation != kReadMiddle) out.syndrome = bytes[at];
}

}  // namespace

std::string_view name_of_cm(uint16_t attribute) {
  switch (attribute) {
    case 0x10: return "REQ";
    case 0x11: return "MRA";
    case 0x12: return "REJ";
    case 0x13: return "REP";
    case 0x14: return "RTU";
    case 0x15: return "DREQ";
    case 0x16: return "DREP";
    case 0x17: return "SIDR_REQ";
    case 0x18: return "SIDR_REP";
    case 0x19: return "LAP";
    case 0x1A: return "APR";
    default: return "";
  }
}

std::optional<FrameLayout> roce_layout_of(std::span<const uint8_t> frame) {
  const std::optional<Encapsulation> encapsulation = encapsulation_of(frame);
  if (!encapsulation) return std::nullopt;
  const FrameLayout at = layout_of(*encapsulation);
  if (frame.size() < at.after_bth) return std::nullopt;
  const auto port = load_be<uint16_t>(&frame[at.udp + 2]);
  if (port != kMrcUdpPort && port != kMrcUdpPortAlternate) return std::nullopt;
  return at;
}

std::optional<RoceFrame> roce_frame_in(std::span<const uint8_t> frame) {
  const std::optional<FrameLayout> found = roce_layout_of(frame);
  if (!found) return std::nullopt;
  const FrameLayout& at = *found;
  const uint8_t* const bth = &frame[at.bth];
  if (!is_of_ibta(bth[0])) return std::nullopt;
  RoceFrame out;
  const uint8_t* const ip = &frame[at.ip];
  const uint8_t* const first = &frame[kEthernetBytes];
  if (frame[at.ip] >> 4 == 4) {
    std::array<uint8_t, 4> address{};
    std::copy_n(ip + 12, 4, address.begin());
    out.source = FrameView::mapped_ipv4(address);
    std::copy_n(ip + 16, 4, address.begin());
    out.destination = FrameView::mapped_ipv4(address);
    out.hop_limit = ip[8];
    out.traffic_class = ip[1];
  } else {
    std::copy_n(ip + 8, 16, out.source.begin());
    std::copy_n(ip + 24, 16, out.destination.begin());
    out.hop_limit = first[7];
    out.traffic_class = static_cast<uint8_t>(load_be<uint16_t>(first) >> 4);
  }
  out.source_port = load_be<uint16_t>(&frame[at.udp]);
  out.opcode = bth[0];
  const uint32_t pad = bth[1] >> 4 & 3;
  out.qp = Qpn{load_be<uint32_t>(bth + 4) & 0xFFFFFF};
  out.asks_ack = (bth[8] & 0x80) != 0;
  out.psn = Psn{load_be<uint32_t>(bth + 8) & 0xFFFFFF};
  const size_t headers = ibta_opcode(out.opcode).header_bytes;
  const size_t length = load_be<uint16_t>(&frame[at.udp + 4]);
  const size_t others = kUdpBytes + kBthBytes + headers + kIcrcBytes + pad;
  out.payload = static_cast<uint32_t>(length - std::min(length, others));
  out.whole = frame.size() >= at.after_bth + headers;
  if (!out.whole) return out;
  const std::span<const uint8_t> rest = frame.subspan(at.after_bth);
  read_extended(rest, out);
  constexpr uint32_t kManagementQp = 1;
  if (out.transport() == IbtaTransport::kUd && out.qp.value == kManagementQp) {
    out.cm = cm_in(rest.subspan(headers));
  }
  return out;
}

}  // namespace mrclab
