#include "analysis/history/sighting_reader.h"

#include <algorithm>

#include "analysis/capture/open_capture.h"
#include "analysis/capture/record_batches.h"
#include "fabric/neighbours/lldp_frame.h"
#include "fabric/packet/pause_frame.h"
#include "fabric/topology/same_address.h"

namespace mrclab::analysis {
namespace {

constexpr size_t kMaxNotes = 32;
/// What a record of one of our captures takes in its file: to make room at once, not again and again.
constexpr uintmax_t kUsualRecordBytes = 200;
/// What captures keep of a frame; watched nodes are not looked at more closely.
constexpr size_t kSeenBytes = 160;

std::span<const uint8_t> seen_part(const Frame& frame) {
  return frame.bytes().first(std::min(kSeenBytes, frame.bytes().size()));
}

}  // namespace

std::optional<EvidenceSeal> SightingReader::add_file(const std::filesystem::path& path,
                                                     const SideBySide& side_by_side) {
  const std::unique_ptr<CaptureReader> reader = open_capture(path);
  std::error_code unknown;
  const uintmax_t size = std::filesystem::file_size(path, unknown);
  if (!unknown) {
    const auto room = [records = size / kUsualRecordBytes](size_t before) {
      return std::min<uintmax_t>(before + records, kMaxSightings);
    };
    seen_.frames.reserve(room(seen_.frames.size()));
    seen_.placements.reserve(room(seen_.placements.size()));
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
  std::vector<CapturePlace> places;
  const auto count_skipped = [&] { seen_.counters.capture_skipped += reader.counters().skipped(); };
  const auto take = [&](const CaptureRecord& record, std::span<const CaptureInterface> interfaces) {
    while (places.size() <= record.interface) {
      places.push_back(place_named(topology_, interfaces[places.size()].name));
    }
    ++seen_.counters.records;
    if (interfaces[record.interface].link_type != kLinkTypeEthernet) {
      ++seen_.counters.unknown_interface;
      return;
    }
    read_record(record, places[record.interface]);
  };
  try {
    for_each_record(reader, side_by_side, take);
  } catch (const CaptureError&) {
    count_skipped();
    throw;
  }
  count_skipped();
}

Sighting::Kind SightingReader::kind_of(const CaptureRecord& record, const CapturePlace& place,
                                       const RecordNote& note, uint32_t source) const {
  if (place.kind == CapturePlace::Kind::kSwitchPort) return Kind::kTrimmedHere;
  bool outbound = record.direction == CaptureDirection::kOutbound;
  if (record.direction == CaptureDirection::kUnknown) {
    outbound = place.port.node == topology_.host(source);
  }
  if (place.kind == CapturePlace::Kind::kHostPort) return outbound ? Kind::kEgress : Kind::kIngress;
  if (note.side) outbound = *note.side == Direction::kEgress;
  return outbound ? Kind::kDropOut : Kind::kDropIn;
}

void SightingReader::read_record(const CaptureRecord& record, const CapturePlace& place) {
  if (place.kind == CapturePlace::Kind::kUnknown) {
    ++seen_.counters.unknown_interface;
    return;
  }
  const bool drops = place.kind == CapturePlace::Kind::kDrops;
  if (is_mac_control(record.bytes)) {
    bool inbound = record.direction == CaptureDirection::kInbound;
    if (record.direction == CaptureDirection::kUnknown && record.bytes.size() >= 12) {
      MacAddress source;
      std::copy_n(record.bytes.begin() + 6, source.size(), source.begin());
      inbound = !drops && source != topology_.port(place.port).mac;
    }
    if (inbound && !drops) keep_pause(place.port, record.t, record.bytes);
    return;
  }
  if (is_lldp(record.bytes)) return;
  const RecordNote note = note_of(record);
  // The common case of full captures, before any parsing.
  if (place.kind == CapturePlace::Kind::kSwitchPort && note.event != PacketEvent::kTrimmed) {
    ++seen_.counters.passing;
    if (record.direction == CaptureDirection::kOutbound) {
      keep_crossing(place.port, record.t, record.bytes);
    }
    return;
  }
  CutFrame kept;
  if (const ParseError error = kept.open(record.bytes); error != ParseError::kNone) {
    ++seen_.counters.not_mrc;
    const bool leaves = record.direction != CaptureDirection::kInbound;
    if (drops) {
      const bool out = note.side.value_or(Direction::kIngress) == Direction::kEgress;
      count_drop(dropped_at(topology_, place.port.node, note), out, note.cause, kept);
    } else if (error == ParseError::kNotMrcPort && place.kind == CapturePlace::Kind::kHostPort) {
      keep_datagram(kept, place.port.node, leaves, record.t, record.original_length);
    }
    return;
  }
  const std::optional<Hosts> hosts = hosts_of(kept.view());
  if (!hosts) {
    ++seen_.counters.unknown_host;
    return;
  }
  Sighting s;
  s.t = record.t;
  s.where = drops ? dropped_at(topology_, place.port.node, note) : place.port;
  s.kind = kind_of(record, place, note, hosts->source);
  if (drops) s.cause = note.cause;
  keep(kept, *hosts, s, record.original_length);
}

std::optional<SightingReader::Hosts> SightingReader::hosts_of(const FrameView& packet) {
  const auto source = host_of(packet.source());
  const auto destination = host_of(packet.destination());
  if (!source || !destination) return std::nullopt;
  return Hosts{*source, *destination};
}

std::optional<uint32_t> SightingReader::host_of(const Ipv6Address& address) {
  KnownHost& known = known_hosts_[address.back() % known_hosts_.size()];
  if (!known.host || !same_address(known.address, address)) {
    known = {address, host_of_address(topology_, address)};
  }
  return known.host;
}

void SightingReader::keep_crossing(PortRef port, FabricTime t, std::span<const uint8_t> frame) {
  if (!keeps_crossings_) return;
  CutFrame kept;
  if (kept.open(frame) != ParseError::kNone || !is_request(kept.view().opcode())) return;
  const std::optional<Hosts> hosts = hosts_of(kept.view());
  if (!hosts) return;
  const FrameView& packet = kept.view();
  if (!topology_.routing.is_fare() && !is_rc(packet.opcode())) return;
  if (seen_.crossings.size() >= kMaxCrossings) {
    seen_.crossings_until = std::min(seen_.crossings_until, t);
    return;
  }
  seen_.crossings.push_back({FabricTime::from_ns(t.ns()), port, hosts->source, hosts->destination,
                             packet.destination_qp(), packet.psn(), packet.entropy()});
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

void SightingReader::add(NodeId node, bool is_host, const PacketRecord& record) {
  if (!record.frame) return;
  ++seen_.counters.records;
  if (record.queue == QueueClass::kPause) {
    const bool arrived =
        record.direction == Direction::kIngress && record.event == PacketEvent::kPassed;
    if (arrived) keep_pause({node, record.port}, record.t, record.frame.bytes());
    return;
  }
  const bool out = record.direction == Direction::kEgress;
  if (!is_host && record.event == PacketEvent::kPassed) {
    ++seen_.counters.passing;
    if (out && keeps_crossings_) {
      keep_crossing({node, record.port}, record.t, seen_part(record.frame));
    }
    return;
  }
  keep_frame(node, is_host, record);
}

/// At a host, or where it ends or loses its payload.
void SightingReader::keep_frame(NodeId node, bool is_host, const PacketRecord& record) {
  const bool out = record.direction == Direction::kEgress;
  Sighting s;
  if (record.event == PacketEvent::kDropped) {
    s.kind = out ? Kind::kDropOut : Kind::kDropIn;
    s.cause = record.cause;
  } else {
    s.kind = !is_host ? Kind::kTrimmedHere : out ? Kind::kEgress : Kind::kIngress;
  }
  if (seen_.frames.size() >= kMaxSightings) return note_no_room(record.t);
  CutFrame kept;
  const ParseError error = kept.open(seen_part(record.frame));
  if (error != ParseError::kNone) {
    ++seen_.counters.not_mrc;
    if (record.event == PacketEvent::kDropped) {
      count_drop({node, record.port}, out, record.cause, kept);
    } else if (error == ParseError::kNotMrcPort && is_host) {
      keep_datagram(kept, node, out, FabricTime::from_ns(record.t.ns()),
                    record.frame.modelled_size().value);
    }
    return;
  }
  s.t = FabricTime::from_ns(record.t.ns());
  s.where = {node, record.port};
  if (const std::optional<Hosts> hosts = hosts_of(kept.view())) {
    keep(kept, *hosts, s, record.frame.modelled_size().value);
  } else {
    ++seen_.counters.unknown_host;
  }
}

void SightingReader::note_no_room(FabricTime t) {
  ++seen_.counters.over_limit;
  seen_.complete_until = std::min(seen_.complete_until, t);
}

void SightingReader::add(Sightings&& more) {
  const bool nothing_read = seen_.counters.records == 0 && seen_.counters.capture_skipped == 0 &&
                            seen_.frames.empty() && seen_.pauses.empty() && seen_.notes.empty();
  if (nothing_read) {  // gigabytes need not be copied
    seen_ = std::move(more);
    return;
  }
  const auto answers = static_cast<uint32_t>(seen_.answers.size());
  const auto placements = static_cast<uint32_t>(seen_.placements.size());
  // Each list up to its bound: evidence is complete only up to the first entry without room.
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
    sighting.detail += is_request(sighting.opcode) ? placements : answers;
  }
  join(seen_.frames, more.frames, kMaxSightings, [](const Sighting& s) { return s.t; });
  join(seen_.pauses, more.pauses, kMaxPauses, [](const PauseSeen& pause) { return pause.t; });
  for (const Crossing& crossing : more.crossings) {
    if (seen_.crossings.size() < kMaxCrossings) {
      seen_.crossings.push_back(crossing);
    } else {
      seen_.crossings_until = std::min(seen_.crossings_until, crossing.t);
    }
  }
  seen_.crossings_until = std::min(seen_.crossings_until, more.crossings_until);
  seen_.answers.insert(seen_.answers.end(), more.answers.begin(), more.answers.end());
  seen_.placements.insert(seen_.placements.end(), more.placements.begin(), more.placements.end());
  for (const DatagramBurst& burst : more.bursts) add_burst(burst);
  for (std::string& note : more.notes) {
    if (seen_.notes.size() < kMaxNotes) seen_.notes.push_back(std::move(note));
  }
  seen_.complete_until = std::min(seen_.complete_until, more.complete_until);
  seen_.counters.add(more.counters);
  seen_.senders.add(more.senders);
}

/// At a host. Whoever sends it is its sender, whatever address it has.
void SightingReader::keep_datagram(const CutFrame& kept, NodeId node, bool leaves, FabricTime t,
                                   uint64_t original_length) {
  MrcPacket packet;
  kept.decode(packet);
  const auto source = host_of_address(topology_, packet.inner.source);
  const auto destination = host_of_address(topology_, packet.inner.destination);
  if (!source || !destination) return;
  // A mapper's probes, and what its agents and its collector send each other.
  if (*source == *destination || packet.udp.destination_port == kMapperPort) return;
  const uint32_t self = topology_.node(node).index;
  if (!leaves) return seen_.senders.arrived(*source, self, true, t, topology_);
  seen_.senders.left(self, *source, *destination);
  add_burst({t, t, self, *destination, 1, wire_length({original_length}).value});
}

void SightingReader::count_drop(PortRef where, bool out, DropCause cause, const CutFrame& kept) {
  MrcPacket packet;
  kept.decode(packet);
  seen_.senders.dropped(topology_, where, out, cause,
                        host_of_address(topology_, packet.inner.source));
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

/// The common end of both feeds. `s` has time, place and kind; the rest is in the packet.
void SightingReader::keep(const CutFrame& kept, Hosts hosts, Sighting s, uint64_t original_length) {
  const FrameView& packet = kept.view();
  if (s.kind == Kind::kIngress) {
    seen_.senders.arrived(hosts.source, topology_.node(s.where.node).index, false, s.t, topology_);
  } else if (s.kind == Kind::kDropOut || s.kind == Kind::kDropIn) {
    seen_.senders.dropped(topology_, s.where, s.kind == Kind::kDropOut, s.cause, hosts.source);
  }
  const bool right_place =
      (s.kind != Kind::kEgress || s.where.node == topology_.host(hosts.source)) &&
      (s.kind != Kind::kIngress || s.where.node == topology_.host(hosts.destination));
  if (!right_place) {
    ++seen_.counters.unknown_host;
    return;
  }
  // SACKs and data of one host leave it and arrive: only the arrivals of control frames are needed.
  const bool data = is_request(packet.opcode());
  if (!data && s.kind == Kind::kEgress) return;
  if (seen_.frames.size() >= kMaxSightings) return note_no_room(s.t);
  s.start = s.t;
  s.source = hosts.source;
  s.destination = hosts.destination;
  s.qp = packet.destination_qp().value;
  read_headers(packet, s);
  if (s.kind == Kind::kEgress) {
    s.start =
        s.t - serialization_time(wire_length({original_length}), known_ports_.of(s.where).rate);
  }
  if (data && (s.kind == Kind::kEgress || s.kind == Kind::kIngress)) {
    s.detail = keep_placement(kept, s);
  } else if (s.kind == Kind::kIngress) {
    const SeenAnswer answer = answer_in(packet);
    const bool to_host =
        s.opcode == Opcode::kEndpointRequest || s.opcode == Opcode::kEndpointResponse;
    s.probe = answer.probe && !to_host;
    if (answer.kind != SeenAnswer::Kind::kNone) {
      s.detail = static_cast<uint32_t>(seen_.answers.size());
      seen_.answers.push_back(answer);
    }
  }
  seen_.frames.push_back(s);
}

}  // namespace mrclab::analysis
