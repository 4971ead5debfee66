#include "analysis/traffic/traffic_sighting.h"

#include "analysis/capture/cut_frame.h"
#include "fabric/byte_order.h"

namespace mrclab::analysis {
namespace {

DropCause cause_of(std::string_view comment) {
  constexpr std::string_view kStart = "drop: ";
  comment.remove_prefix(std::min(kStart.size(), comment.size()));
  const std::string_view word = comment.substr(0, comment.find(' '));
  for (uint8_t i = 1; i < kDropCauses; ++i) {
    if (name_of(static_cast<DropCause>(i)) == word) return static_cast<DropCause>(i);
  }
  return DropCause::kMalformed;
}

/// The stage of a packet without a carrier. An IPv4 address does not tell its host's row.
Stage stage_by_hops(const MrcPacket& packet) {
  if (packet.encapsulation == Encapsulation::kIpv6) {
    const std::optional<Path> path = path_of(packet.entropy());
    if (path && path->named()) return Stage::kHostDown;  // a leaf has taken the carrier off
  }
  const uint8_t first = MrcFrameSpec{}.hop_limit;
  const auto row = [](const Ipv6Address& a) { return load_be<uint16_t>(&a[2]); };
  const bool ipv6 = packet.encapsulation == Encapsulation::kIpv6;
  const bool local = ipv6 && row(packet.inner.source) == row(packet.inner.destination);
  switch (first - packet.outer.hop_limit) {
    case 0: return Stage::kHostUp;
    case 1: return local ? Stage::kHostDown : ipv6 ? Stage::kSpineUp : Stage::kUnknown;
    case 2: return Stage::kSpineDown;
    case 3: return Stage::kHostDown;
    default: return Stage::kUnknown;
  }
}

}  // namespace

Stage stage_of(const Ipv6Address& carrier, EntropyValue ev) {
  size_t left = 0;
  while (left < 6 && load_be<uint16_t>(&carrier[4 + 2 * left]) != 0) ++left;
  for (size_t i = left; i < 6; ++i) {
    if (load_be<uint16_t>(&carrier[4 + 2 * i]) != 0) return Stage::kUnknown;
  }
  // A carrier that ends at a leaf, which strips it, lacks the NIC port or kernel that others end with.
  constexpr uint16_t kFirstOfHosts = 0xC000;  // in both layouts of fabric/usid.h
  if (left > 0 && load_be<uint16_t>(&carrier[4 + 2 * (left - 1)]) < kFirstOfHosts) ++left;
  switch (left) {
    case 1: return Stage::kHostDown;
    case 2: {
      const std::optional<Path> path = path_of(ev);
      return path && path->uplink == kT0LocalUplink ? Stage::kHostUp : Stage::kSpineDown;
    }
    case 3: return Stage::kSpineUp;
    case 4: return Stage::kHostUp;
    default: return Stage::kUnknown;
  }
}

uint8_t sent_rank(const TrafficSighting& s) {
  return static_cast<uint8_t>(2 * static_cast<unsigned>(s.stage) +
                              (s.end == WireEnd::kArriving ? 1 : 0));
}

uint8_t arrived_rank(const TrafficSighting& s) {
  if (s.stage == Stage::kHostDown) return s.end == WireEnd::kLeaving ? 2 : 3;
  return s.stage == Stage::kUnknown ? 1 : 0;
}

uint32_t ConversationTable::find(const Ipv6Address& source, const Ipv6Address& destination,
                                 Qpn qp) const {
  const uint32_t found = index_.find(conversation_key(source, destination, qp));
  if (found == kNone) return kNone;
  const Conversation& c = all_[found];
  return c.source == source && c.destination == destination && c.qp == qp ? found : kNone;
}

uint32_t ConversationTable::find_or_add(const Ipv6Address& source, const Ipv6Address& destination,
                                        Qpn qp) {
  const uint64_t key = conversation_key(source, destination, qp);
  const uint32_t found = index_.find_or_add(key, static_cast<uint32_t>(all_.size()));
  if (found == kNone) return kNone;
  if (found == all_.size()) {
    all_.push_back({source, destination, qp, false, {}, {}});
    return found;
  }
  const Conversation& c = all_[found];  // two that share a 64-bit key: the second is not followed
  return c.source == source && c.destination == destination && c.qp == qp ? found : kNone;
}

bool names_host_port(std::string_view interface) {
  const auto digits = [&interface] {
    const size_t end = std::min(interface.find_first_not_of("0123456789"), interface.size());
    interface.remove_prefix(end);
    return end > 0;
  };
  if (!interface.starts_with('h')) return false;
  interface.remove_prefix(1);
  if (!digits() || !interface.starts_with(":p")) return false;
  interface.remove_prefix(2);
  return digits() && interface.empty();
}

std::string_view port_in_drop(std::string_view comment) {
  for (int i = 0; i < 2; ++i) {
    const size_t space = comment.find(' ');
    if (space == std::string_view::npos) return {};
    comment.remove_prefix(space + 1);
  }
  return comment.substr(0, std::min(comment.find(' '), kMaxNameBytes));
}

std::optional<TimeTrailer> trailer_of(std::span<const uint8_t> ethernet_frame) {
  const std::optional<size_t> offset = trailer_offset(ethernet_frame);
  return offset ? parse_trailer(ethernet_frame.subspan(*offset)) : std::nullopt;
}

void SightingDecoder::fill(const MrcPacket& packet, TrafficSighting& s) {
  s.psn = packet.bth.psn;
  s.payload = static_cast<uint32_t>(packet.payload_length);
  s.opcode = packet.bth.opcode;
  s.dscp = packet.outer.dscp();
  s.ecn = packet.outer.ecn();
  s.retransmission = packet.bth.retransmission;
  s.trimmed = packet.trimmed;
  AnswerFields& a = s.answer;
  if (const auto* write = std::get_if<WriteHeaders>(&packet.extension)) {
    s.has_timestamp = write->tseth.has_value();
    if (write->tseth) s.timestamp = write->tseth->tx_timestamp;
    if (write->tseth) s.coarse_timestamp = write->tseth->one_microsecond_units;
  } else if (const auto* sack = std::get_if<Seth>(&packet.extension)) {
    s.probe = sack->probe_response;
    a.bitmap = sack->bitmap;
    a.ev = sack->entropy;
    a.trigger = a.cumulative = sack->cumulative;
    a.bitmap_offset = sack->sack_offset;
    a.out_of_order = sack->out_of_order;
    a.timestamp = sack->tx_timestamp;
    a.near_id = sack->spdcid;
    a.far_id = sack->dpdcid;
    a.mark = sack->mark;
    if (s.probe) {
      a.probe_id = sack->psn_offset_or_probe_id;
    } else {
      a.trigger = sack->cumulative + static_cast<int16_t>(sack->psn_offset_or_probe_id);
    }
  } else if (const auto* nack = std::get_if<Neth>(&packet.extension)) {
    a.ev = nack->entropy;
    a.trigger = nack->psn;
    a.timestamp = nack->tx_timestamp;
    a.nack_reason = nack->reason;
    a.near_id = nack->spdcid;
    a.far_id = nack->dpdcid;
  } else if (const auto* peth = std::get_if<Peth>(&packet.extension)) {
    s.probe = true;
    a.probe_id = peth->probe_id;
  } else if (const auto* erth = std::get_if<Erth>(&packet.extension)) {
    s.probe = erth->op == EndpointOp::kEvProbe;
  } else if (const auto* eeth = std::get_if<Eeth>(&packet.extension)) {
    s.probe = eeth->op == EndpointOp::kEvProbe;
  } else {
    a.cumulative = packet.bth.psn;
  }
}

void SightingDecoder::fill_as_ours(const MrcPacket& packet, TrafficSighting& s) {
  s.ev = s.path = packet.entropy();
  s.stage = packet.encapsulation == Encapsulation::kSrv6 ? stage_of(packet.outer.destination, s.ev)
                                                         : stage_by_hops(packet);
  // IPv4 reflects half of an entropy value, the half that says the rest. (A SACK for a packet with a
  // carrier that comes back over IPv4 is mistaken for one; the same two hosts need both kinds for that.)
  AnswerFields& a = s.answer;
  const bool half =
      packet.encapsulation == Encapsulation::kIpv4 && a.ev.value >= 0xC000 && a.ev.value <= 0xFFFF;
  if (half) a.ev = hashed_ev_ipv4(static_cast<uint16_t>(a.ev.value));
}

void SightingDecoder::fill_as_foreign(const MrcPacket& packet, uint32_t tap, TrafficSighting& s) {
  const PacketFacts facts = facts_of(packet, tap, s.end);
  s.foreign = true;
  s.ev = facts.wire_entropy();
  s.stage = format_->places.place_of(facts).stage;
  const uint32_t plane = format_->paths.plane_of(facts, s.stage);
  s.plane = static_cast<uint16_t>(plane);
  s.path = paths_.find_or_add(facts, s.stage, plane, format_->paths);
}

bool SightingDecoder::is_foreign(const MrcPacket& packet, bool carried) const {
  if (format_ == nullptr || !format_->foreign || carried) return false;
  const std::optional<bool> ours = sample_->is_ours(packet.inner.source);
  return ours ? !*ours : !looks_like_ours(packet);
}

Decoded SightingDecoder::decode(const CaptureRecord& record, uint16_t link_type, Place place,
                                TrafficSighting& s) {
  const bool carried = place.carried;
  bool host_port = place.host_port;
  s = TrafficSighting{};
  if (record.direction == CaptureDirection::kOutbound) s.end = WireEnd::kLeaving;
  if (record.direction == CaptureDirection::kInbound) s.end = WireEnd::kArriving;
  const auto ethernet = link_.as_ethernet(record.bytes, link_type, s.end);
  if (!ethernet) return Decoded::kNotEthernet;
  std::span<const uint8_t> frame = *ethernet;
  const std::optional<TimeTrailer> trailer = carried ? trailer_of(frame) : std::nullopt;
  if (carried && !trailer) return Decoded::kUntimed;
  const bool is_void =
      frame.size() >= kEthernetBytes + 2 && load_be<uint16_t>(&frame[12]) == kVoidEthertype;
  if (is_void) {
    const size_t count = load_be<uint16_t>(&frame[kEthernetBytes]);
    frame = frame.subspan(kEthernetBytes + 2);
    frame = frame.first(std::min(frame.size(), count));
  }
  const ParseError error = parse_cut_frame(frame, packet_);
  if (error != ParseError::kNone) {
    const bool cut = record.bytes.size() < record.original_length;
    if (cut && error == ParseError::kTooShort) return Decoded::kCutShort;
    return error >= ParseError::kUnknownOpcode ? Decoded::kMalformed : Decoded::kNotMrc;
  }
  if (is_rc(packet_.bth.opcode)) return Decoded::kRoce;
  fill(packet_, s);
  const size_t known = conversations_.all().size();
  s.conversation = conversations_.find_or_add(packet_.inner.source, packet_.inner.destination,
                                              packet_.bth.destination_qp);
  if (s.conversation == ConversationTable::kNone) return Decoded::kTooMany;
  Conversation& c = conversations_[s.conversation];
  if (s.conversation == known) c.foreign = is_foreign(packet_, carried);
  if (c.foreign) {
    fill_as_foreign(packet_, place.tap, s);
  } else {
    fill_as_ours(packet_, s);
  }
  if (record.comment.starts_with("drop:"))
    host_port = names_host_port(port_in_drop(record.comment));
  if (host_port && s.end != WireEnd::kUnknown) {
    s.stage = s.end == WireEnd::kLeaving ? Stage::kHostUp : Stage::kHostDown;
  }
  s.frame_bytes = trailer ? trailer->modelled_size : record.original_length;
  s.t = record.t;
  DropCause lost = DropCause::kNone;
  if (trailer) {
    lost = trailer->lost;
    const bool arrived = s.end == WireEnd::kArriving || s.stage == Stage::kHostDown || is_void;
    s.t = arrived && s.end != WireEnd::kLeaving ? trailer->end + trailer->flight : trailer->end;
  }
  if (lost != DropCause::kNone) {
    s.kind = TrafficSighting::Kind::kDropped;
    s.cause = lost;
  } else if (is_void) {  // the trailer, which says why, was cut off
    s.kind = TrafficSighting::Kind::kDropped;
    s.cause = DropCause::kWireLoss;
  } else if (record.comment.starts_with("drop:")) {
    s.kind = TrafficSighting::Kind::kDropped;
    s.cause = cause_of(record.comment);
  } else if (record.comment.starts_with("trimmed")) {
    s.kind = TrafficSighting::Kind::kTrimmedHere;
  }
  if (s.kind != TrafficSighting::Kind::kPassing) return Decoded::kSighting;
  const bool data = is_write(s.opcode) || s.opcode == Opcode::kProbeRequest;
  Conversation::Vantage& vantage = data ? c.data : c.answers;
  vantage.sent = std::min(vantage.sent, sent_rank(s));
  vantage.arrived = std::max(vantage.arrived, arrived_rank(s));
  return Decoded::kSighting;
}

}  // namespace mrclab::analysis
