#pragma once
// Decodes one frame, for the judge (history/sighting_reader.h), the analysis of any capture (traffic/frame_decoder.h) and
// the trace of a packet or a run (trace/packet_life.h, trace/run_trace.h). Each of these adds where and when the frame
// was seen; capture/record_words.h reads the names and comments of a capture.

#include <cstdint>
#include <optional>
#include <span>

#include "analysis/frame/attempt_match.h"
#include "fabric/packet/frame_view.h"
#include "fabric/packet/time_trailer.h"

namespace mrclab::analysis {

/// The fields of a packet's headers at the place where it was seen.
struct SeenHeaders {
  EntropyValue ev;  ///< as on the wire
  Psn psn;
  uint32_t payload = 0;    ///< bytes, also where they were trimmed or cut off
  uint16_t timestamp = 0;  ///< the sender's (TSETH), if it is `timed`
  Opcode opcode = Opcode::kWriteOnly;
  uint8_t traffic_class = 0;  ///< which the outermost IP header has
  bool retransmission = false;
  bool trimmed = false;  ///< its payload is gone
  bool timed = false;
  bool coarse_timestamp = false;  ///< it counts microseconds

  uint8_t dscp() const { return traffic_class >> 2; }
  bool marked() const { return (traffic_class & 3) == kEcnCe; }
  AttemptMark mark() const { return {ev, retransmission, timed, timestamp}; }
};

/// Fills `seen`, which must have its default values. Requires a view whose open() returned kNone. Inline and in place,
/// because it is called for millions of frames: a result would be written first, and read back before that is done.
[[gnu::always_inline]] inline void read_headers(const FrameView& packet, SeenHeaders& seen) {
  seen.ev = packet.entropy();
  seen.psn = packet.psn();
  seen.payload = static_cast<uint32_t>(packet.payload_length());
  seen.opcode = packet.opcode();
  seen.traffic_class = packet.traffic_class();
  seen.retransmission = packet.retransmission();
  seen.trimmed = packet.trimmed();
  if (!is_write(seen.opcode) || !packet.has_tseth()) return;
  const Tseth tseth = packet.tseth();
  seen.timed = true;
  seen.timestamp = tseth.tx_timestamp;
  seen.coarse_timestamp = tseth.one_microsecond_units;
}

/// The fields of a SACK, NACK, ACK or probe.
struct SeenAnswer {
  enum class Kind : uint8_t {
    kNone,  ///< no answer, or one that acknowledges nothing
    kSack,
    kNack,
    kAck,            ///< MRC's transport ACK: cumulative, and whole messages only
    kRcAck,          ///< of RC, as all below
    kRcSequenceNak,  ///< a packet before this one is missing
    kRcNak,          ///< any other
    kRcNotReady,
  };
  uint64_t bitmap = 0;
  EntropyValue ev;          ///< MRC: of the answered packet, reflected; RC: of the answer itself
  Psn trigger, cumulative;  ///< the packet that is answered; all up to this one have arrived
  int16_t bitmap_offset = 0;
  uint16_t out_of_order = 0;
  uint16_t timestamp = 0;            ///< reflected
  uint16_t probe_id = 0;             ///< id of a probe, or of the answer to one
  uint16_t near_id = 0, far_id = 0;  ///< spdcid and dpdcid: ids of the answer's source, destination
  uint8_t nack_reason = 0;
  SackMark mark = SackMark::kNone;
  Kind kind = Kind::kNone;
  bool probe = false;  ///< a probe, or the answer to one

  bool is_rc() const { return kind >= Kind::kRcAck; }
  bool is_rc_nak() const { return kind > Kind::kRcAck; }  ///< also "receiver not ready"
};
/// Decodes a frame without data. Requires a view whose open() returned kNone.
SeenAnswer answer_in(const FrameView& packet);

/// For a void frame (fabric/packet/trailer.h) the headers of the frame that was lost; else the frame itself.
std::span<const uint8_t> without_void(std::span<const uint8_t> ethernet_frame);
/// The frame's trailer; empty also where the capture has cut it off.
std::optional<TimeTrailer> trailer_of(std::span<const uint8_t> ethernet_frame);

}  // namespace mrclab::analysis
