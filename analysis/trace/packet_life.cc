// Searching the files of a run for one packet. How what was found is joined is packet_walk.cc.

#include "analysis/trace/packet_life.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "analysis/capture/capture_frame.h"
#include "analysis/capture/cut_frame.h"
#include "analysis/capture/open_capture.h"
#include "analysis/history/history_file.h"
#include "fabric/text/json_text.h"
#include "fabric/text/line_file.h"
#include "fabric/text/visible_text.h"

namespace mrclab::analysis {
namespace {

constexpr std::string_view kDropInterface = ":drop";
constexpr size_t kMaxSearchNotes = 32;
/// How far a PSN may be from one that an answer names: MRC's window (specification table 7-4).
constexpr int32_t kWindow = 32'640;
/// AETH syndrome of a NAK "PSN sequence error" (InfiniBand specification, table 47).
constexpr uint8_t kSequenceNak = 0x60;

/// What an answer reports of one PSN; nothing if it names none near it.
std::optional<Answer> answer_about(const MrcPacket& packet, Psn psn) {
  Answer answer;
  answer.opcode = packet.bth.opcode;
  answer.qp = packet.bth.destination_qp;
  if (const auto* nack = std::get_if<Neth>(&packet.extension)) {
    answer.reflected = nack->entropy;
    answer.reason = static_cast<NackReason>(nack->reason);
    answer.triggered = nack->psn == psn;
    if (!answer.triggered) return std::nullopt;
    return answer;
  }
  if (const auto* ack = std::get_if<Aeth>(&packet.extension)) {
    const bool rc = packet.bth.opcode == Opcode::kRcAcknowledge;
    const bool positive = ack->syndrome >> 5 == 0;
    // A NAK of RC, and its "receiver not ready", cover what is before theirs.
    const int32_t behind = packet.bth.psn - psn - (rc && !positive ? 1 : 0);
    answer.covers = (positive || rc) && behind >= 0 && behind < kWindow;
    answer.gap = rc && ack->syndrome == kSequenceNak && packet.bth.psn == psn;
    if (!answer.covers && !answer.gap) return std::nullopt;
    return answer;
  }
  const auto* sack = std::get_if<Seth>(&packet.extension);
  if (sack == nullptr) return std::nullopt;
  const int32_t from_cumulative = psn - sack->cumulative;
  if (from_cumulative <= -kWindow || from_cumulative >= kWindow) return std::nullopt;
  const int32_t bit = from_cumulative - sack->sack_offset;
  const bool in_bitmap = bit >= 0 && bit < 64;
  answer.reflected = sack->entropy;
  answer.covers = from_cumulative <= 0 || (in_bitmap && (sack->bitmap >> bit & 1) != 0);
  answer.triggered = !sack->probe_response &&
                     sack->cumulative + static_cast<int16_t>(sack->psn_offset_or_probe_id) == psn;
  const uint64_t behind = bit < 0 ? sack->bitmap : bit >= 63 ? 0 : sack->bitmap >> (bit + 1);
  answer.gap = !answer.covers && behind != 0;
  if (!answer.covers && !answer.gap && !answer.triggered) return std::nullopt;
  return answer;
}

/// For a void frame (fabric/packet/trailer.h) the headers of the frame that was lost; else the bytes
/// themselves.
std::span<const uint8_t> frame_in(std::span<const uint8_t> bytes) {
  constexpr size_t kVoidHead = kEthernetBytes + 2;
  if (bytes.size() < kVoidHead || bytes[12] != kVoidEthertype >> 8 ||
      bytes[13] != (kVoidEthertype & 0xFF)) {
    return bytes;
  }
  const size_t count = static_cast<size_t>(bytes[kEthernetBytes]) << 8 | bytes[kEthernetBytes + 1];
  return bytes.subspan(kVoidHead, std::min(count, bytes.size() - kVoidHead));
}

std::optional<TimeTrailer> trailer_of(const Topology& topology, std::span<const uint8_t> bytes) {
  const std::optional<size_t> offset = trailer_offset(bytes);
  if (!offset || *offset + kTrailerBytes > bytes.size()) return std::nullopt;
  const auto trailer = parse_trailer(bytes.subspan(*offset));
  if (!trailer || trailer->wire.value >= topology.wires_list.size()) return std::nullopt;
  return trailer;
}

}  // namespace

PacketSearch::PacketSearch(const Topology& topology, std::set<uint32_t> destination_qps, Psn psn)
    : topology_(topology), qps_(std::move(destination_qps)), psn_(psn) {}

PacketSearch::Place PacketSearch::place_of(const std::string& interface) {
  Place place;
  if (interface.ends_with(kDropInterface)) {
    const auto node = topology_.find_node(
        std::string_view(interface).substr(0, interface.size() - kDropInterface.size()));
    if (!node) return place;
    captured_drops_.insert(*node);
    return {true, PortRef{*node, PortId{}}};
  }
  place.port = topology_.find_port(interface);
  if (place.port) {
    captured_ports_.insert(*place.port);
    if (topology_.node(place.port->node).role != NodeRole::kHost) switches_captured_ = true;
  }
  return place;
}

void PacketSearch::add_capture(const std::filesystem::path& path) {
  const std::unique_ptr<CaptureReader> reader = open_capture(path);
  std::vector<Place> places;
  CaptureRecord record;
  try {
    while (reader->next(record)) {
      while (places.size() <= record.interface) {
        places.push_back(place_of(reader->interfaces()[places.size()].name));
      }
      const CaptureInterface& interface = reader->interfaces()[record.interface];
      if (interface.link_type == kLinkTypeEthernet) {
        take(record, places[record.interface]);
      } else {
        ++unplaced_.not_ethernet;
      }
    }
  } catch (const CaptureError& error) {
    if (notes_.size() < kMaxSearchNotes) notes_.emplace_back(error.what());
  }
}

void PacketSearch::take(const CaptureRecord& record, const Place& place) {
  MrcPacket packet;
  if (parse_cut_frame(frame_in(record.bytes), packet) != ParseError::kNone) return;
  const bool data = carries_data(packet.bth.opcode);
  if (data && !qps_.contains(packet.bth.destination_qp.value)) return;
  const auto source = host_of_address(topology_, packet.inner.source);
  const auto destination = host_of_address(topology_, packet.inner.destination);
  if (!source || !destination) {
    unplaced_.other_hosts += data ? 1 : 0;
    return;
  }
  const FlowKey flow{*source, *destination, packet.bth.destination_qp.value};
  std::optional<LifeSighting> sighting = sighting_of(record, place, topology_.host(*source));
  if (!sighting) {
    unplaced_.no_port += data ? 1 : 0;
    return;
  }
  data ? take_data(packet, flow, std::move(*sighting)) : take_answer(packet, flow, *sighting);
}

/// Where and when the packet was seen; empty for an interface that belongs to no port.
std::optional<LifeSighting> PacketSearch::sighting_of(const CaptureRecord& record,
                                                      const Place& place, NodeId source) const {
  LifeSighting s;
  s.t = record.t;
  s.trailer = trailer_of(topology_, record.bytes);
  bool out = record.direction == CaptureDirection::kOutbound;
  s.wire_bytes = wire_length({record.original_length}).value;
  if (place.drop) {
    const DropComment drop = read_drop_comment(topology_, place.port->node, record.comment);
    s.event = PacketEvent::kDropped;
    s.cause = drop.cause;
    out = drop.side ? *drop.side == Direction::kEgress : out;
    s.where = {place.port->node, drop.port.value_or(PortId{})};
  } else if (s.trailer) {
    // Its trailer names the wire that it crossed, whatever the interface is called.
    const Wire& wire = topology_.wire(s.trailer->wire);
    s.where = out ? wire.from : wire.to;
    s.t = out ? s.trailer->end : s.trailer->end + s.trailer->flight;
    s.wire_bytes = wire_length({s.trailer->modelled_size}).value;
    if (s.trailer->lost != DropCause::kNone) {
      s.event = PacketEvent::kDropped;
      s.cause = s.trailer->lost;
    }
  } else if (place.port) {
    s.where = *place.port;
    if (record.direction == CaptureDirection::kUnknown) out = s.where.node == source;
  } else {
    return std::nullopt;
  }
  s.side = out ? Direction::kEgress : Direction::kIngress;
  if (record.comment.starts_with("trimmed")) s.event = PacketEvent::kTrimmed;
  return s;
}

void PacketSearch::take_data(const MrcPacket& packet, FlowKey flow, LifeSighting s) {
  const Psn psn = packet.bth.psn;
  if (!psns_seen_) psns_seen_ = {psn, psn};
  if (psn.before(psns_seen_->first)) psns_seen_->first = psn;
  if (psns_seen_->second.before(psn)) psns_seen_->second = psn;
  if (psn != psn_ || kept_ >= kMaxSightings) return;
  ++kept_;
  s.ev = packet.entropy();
  s.retransmission = packet.bth.retransmission;
  s.carrier = packet.outer.destination;
  s.traffic_class = packet.outer.traffic_class;
  s.trimmed = packet.trimmed;
  s.opcode = packet.bth.opcode;
  s.payload = static_cast<uint32_t>(packet.payload_length);
  if (const auto* write = std::get_if<WriteHeaders>(&packet.extension)) {
    s.msn = write->meth.msn;
    if (write->tseth) s.timestamp = write->tseth->tx_timestamp;
  }
  sightings_[flow].push_back(std::move(s));
}

void PacketSearch::take_answer(const MrcPacket& packet, FlowKey flow, const LifeSighting& s) {
  const auto [from, to, qp] = flow;
  const bool arrived = s.event == PacketEvent::kPassed && s.side == Direction::kIngress &&
                       s.where.node == topology_.host(to);
  if (!arrived || kept_ >= kMaxSightings) return;
  std::optional<Answer> answer = answer_about(packet, psn_);
  if (!answer) return;
  ++kept_;
  answer->t = s.t;
  answer->where = s.where;
  answers_[{to, from}].push_back(*answer);
}

void PacketSearch::add_records(const std::filesystem::path& path) {
  HistoryReader reader = HistoryReader::open(path);
  if (reader.header().streams != stream_count(topology_)) {
    throw std::runtime_error(path.string() + ": it is of another fabric");
  }
  std::vector<std::pair<PortRef, Direction>> places;
  for (const NodeSite& site : topology_.nodes) {
    for (uint32_t p = 0; p < site.ports.size(); ++p) {
      places.emplace_back(PortRef{site.id, PortId{p}}, Direction::kIngress);
      places.emplace_back(PortRef{site.id, PortId{p}}, Direction::kEgress);
    }
  }
  const FabricTime complete = reader.header().complete;
  records_complete_ = records_used_ ? std::min(records_complete_, complete) : complete;
  records_used_ = true;
  while (const auto record = reader.next()) {
    const auto opcode = static_cast<Opcode>(record->opcode);
    if (record->psn != psn_ || !qps_.contains(record->qpn.value) || !carries_data(opcode)) continue;
    const auto& [where, side] = places[record->stream];
    const bool dropped = record->event == PacketEvent::kDropped;
    if (dropped ? captured_drops_.contains(where.node) : captured_ports_.contains(where)) continue;
    if (kept_++ >= kMaxSightings) return;
    LifeSighting s;
    s.where = where;
    s.side = side;
    s.event = record->event;
    s.cause = record->cause;
    s.t = record->t;
    s.from_record = true;
    s.ev = record->ev;
    s.traffic_class = record->traffic_class;
    s.wire_bytes = record->wire_length;
    s.opcode = opcode;
    s.trimmed = topology_.dscps.is_trimmed(record->traffic_class >> 2);
    record_sightings_[record->qpn.value].push_back(std::move(s));
  }
}

void PacketSearch::add_events(const std::filesystem::path& path) {
  LineFile lines(path);
  for (std::string line; lines.next(line);) {
    if (line.find("\"loss_detected\"") == std::string::npos) continue;
    const auto json = parse_json<nlohmann::json>(line);
    try {
      if (json.at("psn").get<int64_t>() != psn_.value()) continue;
      const auto node = topology_.find_node(json.at("node").get<std::string>());
      if (!node || declared_.size() >= kMaxSightings) continue;
      declared_.push_back(
          {*node,
           Qpn{json.at("qp").get<uint32_t>()},
           {FabricTime::from_ps(json.at("t_ps").get<int64_t>()),
            EntropyValue{json.at("ev").get<uint32_t>()}, visible(json.value("cause", ""))}});
    } catch (const nlohmann::json::exception&) {
      continue;  // a line that is not ours
    }
  }
}

/// Adds the answers to the sender, and the sender's reports of losses.
void PacketSearch::add_answers(FoundPacket& packet, std::optional<Qpn> sender_qp) const {
  const auto answers = answers_.find({packet.source, packet.destination});
  const auto sent_on = [&](EntropyValue ev) {
    return std::any_of(packet.sightings.begin(), packet.sightings.end(),
                       [&](const LifeSighting& s) { return s.ev == ev; });
  };
  if (answers != answers_.end()) {
    for (const Answer& answer : answers->second) {
      if (!sender_qp && answer.triggered && sent_on(answer.reflected)) sender_qp = answer.qp;
    }
    for (const Answer& answer : answers->second) {
      if (!sender_qp || answer.qp == *sender_qp) packet.answers.push_back(answer);
    }
  }
  for (const Declared& declared : declared_) {
    const bool same = declared.host == topology_.host(packet.source);
    if (same && (!sender_qp || declared.qp == *sender_qp)) packet.declared.push_back(declared.loss);
  }
}

std::vector<FoundPacket> PacketSearch::found(std::span<const KnownFlow> known) const {
  auto flows = sightings_;
  for (const auto& [qp, records] : record_sightings_) {
    // A record does not name its hosts: captures do, or the scenario and where it left.
    bool captured = false;
    for (auto& [flow, sightings] : flows) {
      if (std::get<2>(flow) != qp) continue;
      sightings.insert(sightings.end(), records.begin(), records.end());
      captured = true;
    }
    for (const KnownFlow& flow : known) {
      if (captured || flow.destination_qp.value != qp) continue;
      const bool left_there = std::any_of(
          records.begin(), records.end(),
          [&](const LifeSighting& s) { return s.where.node == topology_.host(flow.source); });
      if (left_there) flows[{flow.source, flow.destination, qp}] = records;
    }
  }
  std::vector<FoundPacket> packets;
  for (auto& [flow, sightings] : flows) {
    FoundPacket packet;
    packet.psn = psn_;
    packet.source = std::get<0>(flow);
    packet.destination = std::get<1>(flow);
    packet.destination_qp = Qpn{std::get<2>(flow)};
    packet.sightings = std::move(sightings);
    std::optional<Qpn> sender_qp;
    for (const KnownFlow& k : known) {
      if (FlowKey{k.source, k.destination, k.destination_qp.value} == flow) sender_qp = k.sender_qp;
    }
    add_answers(packet, sender_qp);
    packets.push_back(std::move(packet));
  }
  return packets;
}

}  // namespace mrclab::analysis
