// Reading captures into observations. How observations are joined to packets is packet_join.cc.

#include "analysis/packet_history.h"

#include <algorithm>
#include <array>

namespace mrclab::analysis {
namespace {

constexpr std::string_view kDropSuffix = ":drop";
constexpr size_t kMaxNotes = 32;
/// All headers of the longest packet, to which a shorter record is padded: of a frame that was lost
/// on a wire only the first 128 bytes exist, which ends inside RETH.
constexpr size_t kHeaderRoom = 160;
/// What a record of one of our captures takes in its file: to make room at once, not again and again.
constexpr uintmax_t kUsualRecordBytes = 200;

DropCause cause_named(std::string_view name) {
  for (uint8_t i = 1; i < kDropCauses; ++i) {
    if (name_of(static_cast<DropCause>(i)) == name) return static_cast<DropCause>(i);
  }
  return DropCause::kMalformed;
}

/// The next word of a comment.
std::string_view take_word(std::string_view& text) {
  const size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const size_t end = std::min(text.find(' ', begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

ParseError parse_record(std::span<const uint8_t> bytes, MrcPacket& packet) {
  const ParseError error = parse_mrc_frame(bytes, packet, {.allow_cut = true});
  if (error != ParseError::kTruncatedHeaders || bytes.size() >= kHeaderRoom) return error;
  std::array<uint8_t, kHeaderRoom> padded{};
  std::copy(bytes.begin(), bytes.end(), padded.begin());
  const ParseError second = parse_mrc_frame(padded, packet, {.allow_cut = true});
  packet.payload = {};  // it pointed into `padded`
  return second;
}

}  // namespace

PacketHistory::PacketHistory(const Topology& topology) : topology_(topology) {}

void PacketHistory::add_file(const std::filesystem::path& path) {
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
  }
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

/// "drop: <cause> [at] <port> [in|out]"
void PacketHistory::read_drop_comment(std::string_view comment, Observation& o) const {
  o.cause = DropCause::kMalformed;
  if (take_word(comment) != "drop:") return;
  o.cause = cause_named(take_word(comment));
  for (std::string_view word = take_word(comment); !word.empty(); word = take_word(comment)) {
    if (word == "in") o.kind = Kind::kDropIn;
    if (word == "out") o.kind = Kind::kDropOut;
    const size_t colon = word.rfind(':');
    if (colon == std::string_view::npos) continue;
    const auto& ports = topology_.node(o.where.node).ports;
    for (uint32_t i = 0; i < ports.size(); ++i) {
      if (ports[i].name == word.substr(colon + 1)) o.where.port = PortId{i};
    }
  }
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
  } else {
    return Attempt::kNone;
  }
  sacks_.push_back(fields);
  return static_cast<uint32_t>(sacks_.size() - 1);
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
  if (parse_record(record.bytes, packet) != ParseError::kNone) {
    ++counters_.not_mrc;
    return;
  }
  const auto source = host_of_address(topology_, packet.inner.source);
  const auto destination = host_of_address(topology_, packet.inner.destination);
  const auto kind = source ? kind_of(record, port, *source) : std::nullopt;
  const bool right_place =
      source && destination && kind &&
      (*kind != Kind::kEgress || port.ref.node == topology_.host(*source)) &&
      (*kind != Kind::kIngress || port.ref.node == topology_.host(*destination));
  if (!right_place) {
    ++counters_.foreign_host;
    return;
  }
  // SACKs and data of one host leave it and arrive: only the arrivals of control frames are needed.
  const bool data = is_write(packet.bth.opcode);
  if (!data && *kind == Kind::kEgress) return;
  if (observations_.size() >= kMaxObservations) {
    ++counters_.over_limit;
    return;
  }
  Observation o;
  o.t = o.start = record.t;
  o.source = *source;
  o.destination = *destination;
  o.qp = packet.bth.destination_qp.value;
  o.psn = packet.bth.psn.value();
  o.ev = packet.entropy().value;
  o.payload = static_cast<uint32_t>(packet.payload_length);
  o.where = port.ref;
  o.kind = *kind;
  o.opcode = packet.bth.opcode;
  o.rtx = packet.bth.retransmission;
  o.trimmed = packet.trimmed;
  if (o.kind == Kind::kEgress) {
    const Link& link = topology_.link(topology_.port(port.ref).link);
    o.start = record.t - serialization_time(wire_length({record.original_length}), link.rate);
  } else if (port.use == Port::Use::kDrop) {
    read_drop_comment(record.comment, o);
  } else if (!data) {
    const auto* sack = std::get_if<Seth>(&packet.extension);
    o.probe = o.opcode == Opcode::kProbeRequest || (sack != nullptr && sack->probe_response);
    o.sack = keep_answer(packet);
  }
  observations_.push_back(o);
}

}  // namespace mrclab::analysis
