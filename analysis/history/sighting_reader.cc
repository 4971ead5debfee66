#include "analysis/history/sighting_reader.h"

#include <algorithm>

#include "analysis/capture/capture_frame.h"
#include "analysis/capture/cut_frame.h"
#include "analysis/capture/record_batches.h"
#include "analysis/history/flow_keys.h"
#include "fabric/packet/pause_frame.h"

namespace mrclab::analysis {
namespace {

constexpr std::string_view kDropSuffix = ":drop";
constexpr size_t kMaxNotes = 32;
/// What a record of one of our captures takes in its file: to make room at once, not again and again.
constexpr uintmax_t kUsualRecordBytes = 200;
/// What captures keep of a frame; watched nodes are not looked at more closely.
constexpr size_t kSeenBytes = 160;

std::span<const uint8_t> seen_part(const Frame& frame) {
  return frame.bytes().first(std::min(kSeenBytes, frame.bytes().size()));
}

/// InfiniBand vol. 1 table 47: the top bits of the syndrome are 0 for an ACK.
bool is_ack(const Aeth& aeth) { return aeth.syndrome >> 5 == 0; }

/// FNV-1a (public domain): enough to tell payloads apart that are not made to collide.
uint32_t sample_of(std::span<const uint8_t> bytes) {
  uint32_t hash = 2166136261u;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 16777619u;
  return hash == 0 ? 1 : hash;
}

}  // namespace

std::optional<EvidenceSeal> SightingReader::add_file(const std::filesystem::path& path,
                                                     const SideBySide& side_by_side) {
  const std::unique_ptr<CaptureReader> reader = CaptureReader::open(path);
  std::error_code unknown;
  const uintmax_t size = std::filesystem::file_size(path, unknown);
  if (!unknown) {
    seen_.frames.reserve(
        std::min<uintmax_t>(seen_.frames.size() + size / kUsualRecordBytes, kMaxSightings));
  }
  try {
    add(*reader, side_by_side);
  } catch (const CaptureError& error) {
    if (seen_.notes.size() < kMaxNotes) seen_.notes.emplace_back(error.what());
    return std::nullopt;
  }
  return reader->seal();
}

void SightingReader::add(CaptureReader& reader, const SideBySide& side_by_side) {
  std::vector<Port> ports;
  const auto count_skipped = [&] { seen_.counters.capture_skipped += reader.counters().skipped(); };
  const auto take = [&](const CaptureRecord& record, std::span<const CaptureInterface> interfaces) {
    while (ports.size() <= record.interface) {
      ports.push_back(resolve_interface(interfaces[ports.size()].name));
    }
    ++seen_.counters.records;
    if (interfaces[record.interface].link_type != kLinkTypeEthernet) {
      ++seen_.counters.unknown_interface;
      return;
    }
    read_record(record, ports[record.interface]);
  };
  try {
    for_each_record(reader, side_by_side, take);
  } catch (const CaptureError&) {
    count_skipped();
    throw;
  }
  count_skipped();
}

SightingReader::Port SightingReader::resolve_interface(const std::string& name) const {
  if (name.ends_with(kDropSuffix)) {
    const auto node = topology_.find_node(name.substr(0, name.size() - kDropSuffix.size()));
    if (!node) return {};
    return {Port::Use::kDrop, {*node, PortId{}}};
  }
  const std::optional<PortRef> port = topology_.find_port(name);
  if (!port) return {};
  const bool host = topology_.node(port->node).role == NodeRole::kHost;
  return {host ? Port::Use::kHostPort : Port::Use::kSwitchPort, *port};
}

std::optional<Sighting::Kind> SightingReader::kind_of(const CaptureRecord& record, const Port& port,
                                                      uint32_t source) const {
  const bool from_here = port.ref.node == topology_.host(source);
  bool outbound = record.direction == CaptureDirection::kOutbound;
  if (record.direction == CaptureDirection::kUnknown) outbound = from_here;
  switch (port.use) {
    case Port::Use::kHostPort: return outbound ? Kind::kEgress : Kind::kIngress;
    case Port::Use::kDrop: return outbound ? Kind::kDropOut : Kind::kDropIn;
    case Port::Use::kSwitchPort:
      if (record.comment.starts_with("trimmed")) return Kind::kTrimmedHere;
      return std::nullopt;
    case Port::Use::kUnknown: break;
  }
  return std::nullopt;
}

uint32_t SightingReader::keep_answer(const MrcPacket& packet) {
  SeenAnswer fields;
  if (const auto* sack = std::get_if<Seth>(&packet.extension)) {
    fields.ev = sack->entropy;
    fields.cumulative = sack->cumulative;
    fields.bitmap_offset = sack->sack_offset;
    fields.bitmap = sack->bitmap;
    fields.trigger = sack->probe_response
                         ? sack->cumulative
                         : sack->cumulative + static_cast<int16_t>(sack->psn_offset_or_probe_id);
  } else if (const auto* nack = std::get_if<Neth>(&packet.extension)) {
    fields.ev = nack->entropy;
    fields.trigger = nack->psn;
    fields.nack_reason = nack->reason;
    fields.is_nack = true;
  } else if (const auto* rc = std::get_if<Aeth>(&packet.extension);
             rc && packet.bth.opcode == Opcode::kRcAcknowledge) {
    // An ACK covers its PSN, a NAK and "receiver not ready" what is before theirs. The way back has the
    // source port of the data's.
    fields.ev = packet.entropy();
    fields.is_nak = !is_ack(*rc);
    fields.is_not_ready = rc->syndrome >> 5 == 1;
    fields.cumulative = packet.bth.psn + (fields.is_nak ? -1 : 0);
    fields.trigger = fields.cumulative;
    fields.is_rc = true;
  } else if (const auto* ack = std::get_if<Aeth>(&packet.extension); ack && is_ack(*ack)) {
    fields.cumulative = packet.bth.psn;
    fields.is_ack = true;
  } else {
    return Attempt::kNone;
  }
  seen_.answers.push_back(fields);
  return static_cast<uint32_t>(seen_.answers.size() - 1);
}

uint32_t SightingReader::keep_placement(const MrcPacket& packet, const Sighting& s) {
  Placement placement;
  if (is_rc_request(packet.bth.opcode)) {
    const auto known = rc_messages_.placement_of(flow_key(s.source, s.destination, s.qp), packet);
    if (!known) return Attempt::kNone;
    placement = *known;
  } else {
    const auto* write = std::get_if<WriteHeaders>(&packet.extension);
    if (write == nullptr || !write->reth || packet.trimmed) return Attempt::kNone;
    placement.va = write->reth->va;
    placement.rkey = write->reth->rkey;
    placement.message_bytes = write->reth->dma_length;
    placement.payload_bytes = static_cast<uint32_t>(packet.payload_length);
    placement.msn = write->meth.msn;
    placement.first = is_first(packet.bth.opcode);
    placement.last = is_last(packet.bth.opcode);
  }
  if (const size_t size = std::min(kPayloadSample, packet.payload_length);
      packet.payload.size() >= size) {
    placement.sample = sample_of(packet.payload.subspan(0, size));
  }
  seen_.placements.push_back(placement);
  return static_cast<uint32_t>(seen_.placements.size() - 1);
}

void SightingReader::read_record(const CaptureRecord& record, const Port& port) {
  if (port.use == Port::Use::kUnknown) {
    ++seen_.counters.unknown_interface;
    return;
  }
  if (is_mac_control(record.bytes)) {
    bool inbound = record.direction == CaptureDirection::kInbound;
    if (record.direction == CaptureDirection::kUnknown && record.bytes.size() >= 12) {
      MacAddress source;
      std::copy_n(record.bytes.begin() + 6, source.size(), source.begin());
      inbound = port.use != Port::Use::kDrop && source != topology_.port(port.ref).mac;
    }
    if (inbound && port.use != Port::Use::kDrop) keep_pause(port.ref, record.t, record.bytes);
    return;
  }
  // The common case of full captures, before any parsing.
  if (port.use == Port::Use::kSwitchPort && !record.comment.starts_with("trimmed")) {
    ++seen_.counters.passing;
    if (record.direction == CaptureDirection::kOutbound) {
      keep_crossing(port.ref, record.t, record.bytes);
    }
    return;
  }
  MrcPacket packet;
  if (const ParseError error = parse_cut_frame(record.bytes, packet); error != ParseError::kNone) {
    ++seen_.counters.not_mrc;
    const bool leaves = record.direction != CaptureDirection::kInbound;
    if (error == ParseError::kNotMrcPort && port.use == Port::Use::kHostPort && leaves) {
      keep_datagram(packet, port.ref.node, record.t, record.original_length);
    }
    return;
  }
  const auto source = host_of_address(topology_, packet.inner.source);
  const auto kind = source ? kind_of(record, port, *source) : std::nullopt;
  if (!kind) {
    ++seen_.counters.unknown_host;
    return;
  }
  Sighting s;
  s.t = record.t;
  s.where = port.ref;
  s.kind = *kind;
  if (port.use == Port::Use::kDrop) {
    const DropComment drop = read_drop_comment(topology_, s.where.node, record.comment);
    s.cause = drop.cause;
    if (drop.side) s.kind = *drop.side == Direction::kEgress ? Kind::kDropOut : Kind::kDropIn;
    if (drop.port) s.where.port = *drop.port;
  }
  keep(packet, s, record.original_length);
}

void SightingReader::keep_crossing(PortRef port, FabricTime t, std::span<const uint8_t> frame) {
  if (!topology_.routing.is_fare()) return;
  MrcPacket packet;
  if (parse_cut_frame(frame, packet) != ParseError::kNone || !carries_data(packet.bth.opcode)) {
    return;
  }
  const auto source = host_of_address(topology_, packet.inner.source);
  const auto destination = host_of_address(topology_, packet.inner.destination);
  if (!source || !destination) return;
  if (seen_.crossings.size() >= kMaxCrossings) {
    ++seen_.counters.over_limit;
    seen_.complete_until = std::min(seen_.complete_until, t);
    return;
  }
  seen_.crossings.push_back({FabricTime::from_ns(t.ns()), port, *source, *destination});
}

void SightingReader::keep_pause(PortRef at, FabricTime t, std::span<const uint8_t> frame) {
  const std::optional<uint16_t> quanta = lossless_quanta(frame);
  if (quanta) add_pause({t, at, *quanta});
}

void SightingReader::add_pause(const PauseSeen& pause) {
  if (seen_.pauses.size() >= kMaxPauses) {
    ++seen_.counters.over_limit;
    seen_.complete_until = std::min(seen_.complete_until, pause.t);
    return;
  }
  seen_.pauses.push_back({FabricTime::from_ns(pause.t.ns()), pause.port, pause.quanta});
}

void SightingReader::add(NodeId node, const PacketRecord& record) {
  if (!record.frame) return;
  ++seen_.counters.records;
  if (record.queue == QueueClass::kPause) {
    const bool arrived =
        record.direction == Direction::kIngress && record.event == PacketEvent::kPassed;
    if (arrived) keep_pause({node, record.port}, record.t, record.frame.bytes());
    return;
  }
  const bool host = topology_.node(node).role == NodeRole::kHost;
  const bool out = record.direction == Direction::kEgress;
  Sighting s;
  if (record.event == PacketEvent::kDropped) {
    s.kind = out ? Kind::kDropOut : Kind::kDropIn;
    s.cause = record.cause;
  } else if (host) {
    s.kind = out ? Kind::kEgress : Kind::kIngress;
  } else if (record.event == PacketEvent::kTrimmed) {
    s.kind = Kind::kTrimmedHere;
  } else {
    ++seen_.counters.passing;
    if (out) keep_crossing({node, record.port}, record.t, seen_part(record.frame));
    return;
  }
  MrcPacket packet;
  const ParseError error = parse_cut_frame(seen_part(record.frame), packet);
  if (error != ParseError::kNone) {
    ++seen_.counters.not_mrc;
    if (error == ParseError::kNotMrcPort && s.kind == Kind::kEgress) {
      keep_datagram(packet, node, FabricTime::from_ns(record.t.ns()),
                    record.frame.modelled_size().value);
    }
    return;
  }
  s.t = FabricTime::from_ns(record.t.ns());
  s.where = {node, record.port};
  keep(packet, s, record.frame.modelled_size().value);
}

void SightingReader::add(Sightings&& more) {
  const auto answers = static_cast<uint32_t>(seen_.answers.size());
  const auto placements = static_cast<uint32_t>(seen_.placements.size());
  // Each list up to its bound: what of it found no room, and what is later, is not told.
  const auto join = [this](auto& all, auto& others, size_t most, auto time_of) {
    const size_t fit = std::min(others.size(), most - std::min(all.size(), most));
    for (size_t i = fit; i < others.size(); ++i) {
      ++seen_.counters.over_limit;
      seen_.complete_until = std::min(seen_.complete_until, time_of(others[i]));
    }
    all.insert(all.end(), others.begin(), others.begin() + static_cast<std::ptrdiff_t>(fit));
  };
  for (Sighting& sighting : more.frames) {
    if (sighting.detail == Attempt::kNone) continue;
    sighting.detail += carries_data(sighting.opcode) ? placements : answers;
  }
  join(seen_.frames, more.frames, kMaxSightings, [](const Sighting& s) { return s.t; });
  join(seen_.pauses, more.pauses, kMaxPauses, [](const PauseSeen& pause) { return pause.t; });
  join(seen_.crossings, more.crossings, kMaxCrossings, [](const Crossing& c) { return c.t; });
  seen_.answers.insert(seen_.answers.end(), more.answers.begin(), more.answers.end());
  seen_.placements.insert(seen_.placements.end(), more.placements.begin(), more.placements.end());
  for (const DatagramBurst& burst : more.bursts) add_burst(burst);
  for (std::string& note : more.notes) {
    if (seen_.notes.size() < kMaxNotes) seen_.notes.push_back(std::move(note));
  }
  seen_.complete_until = std::min(seen_.complete_until, more.complete_until);
  seen_.counters.add(more.counters);
}

void SightingReader::keep_datagram(const MrcPacket& packet, NodeId node, FabricTime t,
                                   uint64_t original_length) {
  const auto source = host_of_address(topology_, packet.inner.source);
  const auto destination = host_of_address(topology_, packet.inner.destination);
  if (!source || !destination || topology_.host(*source) != node) return;
  add_burst({t, t, *source, *destination, 1, wire_length({original_length}).value});
}

/// Part of a burst that is known, where no pause is between them, or a new one.
void SightingReader::add_burst(const DatagramBurst& part) {
  for (auto burst = seen_.bursts.rbegin(); burst != seen_.bursts.rend(); ++burst) {
    const bool same = burst->source == part.source && burst->destination == part.destination;
    if (!same || part.from > burst->until + kBurstPause || part.until + kBurstPause < burst->from) {
      continue;
    }
    burst->from = std::min(burst->from, part.from);
    burst->until = std::max(burst->until, part.until);
    burst->frames += part.frames;
    burst->bytes += part.bytes;
    return;
  }
  if (seen_.bursts.size() < kMaxBursts) seen_.bursts.push_back(part);
}

/// The common end of both feeds. `s` knows when, where and what; the packet says the rest.
void SightingReader::keep(const MrcPacket& packet, Sighting s, uint64_t original_length) {
  const auto source = host_of_address(topology_, packet.inner.source);
  const auto destination = host_of_address(topology_, packet.inner.destination);
  const bool right_place =
      source && destination &&
      (s.kind != Kind::kEgress || s.where.node == topology_.host(*source)) &&
      (s.kind != Kind::kIngress || s.where.node == topology_.host(*destination));
  if (!right_place) {
    ++seen_.counters.unknown_host;
    return;
  }
  // SACKs and data of one host leave it and arrive: only the arrivals of control frames are needed.
  const bool data = carries_data(packet.bth.opcode);
  if (!data && s.kind == Kind::kEgress) return;
  if (seen_.frames.size() >= kMaxSightings) {
    ++seen_.counters.over_limit;
    seen_.complete_until = std::min(seen_.complete_until, s.t);
    return;
  }
  s.start = s.t;
  s.source = *source;
  s.destination = *destination;
  s.qp = packet.bth.destination_qp.value;
  s.psn = packet.bth.psn.value();
  s.ev = packet.entropy().value;
  s.payload = static_cast<uint32_t>(packet.payload_length);
  s.opcode = packet.bth.opcode;
  s.rtx = packet.bth.retransmission;
  s.trimmed = packet.trimmed;
  s.marked = packet.outer.ecn() == kEcnCe;
  if (s.kind == Kind::kEgress) {
    const Link& link = topology_.link(topology_.port(s.where).link);
    s.start = s.t - serialization_time(wire_length({original_length}), link.rate);
  }
  if (const auto* write = std::get_if<WriteHeaders>(&packet.extension); write && write->tseth) {
    s.timed = true;
    s.timestamp = write->tseth->tx_timestamp;
  }
  if (data && (s.kind == Kind::kEgress || s.kind == Kind::kIngress)) {
    s.detail = keep_placement(packet, s);
  } else if (s.kind == Kind::kIngress) {
    const auto* sack = std::get_if<Seth>(&packet.extension);
    s.probe = s.opcode == Opcode::kProbeRequest || (sack != nullptr && sack->probe_response);
    s.detail = keep_answer(packet);
  }
  seen_.frames.push_back(s);
}

}  // namespace mrclab::analysis
