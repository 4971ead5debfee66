#include "analysis/traffic/frame_decoder.h"

#include "fabric/base/byte_order.h"
#include "fabric/packet/ibta_opcodes.h"

namespace mrclab::analysis {
namespace {

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

void fill_as_ours(const FrameView& packet, TrafficSighting& s) {
  s.path = s.ev;
  // IPv4 reflects half of an entropy value, the half that says the rest. (A SACK for a packet with a
  // carrier that comes back over IPv4 is mistaken for one; the same two hosts need both kinds for that.)
  SeenAnswer& a = s.answer;
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
void fill_event(const RecordNote& note, DropCause lost, bool is_void, TrafficSighting& s) {
  if (lost != DropCause::kNone || is_void) {
    s.event = PacketEvent::kDropped;
    s.cause = is_void && lost == DropCause::kNone ? DropCause::kWireLoss : lost;  // no trailer says
  } else {
    s.event = note.event;
    if (s.event == PacketEvent::kDropped) s.cause = note.cause;
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
  note_ = note_of(record);
  const auto ethernet = link_.as_ethernet(record, link_type, s.end);
  if (!ethernet) return Decoded::kNotEthernet;
  if (link_type == kLinkTypeEthernet && record.bytes.size() >= kEthernetBytes) {
    std::copy_n(record.bytes.begin(), 6, out.destination_mac.begin());
    std::copy_n(record.bytes.begin() + 6, 6, out.source_mac.begin());
  }
  out.layers = link_.layers();
  const std::optional<TimeTrailer> trailer = place.carried ? trailer_of(*ethernet) : std::nullopt;
  if (place.carried && !trailer) return Decoded::kUntimed;
  std::span<const uint8_t> frame = without_void(*ethernet);
  out.is_void = frame.data() != ethernet->data();
  CutFrame kept;
  ParseError error = kept.open(frame);
  if (error == ParseError::kBadIpChecksum) {
    out.ip_checksum = ip_checksum_of(frame);
    frame = with_ip_checksum(frame, with_checksum_);
    error = kept.open(frame);
  }
  if (error != ParseError::kNone) {
    const bool cut = record.bytes.size() < record.original_length;
    const Decoded what = read_other(frame, error, cut, out);
    if (what != Decoded::kRoce) return what;
    fill_event(note_, trailer ? trailer->lost : DropCause::kNone, out.is_void, s);
    return read_roce(frame, trailer, out);
  }
  const FrameView& packet = kept.view();
  out.opcode = static_cast<uint8_t>(packet.opcode());
  // All senders of such a capture compute it, so a wire has flipped bits, of an address perhaps.
  if (place.carried && out.ip_checksum != IpChecksum::kRight) return Decoded::kBadChecksum;
  fill_event(note_, trailer ? trailer->lost : DropCause::kNone, out.is_void, s);
  if (packet.is_roce()) return read_roce(frame, trailer, out);
  out.source = packet.source();
  out.destination = packet.destination();
  out.qp = packet.destination_qp();
  const bool host_port =
      note_.event == PacketEvent::kDropped ? names_host_port(note_.port) : place.host_port;
  out.at_host_port = host_port && s.end != WireEnd::kUnknown;
  read_headers(packet, s);
  if (!is_write(s.opcode)) s.answer = answer_in(packet);
  if (any_foreign()) fill_foreign(kept, place, s, foreign);
  fill_as_ours(packet, s);
  if (!out.at_host_port) s.stage = stage_by_headers(packet);
  s.frame_bytes = trailer ? trailer->modelled_size : record.original_length;
  if (trailer) {
    out.left = trailer->end;
    out.flight = trailer->flight;
  }
  settle(out, s);
  return Decoded::kSighting;
}

/// What the decoder of MRC did not read to its end: flow control, another transport of RoCEv2, or nothing that is read.
Decoded FrameDecoder::read_other(std::span<const uint8_t> frame, ParseError error, bool cut,
                                 DecodedFrame& out) {
  if (error == ParseError::kNotIpv6) {
    if (const std::optional<PauseSeenAt> pause = pause_seen_in(frame)) {
      pause_ = *pause;
      return Decoded::kPause;
    }
  }
  const std::optional<RoceHeader> header = roce_header_of(frame);
  if (header) out.opcode = header->opcode;
  const Decoded what = what_it_is(error, header, cut);
  if (what != Decoded::kNotMrc) return what;
  switch (link_.hidden()) {
    case Hidden::kNothing: break;
    case Hidden::kEncrypted: return Decoded::kEncrypted;
    case Hidden::kFragment: return Decoded::kFragment;
    case Hidden::kTooDeep: return Decoded::kTooDeep;
    case Hidden::kCut: return cut ? Decoded::kCutShort : Decoded::kNotMrc;
  }
  return what;
}

Decoded FrameDecoder::read_roce(std::span<const uint8_t> frame,
                                const std::optional<TimeTrailer>& trailer, DecodedFrame& out) {
  const std::optional<RoceFrame> roce = roce_frame_in(frame);
  if (!roce) return Decoded::kCutShort;
  roce_ = *roce;
  if (!trailer) return Decoded::kRoce;
  const bool arrived = out.sighting.end == WireEnd::kArriving || out.is_void;
  out.left = arrived ? trailer->end + trailer->flight : trailer->end;
  return Decoded::kRoce;
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
  if (s.event != PacketEvent::kPassed) return Decoded::kSighting;
  const bool data = is_write(s.opcode) || s.opcode == Opcode::kProbeRequest;
  Conversation::Vantage& vantage = data ? c.data : c.answers;
  vantage.sent = std::min(vantage.sent, sent_rank(s));
  vantage.arrived = std::max(vantage.arrived, arrived_rank(s));
  return Decoded::kSighting;
}

}  // namespace mrclab::analysis
