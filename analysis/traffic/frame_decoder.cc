#include "analysis/traffic/frame_decoder.h"

#include "analysis/capture/cut_frame.h"
#include "fabric/base/byte_order.h"
#include "fabric/packet/ibta_opcodes.h"

namespace mrclab::analysis {
namespace {

constexpr std::string_view kDropWord = "drop:";

DropCause cause_of(std::string_view comment) {
  constexpr std::string_view kStart = "drop: ";
  comment.remove_prefix(std::min(kStart.size(), comment.size()));
  const std::string_view word = comment.substr(0, comment.find(' '));
  for (uint8_t i = 1; i < kDropCauses; ++i) {
    if (name_of(static_cast<DropCause>(i)) == word) return static_cast<DropCause>(i);
  }
  return DropCause::kMalformed;
}

/// The stage of a packet without a carrier. An IPv4 address does not contain its host's row.
Stage stage_by_hops(const FrameView& packet) {
  if (packet.encapsulation() == Encapsulation::kIpv6) {
    const std::optional<Path> path = path_of(packet.entropy());
    if (path && path->named()) return Stage::kHostDown;  // a leaf has taken the carrier off
  }
  const uint8_t first = MrcFrameSpec{}.hop_limit;
  const auto row = [](const Ipv6Address& a) { return load_be<uint16_t>(&a[2]); };
  const bool ipv6 = packet.encapsulation() == Encapsulation::kIpv6;
  const bool local = ipv6 && row(packet.source()) == row(packet.destination());
  switch (first - packet.hop_limit()) {
    case 0: return Stage::kHostUp;
    case 1: return local ? Stage::kHostDown : ipv6 ? Stage::kSpineUp : Stage::kUnknown;
    case 2: return Stage::kSpineDown;
    case 3: return Stage::kHostDown;
    default: return Stage::kUnknown;
  }
}

Stage stage_by_headers(const FrameView& packet) {
  return packet.encapsulation() == Encapsulation::kSrv6
             ? stage_of(packet.carrier(), packet.entropy())
             : stage_by_hops(packet);
}

/// The fields of an answer or a probe, which is all that is read of an extension header but a timestamp.
void fill_answer(const FrameView& packet, TrafficSighting& s) {
  Extension extension;
  packet.read_extension(extension);
  AnswerFields& a = s.answer;
  if (const auto* sack = std::get_if<Seth>(&extension)) {
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
  } else if (const auto* nack = std::get_if<Neth>(&extension)) {
    a.ev = nack->entropy;
    a.trigger = nack->psn;
    a.timestamp = nack->tx_timestamp;
    a.nack_reason = nack->reason;
    a.near_id = nack->spdcid;
    a.far_id = nack->dpdcid;
  } else if (const auto* peth = std::get_if<Peth>(&extension)) {
    s.probe = true;
    a.probe_id = peth->probe_id;
  } else if (const auto* erth = std::get_if<Erth>(&extension)) {
    s.probe = erth->op == EndpointOp::kEvProbe;
  } else if (const auto* eeth = std::get_if<Eeth>(&extension)) {
    s.probe = eeth->op == EndpointOp::kEvProbe;
  } else {
    a.cumulative = s.psn;
  }
}

void fill(const FrameView& packet, TrafficSighting& s) {
  const uint8_t traffic_class = packet.traffic_class();
  s.psn = packet.psn();
  s.payload = static_cast<uint32_t>(packet.payload_length());
  s.opcode = packet.opcode();
  s.dscp = traffic_class >> 2;
  s.ecn = traffic_class & 3;
  s.retransmission = packet.retransmission();
  s.trimmed = packet.trimmed();
  if (!is_write(s.opcode)) return fill_answer(packet, s);
  s.has_timestamp = packet.has_tseth();
  if (!s.has_timestamp) return;
  const Tseth tseth = packet.tseth();
  s.timestamp = tseth.tx_timestamp;
  s.coarse_timestamp = tseth.one_microsecond_units;
}

void fill_as_ours(const FrameView& packet, TrafficSighting& s) {
  s.ev = s.path = packet.entropy();
  // IPv4 reflects half of an entropy value, the half that determines the rest. (A SACK for a packet with a
  // carrier that comes back over IPv4 is mistaken for one; the same two hosts need both kinds for that.)
  AnswerFields& a = s.answer;
  const bool half = packet.encapsulation() == Encapsulation::kIpv4 && a.ev.value >= 0xC000 &&
                    a.ev.value <= 0xFFFF;
  if (half) a.ev = hashed_ev_ipv4(static_cast<uint16_t>(a.ev.value));
}

/// What depends on how far the frame has come: the stage, where the port shows it better, and so the time.
void settle(const DecodedFrame& frame, TrafficSighting& s) {
  if (frame.at_host_port) {
    s.stage = s.end == WireEnd::kLeaving ? Stage::kHostUp : Stage::kHostDown;
  }
  const bool arrived = s.end == WireEnd::kArriving || s.stage == Stage::kHostDown || frame.is_void;
  s.t = arrived && s.end != WireEnd::kLeaving ? frame.left + frame.flight : frame.left;
}

/// Was it dropped, or trimmed, where it was seen?
void note_fate(std::string_view comment, DropCause lost, bool is_void, TrafficSighting& s) {
  if (lost != DropCause::kNone) {
    s.kind = TrafficSighting::Kind::kDropped;
    s.cause = lost;
  } else if (is_void) {  // the trailer, which has the cause, was cut off
    s.kind = TrafficSighting::Kind::kDropped;
    s.cause = DropCause::kWireLoss;
  } else if (comment.empty()) {  // which nearly all are
    return;
  } else if (comment.starts_with(kDropWord)) {
    s.kind = TrafficSighting::Kind::kDropped;
    s.cause = cause_of(comment);
  } else if (comment.starts_with("trimmed")) {
    s.kind = TrafficSighting::Kind::kTrimmedHere;
  }
}

/// A packet of an opcode, or of an endpoint operation, that neither MRC's nor RC's parser has read.
Decoded other_opcode(const RoceHeader& header) {
  if (!is_of_ibta(header.opcode)) return Decoded::kOtherOpcode;
  const bool whole = header.bytes_behind_bth >= ibta_opcode(header.opcode).header_bytes;
  return whole ? Decoded::kRoce : Decoded::kBadRoce;
}

/// What a frame is whose headers are not read to their end. Each reason has its own answer, because none follows from
/// another's. `header`: of a frame to RoCEv2's ports.
Decoded what_it_is(ParseError error, const std::optional<RoceHeader>& header, bool cut) {
  const bool mrc = header && ibta_opcode(header->opcode).transport == IbtaTransport::kMrc;
  const Decoded contradicts = mrc ? Decoded::kMalformed : Decoded::kBadRoce;
  switch (error) {
    case ParseError::kTooShort: return cut ? Decoded::kCutShort : Decoded::kNotMrc;
    case ParseError::kNone:
    case ParseError::kNotIpv6:
    case ParseError::kBadVersion:
    case ParseError::kNotIpInIp:
    case ParseError::kNotUdp:
    case ParseError::kNotMrcPort: return Decoded::kNotMrc;
    case ParseError::kBadIpChecksum: return Decoded::kBadChecksum;
    case ParseError::kUnknownOpcode: return header ? other_opcode(*header) : Decoded::kOtherOpcode;
    // IPv4's own length may be too small whatever follows it.
    case ParseError::kLengthMismatch: return header ? contradicts : Decoded::kNotMrc;
    case ParseError::kTruncatedHeaders:
    case ParseError::kBadPad:
    case ParseError::kBadIcrc: return contradicts;
  }
  return Decoded::kNotMrc;
}

}  // namespace

void FrameDecoder::decode(const CaptureRecord& record, uint16_t link_type, Place place,
                          DecodedFrame& frame, ForeignFrame& foreign) {
  static const DecodedFrame kNothingYet;
  frame = kNothingYet;  // a temporary would be written first, and read back before that is done
  frame.captured = frame.left = record.t;
  frame.interface = record.interface;
  frame.original_length = record.original_length;
  frame.decoded = read(record, link_type, place, frame, foreign);
}

Decoded FrameDecoder::read(const CaptureRecord& record, uint16_t link_type, Place place,
                           DecodedFrame& out, ForeignFrame& foreign) {
  TrafficSighting& s = out.sighting;
  if (record.direction == CaptureDirection::kOutbound) s.end = WireEnd::kLeaving;
  if (record.direction == CaptureDirection::kInbound) s.end = WireEnd::kArriving;
  const auto ethernet = link_.as_ethernet(record.bytes, link_type, s.end);
  if (!ethernet) return Decoded::kNotEthernet;
  std::span<const uint8_t> frame = *ethernet;
  const std::optional<TimeTrailer> trailer = place.carried ? trailer_of(frame) : std::nullopt;
  if (place.carried && !trailer) return Decoded::kUntimed;
  out.is_void =
      frame.size() >= kEthernetBytes + 2 && load_be<uint16_t>(&frame[12]) == kVoidEthertype;
  if (out.is_void) {
    const size_t count = load_be<uint16_t>(&frame[kEthernetBytes]);
    frame = frame.subspan(kEthernetBytes + 2);
    frame = frame.first(std::min(frame.size(), count));
  }
  CutFrame kept;
  ParseError error = kept.open(frame);
  if (error == ParseError::kBadIpChecksum) {
    out.ip_checksum = ip_checksum_of(frame);
    frame = with_ip_checksum(frame, with_checksum_);
    error = kept.open(frame);
  }
  if (error != ParseError::kNone) {
    if (error == ParseError::kNotIpv6 && read_pause(frame)) return Decoded::kPause;
    const std::optional<RoceHeader> header = roce_header_of(frame);
    if (header) out.opcode = header->opcode;
    return what_it_is(error, header, record.bytes.size() < record.original_length);
  }
  const FrameView& packet = kept.view();
  out.opcode = static_cast<uint8_t>(packet.opcode());
  // All senders of such a capture compute it, so a wire has flipped bits, of an address perhaps.
  if (place.carried && out.ip_checksum != IpChecksum::kRight) return Decoded::kBadChecksum;
  if (packet.is_roce()) {
    note_fate(record.comment, trailer ? trailer->lost : DropCause::kNone, out.is_void, s);
    return Decoded::kRoce;
  }
  out.source = packet.source();
  out.destination = packet.destination();
  out.qp = packet.destination_qp();
  bool host_port = place.host_port;
  if (!record.comment.empty() && record.comment.starts_with(kDropWord)) {
    host_port = names_host_port(port_in_drop(record.comment));
  }
  out.at_host_port = host_port && s.end != WireEnd::kUnknown;
  fill(packet, s);
  if (any_foreign()) fill_foreign(kept, place, s, foreign);
  fill_as_ours(packet, s);
  if (!out.at_host_port) s.stage = stage_by_headers(packet);
  s.frame_bytes = trailer ? trailer->modelled_size : record.original_length;
  if (trailer) {
    out.left = trailer->end;
    out.flight = trailer->flight;
  }
  settle(out, s);
  note_fate(record.comment, trailer ? trailer->lost : DropCause::kNone, out.is_void, s);
  return Decoded::kSighting;
}

bool FrameDecoder::read_pause(std::span<const uint8_t> frame) {
  const std::optional<PauseFrame> pause = parse_pause(frame);
  if (!pause) return false;
  pause_.frame = *pause;
  std::copy_n(frame.begin() + pause_.asked_by.size(), pause_.asked_by.size(),
              pause_.asked_by.begin());
  return true;
}

void FrameDecoder::fill_foreign(const CutFrame& kept, Place place, const TrafficSighting& s,
                                ForeignFrame& foreign) {
  kept.decode(packet_);
  foreign.facts = facts_of(packet_, place.tap, s.end);
  foreign.stage = format_->places.place_of(foreign.facts).stage;
  foreign.plane = format_->paths.plane_of(foreign.facts, foreign.stage);
  foreign.answered = s.answer.ev;
  const std::optional<bool> ours = place.carried ? true : sample_->is_ours(packet_.inner.source);
  foreign.likely = ours ? !*ours : !looks_like_ours(packet_);
}

Decoded ConversationJoiner::join(const DecodedFrame& frame, const ForeignFrame* foreign,
                                 TrafficSighting& s) {
  s = frame.sighting;
  const size_t known = conversations_.all().size();
  s.conversation = conversations_.find_or_add(frame.source, frame.destination, frame.qp);
  if (s.conversation == ConversationTable::kNone) return Decoded::kTooMany;
  Conversation& c = conversations_[s.conversation];
  if (s.conversation == known) c.foreign = foreign != nullptr && foreign->likely;
  if (c.foreign && foreign != nullptr) {
    s.foreign = true;
    s.ev = foreign->facts.wire_entropy();
    s.answer.ev = foreign->answered;
    s.stage = foreign->stage;
    s.plane = static_cast<uint16_t>(foreign->plane);
    s.path = paths_.find_or_add(foreign->facts, foreign->stage, foreign->plane, format_.paths);
    settle(frame, s);
  }
  if (s.kind != TrafficSighting::Kind::kPassing) return Decoded::kSighting;
  const bool data = is_write(s.opcode) || s.opcode == Opcode::kProbeRequest;
  Conversation::Vantage& vantage = data ? c.data : c.answers;
  vantage.sent = std::min(vantage.sent, sent_rank(s));
  vantage.arrived = std::max(vantage.arrived, arrived_rank(s));
  return Decoded::kSighting;
}

}  // namespace mrclab::analysis
