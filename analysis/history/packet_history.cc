// Reading captures into observations. How observations are joined to packets is packet_join.cc.

#include "analysis/history/packet_history.h"

#include <algorithm>

#include "analysis/capture/capture_frame.h"
#include "analysis/capture/cut_frame.h"

namespace mrclab::analysis {
namespace {

constexpr std::string_view kDropSuffix = ":drop";
constexpr size_t kMaxNotes = 32;
/// What a record of one of our captures takes in its file: to make room at once, not again and again.
constexpr uintmax_t kUsualRecordBytes = 200;
/// What captures keep of a frame; watched nodes are not looked at more closely.
constexpr size_t kSeenBytes = 160;

/// InfiniBand vol. 1 table 47: the top bits of the syndrome are 0 for an ACK.
bool is_ack(const Aeth& aeth) { return aeth.syndrome >> 5 == 0; }

/// FNV-1a (public domain): enough to tell payloads apart that are not made to collide.
uint32_t sample_of(std::span<const uint8_t> bytes) {
  uint32_t hash = 2166136261u;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 16777619u;
  return hash == 0 ? 1 : hash;
}

}  // namespace

PacketHistory::PacketHistory(const Topology& topology) : topology_(topology) {}

std::optional<EvidenceSeal> PacketHistory::add_file(const std::filesystem::path& path) {
  const std::unique_ptr<CaptureReader> reader = CaptureReader::open(path);
  std::error_code unknown;
  const uintmax_t size = std::filesystem::file_size(path, unknown);
  if (!unknown) {
    observations_.reserve(
        std::min<uintmax_t>(observations_.size() + size / kUsualRecordBytes, kMaxObservations));
  }
  try {
    add(*reader);
  } catch (const CaptureError& error) {
    if (notes_.size() < kMaxNotes) notes_.emplace_back(error.what());
    return std::nullopt;
  }
  return reader->seal();
}

void PacketHistory::add(CaptureReader& reader) {
  std::vector<Port> ports;
  CaptureRecord record;
  const auto count_skipped = [&] { counters_.capture_skipped += reader.counters().skipped(); };
  try {
    while (reader.next(record)) {
      while (ports.size() <= record.interface) {
        ports.push_back(resolve_interface(reader.interfaces()[ports.size()].name));
      }
      ++counters_.records;
      if (reader.interfaces()[record.interface].link_type != kLinkTypeEthernet) {
        ++counters_.unknown_interface;
        continue;
      }
      observe(record, ports[record.interface]);
    }
  } catch (const CaptureError&) {
    count_skipped();
    throw;
  }
  count_skipped();
}

PacketHistory::Port PacketHistory::resolve_interface(const std::string& name) const {
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

std::optional<PacketHistory::Kind> PacketHistory::kind_of(const CaptureRecord& record,
                                                          const Port& port, uint32_t source) const {
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

uint32_t PacketHistory::keep_answer(const MrcPacket& packet) {
  SackFields fields;
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
  } else if (const auto* ack = std::get_if<Aeth>(&packet.extension); ack && is_ack(*ack)) {
    fields.cumulative = packet.bth.psn;
    fields.is_ack = true;
  } else {
    return Attempt::kNone;
  }
  sacks_.push_back(fields);
  return static_cast<uint32_t>(sacks_.size() - 1);
}

uint32_t PacketHistory::keep_placement(const MrcPacket& packet) {
  const auto* write = std::get_if<WriteHeaders>(&packet.extension);
  if (write == nullptr || !write->reth || packet.trimmed) return Attempt::kNone;
  Placement placement;
  placement.va = write->reth->va;
  placement.rkey = write->reth->rkey;
  placement.message_bytes = write->reth->dma_length;
  placement.payload_bytes = static_cast<uint32_t>(packet.payload_length);
  placement.msn = write->meth.msn;
  const Opcode opcode = packet.bth.opcode;
  placement.first = opcode == Opcode::kWriteFirst || opcode == Opcode::kWriteOnly ||
                    opcode == Opcode::kWriteOnlyImm;
  placement.last = is_last(opcode);
  if (const size_t size = std::min(kPayloadSample, packet.payload_length);
      packet.payload.size() >= size) {
    placement.sample = sample_of(packet.payload.subspan(0, size));
  }
  placements_.push_back(placement);
  return static_cast<uint32_t>(placements_.size() - 1);
}

void PacketHistory::observe(const CaptureRecord& record, const Port& port) {
  if (port.use == Port::Use::kUnknown) {
    ++counters_.unknown_interface;
    return;
  }
  // The common case of full captures, before any parsing.
  if (port.use == Port::Use::kSwitchPort && !record.comment.starts_with("trimmed")) {
    ++counters_.passing;
    return;
  }
  MrcPacket packet;
  if (const ParseError error = parse_cut_frame(record.bytes, packet); error != ParseError::kNone) {
    ++counters_.not_mrc;
    const bool leaves = record.direction != CaptureDirection::kInbound;
    if (error == ParseError::kNotMrcPort && port.use == Port::Use::kHostPort && leaves) {
      keep_foreign(packet, port.ref.node, record.t, record.original_length);
    }
    return;
  }
  const auto source = host_of_address(topology_, packet.inner.source);
  const auto kind = source ? kind_of(record, port, *source) : std::nullopt;
  if (!kind) {
    ++counters_.foreign_host;
    return;
  }
  Observation o;
  o.t = record.t;
  o.where = port.ref;
  o.kind = *kind;
  if (port.use == Port::Use::kDrop) {
    const DropComment drop = read_drop_comment(topology_, o.where.node, record.comment);
    o.cause = drop.cause;
    if (drop.side) o.kind = *drop.side == Direction::kEgress ? Kind::kDropOut : Kind::kDropIn;
    if (drop.port) o.where.port = *drop.port;
  }
  keep(packet, o, record.original_length);
}

void PacketHistory::add(NodeId node, const PacketRecord& record) {
  if (!record.frame) return;
  ++counters_.records;
  const bool host = topology_.node(node).role == NodeRole::kHost;
  const bool out = record.direction == Direction::kEgress;
  Observation o;
  if (record.event == PacketEvent::kDropped) {
    o.kind = out ? Kind::kDropOut : Kind::kDropIn;
    o.cause = record.cause;
  } else if (host) {
    o.kind = out ? Kind::kEgress : Kind::kIngress;
  } else if (record.event == PacketEvent::kTrimmed) {
    o.kind = Kind::kTrimmedHere;
  } else {
    ++counters_.passing;
    return;
  }
  const std::span<const uint8_t> bytes = record.frame.bytes();
  MrcPacket packet;
  const ParseError error =
      parse_cut_frame(bytes.subspan(0, std::min(kSeenBytes, bytes.size())), packet);
  if (error != ParseError::kNone) {
    ++counters_.not_mrc;
    if (error == ParseError::kNotMrcPort && o.kind == Kind::kEgress) {
      keep_foreign(packet, node, FabricTime::from_ns(record.t.ns()),
                   record.frame.modelled_size().value);
    }
    return;
  }
  o.t = FabricTime::from_ns(record.t.ns());
  o.where = {node, record.port};
  keep(packet, o, record.frame.modelled_size().value);
}

void PacketHistory::keep_foreign(const MrcPacket& packet, NodeId node, FabricTime t,
                                 uint64_t original_length) {
  const auto source = host_of_address(topology_, packet.inner.source);
  const auto destination = host_of_address(topology_, packet.inner.destination);
  if (!source || !destination || topology_.host(*source) != node) return;
  const uint64_t bytes = wire_length({original_length}).value;
  for (auto burst = bursts_.rbegin(); burst != bursts_.rend(); ++burst) {
    const bool same = burst->source == *source && burst->destination == *destination;
    if (!same || t > burst->until + kBurstPause || t + kBurstPause < burst->from) continue;
    burst->from = std::min(burst->from, t);
    burst->until = std::max(burst->until, t);
    ++burst->frames;
    burst->bytes += bytes;
    return;
  }
  if (bursts_.size() < kMaxBursts) bursts_.push_back({t, t, *source, *destination, 1, bytes});
}

void PacketHistory::leave_out(FabricTime t) {
  ++counters_.over_limit;
  complete_ = std::min(complete_, t);
}

/// The common end of both feeds. `o` knows when, where and what; the packet says the rest.
void PacketHistory::keep(const MrcPacket& packet, Observation o, uint64_t original_length) {
  const auto source = host_of_address(topology_, packet.inner.source);
  const auto destination = host_of_address(topology_, packet.inner.destination);
  const bool right_place =
      source && destination &&
      (o.kind != Kind::kEgress || o.where.node == topology_.host(*source)) &&
      (o.kind != Kind::kIngress || o.where.node == topology_.host(*destination));
  if (!right_place) {
    ++counters_.foreign_host;
    return;
  }
  // SACKs and data of one host leave it and arrive: only the arrivals of control frames are needed.
  const bool data = is_write(packet.bth.opcode);
  if (!data && o.kind == Kind::kEgress) return;
  if (observations_.size() >= kMaxObservations) {
    return leave_out(o.t);
  }
  o.start = o.t;
  o.source = *source;
  o.destination = *destination;
  o.qp = packet.bth.destination_qp.value;
  o.psn = packet.bth.psn.value();
  o.ev = packet.entropy().value;
  o.payload = static_cast<uint32_t>(packet.payload_length);
  o.opcode = packet.bth.opcode;
  o.rtx = packet.bth.retransmission;
  o.trimmed = packet.trimmed;
  o.marked = packet.outer.ecn() == kEcnCe;
  if (o.kind == Kind::kEgress) {
    const Link& link = topology_.link(topology_.port(o.where).link);
    o.start = o.t - serialization_time(wire_length({original_length}), link.rate);
  }
  if (const auto* write = std::get_if<WriteHeaders>(&packet.extension); write && write->tseth) {
    o.timed = true;
    o.timestamp = write->tseth->tx_timestamp;
  }
  if (data && (o.kind == Kind::kEgress || o.kind == Kind::kIngress)) {
    o.detail = keep_placement(packet);
  } else if (o.kind == Kind::kIngress) {
    const auto* sack = std::get_if<Seth>(&packet.extension);
    o.probe = o.opcode == Opcode::kProbeRequest || (sack != nullptr && sack->probe_response);
    o.detail = keep_answer(packet);
  }
  observations_.push_back(o);
}

}  // namespace mrclab::analysis
