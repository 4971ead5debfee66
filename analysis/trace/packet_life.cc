// Searching the files of a run for one packet. How what was found is joined is packet_walk.cc.

#include "analysis/trace/packet_life.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "analysis/capture/cut_frame.h"
#include "analysis/capture/open_capture.h"
#include "analysis/history/event_history.h"
#include "analysis/history/history_file.h"
#include "fabric/history/event_text.h"
#include "fabric/node/event_kind.h"
#include "fabric/text/json_text.h"
#include "fabric/text/line_file.h"
#include "fabric/text/visible_text.h"

namespace mrclab::analysis {
namespace {

constexpr size_t kMaxSearchNotes = 32;
/// How far a PSN may be from one that an answer names: MRC's window (specification table 7-4).
constexpr int32_t kWindow = 32'640;

/// What an answer reports of one PSN; nothing if it names none near it.
std::optional<Answer> answer_about(const SeenAnswer& seen, Psn psn) {
  using AnswerKind = SeenAnswer::Kind;
  Answer answer;
  if (!seen.is_rc()) answer.reflected = seen.ev;
  const int32_t from_cumulative = psn - seen.cumulative;
  if (seen.kind == AnswerKind::kNack) {
    answer.reason = static_cast<NackReason>(seen.nack_reason);
    answer.triggered = seen.trigger == psn;
  } else if (seen.kind == AnswerKind::kAck || seen.is_rc()) {
    answer.covers = from_cumulative <= 0 && from_cumulative > -kWindow;
    answer.gap = seen.kind == AnswerKind::kRcSequenceNak && from_cumulative == 1;
  } else if (seen.kind == AnswerKind::kSack && from_cumulative > -kWindow &&
             from_cumulative < kWindow) {
    const int32_t bit = from_cumulative - seen.bitmap_offset;
    const bool in_bitmap = bit >= 0 && bit < 64;
    answer.covers = from_cumulative <= 0 || (in_bitmap && (seen.bitmap >> bit & 1) != 0);
    answer.triggered = !seen.probe && seen.trigger == psn;
    const uint64_t behind = bit < 0 ? seen.bitmap : bit >= 63 ? 0 : seen.bitmap >> (bit + 1);
    answer.gap = !answer.covers && behind != 0;
  }
  if (!answer.covers && !answer.gap && !answer.triggered) return std::nullopt;
  return answer;
}

/// The trailer of a frame of this fabric.
std::optional<TimeTrailer> trailer_in(const Topology& topology, std::span<const uint8_t> frame) {
  const std::optional<TimeTrailer> trailer = trailer_of(frame);
  return trailer && trailer->wire.value < topology.all_wires().size() ? trailer : std::nullopt;
}

}  // namespace

PacketSearch::PacketSearch(const Topology& topology, std::set<uint32_t> destination_qps, Psn psn)
    : topology_(topology), qps_(std::move(destination_qps)), psn_(psn) {}

void PacketSearch::note_captured(const CapturePlace& place) {
  using PlaceKind = CapturePlace::Kind;
  if (place.kind == PlaceKind::kDrops) captured_drops_.insert(place.port.node);
  if (place.kind == PlaceKind::kHostPort || place.kind == PlaceKind::kSwitchPort) {
    captured_ports_.insert(place.port);
  }
  if (place.kind == PlaceKind::kSwitchPort) switches_captured_ = true;
}

void PacketSearch::add_capture(const std::filesystem::path& path) {
  const std::unique_ptr<CaptureReader> reader = open_capture(path);
  std::vector<CapturePlace> places;
  CaptureRecord record;
  try {
    while (reader->next(record)) {
      while (places.size() <= record.interface) {
        places.push_back(place_named(topology_, reader->interfaces()[places.size()].name));
        note_captured(places.back());
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

void PacketSearch::take(const CaptureRecord& record, const CapturePlace& place) {
  CutFrame kept;
  if (kept.open(without_void(record.bytes)) != ParseError::kNone) return;
  const FrameView& packet = kept.view();
  const uint32_t qp = packet.destination_qp().value;
  const bool data = carries_data(packet.opcode());
  if (data && !qps_.contains(qp)) return;
  const auto source = host_of_address(topology_, packet.source());
  const auto destination = host_of_address(topology_, packet.destination());
  if (!source || !destination) {
    unplaced_.other_hosts += data ? 1 : 0;
    return;
  }
  const FlowKey flow{*source, *destination, qp};
  std::optional<LifeSighting> sighting = sighting_of(record, place, topology_.host(*source));
  if (!sighting) {
    unplaced_.no_port += data ? 1 : 0;
    return;
  }
  data ? take_data(packet, flow, std::move(*sighting)) : take_answer(packet, flow, *sighting);
}

/// Where and when the packet was seen; empty for an interface that belongs to no port.
std::optional<LifeSighting> PacketSearch::sighting_of(const CaptureRecord& record,
                                                      const CapturePlace& place,
                                                      NodeId source) const {
  const RecordNote note = note_of(record);
  LifeSighting s;
  s.t = record.t;
  s.trailer = trailer_in(topology_, record.bytes);
  bool out = record.direction == CaptureDirection::kOutbound;
  s.wire_bytes = wire_length({record.original_length}).value;
  if (place.kind == CapturePlace::Kind::kDrops) {
    s.event = PacketEvent::kDropped;
    s.cause = note.cause;
    out = note.side ? *note.side == Direction::kEgress : out;
    s.where = dropped_at(topology_, place.port.node, note);
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
  } else if (place.kind != CapturePlace::Kind::kUnknown) {
    s.where = place.port;
    if (record.direction == CaptureDirection::kUnknown) out = s.where.node == source;
  } else {
    return std::nullopt;
  }
  s.side = out ? Direction::kEgress : Direction::kIngress;
  if (note.event == PacketEvent::kTrimmed) s.event = PacketEvent::kTrimmed;
  return s;
}

void PacketSearch::take_data(const FrameView& packet, FlowKey flow, LifeSighting s) {
  const Psn psn = packet.psn();
  if (!psns_seen_) psns_seen_ = {psn, psn};
  if (psn.before(psns_seen_->first)) psns_seen_->first = psn;
  if (psns_seen_->second.before(psn)) psns_seen_->second = psn;
  if (psn != psn_ || kept_ >= kMaxSightings) return;
  ++kept_;
  read_headers(packet, s);
  s.carrier =
      packet.encapsulation() == Encapsulation::kSrv6 ? packet.carrier() : packet.destination();
  if (is_write(s.opcode)) s.msn = packet.meth().msn;
  sightings_[flow].push_back(std::move(s));
}

void PacketSearch::take_answer(const FrameView& packet, FlowKey flow, const LifeSighting& s) {
  const auto [from, to, qp] = flow;
  const bool arrived = s.event == PacketEvent::kPassed && s.side == Direction::kIngress &&
                       s.where.node == topology_.host(to);
  if (!arrived || kept_ >= kMaxSightings) return;
  std::optional<Answer> answer = answer_about(answer_in(packet), psn_);
  if (!answer) return;
  ++kept_;
  answer->opcode = packet.opcode();
  answer->qp = packet.destination_qp();
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
    if (kind_in(line) != event_kind::kLossDetected) continue;
    try {
      const auto event = parse_event(topology_, parse_json<nlohmann::json>(line));
      const bool whole = event && event->node && event->qp && event->ev;
      if (!whole || event->psn != psn_ || declared_.size() >= kMaxSightings) continue;
      declared_.push_back(
          {*event->node, *event->qp, {event->t, *event->ev, visible(event->cause)}});
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
