#include "fabric/probes/mapper_message.h"

#include <algorithm>
#include <cassert>
#include <set>

#include "fabric/base/random.h"
#include "fabric/packet/header_fields.h"
#include "fabric/packet/headers.h"
#include "fabric/probes/probe_route.h"
#include "fabric/probes/udp_sum.h"
#include "fabric/topology/ev_path.h"

namespace mrclab {
namespace {

constexpr size_t kMessageHead = kMapperTable.bytes(), kPartBytes = kPartTable.bytes();
constexpr size_t kFatesPerByte = 4;
constexpr uint8_t kReportKind = 0, kListKind = 1;
constexpr double kMostMessageShare = 0.01;
/// Each message is sent so often.
constexpr double kCopies = 2;

size_t body_bytes(uint8_t kind, size_t count) {
  return kind == kReportKind ? (count + kFatesPerByte - 1) / kFatesPerByte : count * kPartBytes;
}

size_t entries_in(const MapperMessage& message) {
  const auto* report = std::get_if<AgentReport>(&message);
  return report != nullptr ? report->fates.size() : std::get<DeniedList>(message).parts.size();
}

std::optional<MapperMessage> parse_body(const MapperHeader& header, std::span<const uint8_t> body) {
  if (header.kind == kReportKind) {
    AgentReport report{header.period, header.list, {}};
    report.fates.reserve(header.count);
    for (size_t i = 0; i < header.count; ++i) {
      report.fates.push_back(
          static_cast<ProbeFate>(body[i / kFatesPerByte] >> 2 * (i % kFatesPerByte) & 3));
    }
    return report;
  }
  DeniedList list{header.list, {}};
  for (size_t i = 0; i < header.count; ++i) {
    PartHeader part;
    read_header<kPartTable>(&body[i * kPartBytes], part);
    if (part.kind >= DeniedPart::kKinds) return std::nullopt;
    list.parts.push_back(
        {static_cast<DeniedPart::Kind>(part.kind), part.plane, part.uplink, part.index});
  }
  return list;
}

}  // namespace

std::vector<Probe> planned_probes(const Topology& topology, uint32_t host, uint64_t period) {
  const ProbeGrid grid = grid_of(topology);
  std::vector<Probe> all;
  for (uint32_t plane = 0; plane < topology.planes; ++plane) {
    for (const Probe& probe : probes_of(grid, topology.mapper, host, plane, period)) {
      all.push_back(probe);
    }
  }
  return all;
}

AgentReport agent_report(const Topology& topology, uint32_t host, const ProbeReport& report,
                         uint64_t list) {
  const auto set_of = [](const std::vector<std::string>& names) {
    return std::set<std::string>(names.begin(), names.end());
  };
  const auto lost = set_of(report.lost), slow = set_of(report.slow), unsent = set_of(report.unsent);
  AgentReport out{report.period, list, {}};
  for (const Probe& probe : planned_probes(topology, host, report.period)) {
    const std::string name = to_string(probe);
    out.fates.push_back(unsent.contains("p" + std::to_string(probe.plane)) ? ProbeFate::kUnsent
                        : lost.contains(name)                              ? ProbeFate::kLost
                        : slow.contains(name)                              ? ProbeFate::kSlow
                                                                           : ProbeFate::kBack);
  }
  return out;
}

uint32_t mapper_session(uint64_t seed) {
  return static_cast<uint32_t>(draw(seed, NodeId{0}, PortId{}, DrawPurpose::kProbeNonce, ~0u));
}

size_t message_bytes(const MapperMessage& message) {
  const uint8_t kind = std::holds_alternative<AgentReport>(message) ? kReportKind : kListKind;
  return kBthOffset + kMessageHead + body_bytes(kind, entries_in(message));
}

void write_message(const MessageFrameSpec& spec, const MapperMessage& message,
                   std::span<uint8_t> out) {
  const size_t size = message_bytes(message);
  assert(out.size() >= size);
  MrcFrameSpec frame;
  frame.source_mac = spec.source_mac;
  frame.destination_mac = spec.destination_mac;
  frame.outer_source = spec.outer_source;
  frame.carrier = spec.carrier;
  frame.inner_source = spec.source;
  frame.inner_destination = spec.destination;
  frame.dscp = spec.dscp;
  frame.ecn = kEcnNotEct;
  frame.udp_port = kMapperPort;
  frame.ev = spec.ev;
  write_datagram(frame, size, out.first(size));
  uint8_t* const body = out.data() + kBthOffset + kMessageHead;
  MapperHeader header;
  header.count = static_cast<uint16_t>(entries_in(message));
  header.session = spec.session;
  if (const auto* report = std::get_if<AgentReport>(&message)) {
    header.kind = kReportKind;
    header.period = report->period;
    header.list = report->list;
    for (size_t i = 0; i < report->fates.size(); ++i) {
      const auto fate = static_cast<uint32_t>(report->fates[i]);
      body[i / kFatesPerByte] |= static_cast<uint8_t>(fate << 2 * (i % kFatesPerByte));
    }
  } else {
    const auto& list = std::get<DeniedList>(message);
    header.kind = kListKind;
    header.list = list.version;
    for (size_t i = 0; i < list.parts.size(); ++i) {
      const DeniedPart& part = list.parts[i];
      write_header<kPartTable>(
          PartHeader{static_cast<uint8_t>(part.kind), part.plane, part.uplink, part.index},
          body + i * kPartBytes);
    }
  }
  write_header<kMapperTable>(header, out.data() + kBthOffset);
  put_udp_sum(out.first(size));
}

std::optional<SeenMessage> parse_message(std::span<const uint8_t> frame) {
  if (frame.size() < layout_of(Encapsulation::kIpv6).bth) return std::nullopt;
  const auto kind = encapsulation_of(frame);
  if (!kind || *kind == Encapsulation::kIpv4) return std::nullopt;
  const FrameLayout at = layout_of(*kind);
  if (frame.size() < at.bth) return std::nullopt;
  UdpHeader udp;
  read_header<kUdpTable>(&frame[at.udp], udp);
  if (udp.destination_port != kMapperPort) return std::nullopt;
  SeenMessage seen;
  seen.carried = *kind == Encapsulation::kSrv6;
  Ipv6Header inner, outer;
  read_header<kIpv6Table>(&frame[at.ip], inner);
  read_header<kIpv6Table>(&frame[seen.carried ? kOuterOffset : at.ip], outer);
  seen.outer_destination = outer.destination;
  seen.source = inner.source;
  seen.destination = inner.destination;
  if (frame.size() < at.bth + kMessageHead || !constants_right<kMapperTable>(&frame[at.bth])) {
    return seen;
  }
  MapperHeader header;
  read_header<kMapperTable>(&frame[at.bth], header);
  seen.session = header.session;
  const size_t length = kMessageHead + body_bytes(header.kind, header.count);
  const bool whole = udp.length == kUdpBytes + length && frame.size() >= at.bth + length;
  if (!whole || header.kind > kListKind || udp_sum(frame, at, udp.length) != 0) return seen;
  if (header.kind == kListKind && header.count > DeniedList::kMostParts) return seen;
  seen.message = parse_body(header, frame.subspan(at.bth + kMessageHead));
  return seen;
}

std::optional<std::string> mapper_message_misfit(const Topology& topology) {
  const size_t fates = size_t{most_probes(grid_of(topology), topology.mapper)} * topology.planes;
  const size_t report = kMessageHead + body_bytes(kReportKind, fates);
  const size_t list = kMessageHead + body_bytes(kListKind, DeniedList::kMostParts);
  if (std::max(report, list) > topology.pmtu) {
    return "a denylist whose messages are longer than a packet of this fabric";
  }
  const double seconds = static_cast<double>(probe_period(topology).ps()) * 1e-12;
  const double bits = static_cast<double>(wire_length({kBthOffset + report}).value) * 8;
  const double share = kCopies * bits * topology.host_count() / topology.planes /
                       (seconds * static_cast<double>(topology.host_rate.bps));
  if (share <= kMostMessageShare) return std::nullopt;
  return "a denylist whose reports take more than 1 % of the collector's port: its mapper needs a "
         "longer period";
}

}  // namespace mrclab
