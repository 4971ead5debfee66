#include "fabric/probes/probe_frame.h"

#include <cassert>

#include "fabric/packet/header_fields.h"
#include "fabric/packet/headers.h"
#include "fabric/probes/udp_sum.h"
#include "fabric/topology/ev_path.h"

namespace mrclab {
namespace {

constexpr size_t kOwnBytes = kProbeTable.bytes(), kStampBytes = kStampTable.bytes();
static_assert(kOwnBytes == 24 && kStampBytes == 44);
static_assert(kBthOffset + kOwnBytes <= kTrimmedFrameBytes);
/// What is left of STAMP's: sequence, timestamp, error estimate and session at least.
constexpr size_t kStampHead = 16;
static_assert(kBthOffset + kStampHead <= kTrimmedFrameBytes);

constexpr int64_t kPsPerNs = 1'000, kNsPerSecond = 1'000'000'000;

template <const auto& kTable>
auto header_at(const uint8_t* p) {
  typename std::remove_cvref_t<decltype(kTable)>::Decoded header;
  read_header<kTable>(p, header);
  return header;
}

StampHeader stamp_of(const ProbeTag& tag) {
  StampHeader stamp;
  const int64_t ns = tag.sent.ps() / kPsPerNs;
  stamp.sequence = tag.sequence;
  stamp.seconds = static_cast<uint32_t>(ns / kNsPerSecond);
  stamp.nanoseconds = static_cast<uint32_t>(ns % kNsPerSecond);
  stamp.session = static_cast<uint16_t>(tag.nonce);
  return stamp;
}

}  // namespace

size_t probe_bytes(ProbeForm form) {
  return kBthOffset + (form == ProbeForm::kStamp ? kStampBytes : kOwnBytes);
}

void write_probe(const ProbeFrameSpec& spec, std::span<uint8_t> out) {
  const size_t size = probe_bytes(spec.form);
  assert(out.size() >= size);
  const bool stamp = spec.form == ProbeForm::kStamp;
  MrcFrameSpec frame;
  frame.source_mac = spec.source_mac;
  frame.destination_mac = spec.destination_mac;
  frame.outer_source = frame.inner_source = frame.inner_destination = spec.own_address;
  frame.carrier = spec.carrier;
  frame.dscp = spec.dscp;
  frame.udp_port = stamp ? kStampPort : kProbePort;
  frame.ev = ev_of(
      {spec.probe.plane, spec.probe.kind == ProbeKind::kT0 ? kT0LocalUplink : spec.probe.uplink});
  write_datagram(frame, size, out.first(size));
  uint8_t* const body = out.data() + kBthOffset;
  if (stamp) {
    write_header<kStampTable>(stamp_of(spec.tag), body);
  } else {
    write_header<kProbeTable>(
        ProbeHeader{static_cast<uint8_t>(spec.probe.kind), static_cast<uint8_t>(spec.probe.plane),
                    static_cast<uint16_t>(spec.probe.uplink), spec.tag.sequence, spec.tag.nonce,
                    spec.tag.sent},
        body);
  }
  put_udp_sum(out.first(size));
}

std::optional<SeenProbe> parse_probe(std::span<const uint8_t> frame) {
  // Most frames of a host are no probes, and their lengths or ports show it before anything is copied.
  if (frame.size() < layout_of(Encapsulation::kIpv6).bth + kStampHead) return std::nullopt;
  const auto kind = encapsulation_of(frame);
  if (!kind || *kind == Encapsulation::kIpv4) return std::nullopt;
  const FrameLayout at = layout_of(*kind);
  if (frame.size() < at.bth + kStampHead) return std::nullopt;
  const auto udp = header_at<kUdpTable>(&frame[at.udp]);
  const bool stamp = udp.destination_port == kStampPort;
  if (!stamp && udp.destination_port != kProbePort) return std::nullopt;
  SeenProbe seen;
  seen.form = stamp ? ProbeForm::kStamp : ProbeForm::kOwn;
  const size_t body = stamp ? kStampBytes : kOwnBytes;
  if (udp.length != kUdpBytes + body) return std::nullopt;
  seen.carried = *kind == Encapsulation::kSrv6;
  const auto inner = header_at<kIpv6Table>(&frame[at.ip]);
  const auto outer = seen.carried ? header_at<kIpv6Table>(&frame[kOuterOffset]) : inner;
  seen.outer_destination = outer.destination;
  seen.source = inner.source;
  seen.destination = inner.destination;
  seen.marked = outer.ecn() == kEcnCe;
  // A trimmed frame's outer length, or its only one, is shorter than what its UDP header states.
  const size_t whole = udp.length + (seen.carried ? kIpv6Bytes : 0);
  seen.trimmed = outer.payload_length < whole;
  const size_t present = frame.size() - at.bth;
  if (stamp) {
    const auto header = header_at<kStampTable>(&frame[at.bth]);
    seen.tag.sequence = header.sequence;
    seen.tag.nonce = header.session;
  } else {
    if (present < kOwnBytes || !constants_right<kProbeTable>(&frame[at.bth])) return std::nullopt;
    const auto header = header_at<kProbeTable>(&frame[at.bth]);
    seen.tag = {header.sequence, header.nonce, header.sent};
  }
  if (!seen.trimmed) seen.damaged = present < body || udp_sum(frame, at, udp.length) != 0;
  return seen;
}

}  // namespace mrclab
