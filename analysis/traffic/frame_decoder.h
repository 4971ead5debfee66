#pragma once
// From a capture record to a sighting, in two steps, so that the first, which takes longest, can run
// ahead of all that depends on the order of records:
//
//   FrameDecoder         what a record shows by itself, whatever was read before it
//   ConversationJoiner   whose conversation that is, in whose format, and how near its ends it was seen

#include <array>
#include <optional>

#include "analysis/capture/cut_frame.h"
#include "analysis/capture/record_words.h"
#include "analysis/roce/pause_watch.h"
#include "analysis/traffic/foreign_paths.h"
#include "analysis/traffic/format_sample.h"
#include "analysis/traffic/roce_port.h"
#include "analysis/traffic/traffic_sighting.h"
#include "fabric/packet/roce_frame.h"

namespace mrclab::analysis {

enum class Decoded : uint8_t {
  kSighting,
  kNotMrc,  ///< ordinary traffic
  kRoce,    ///< of RoCEv2 by its opcode, whatever the transport
  kOtherOpcode,  ///< by its port of RoCEv2, but the opcode is a vendor's or reserved, or the operation is not MRC's
  kPause,        ///< flow control of either kind, which is no packet of anybody's
  kEncrypted,    ///< IPsec or MACsec: what is inside is not seen
  kFragment,     ///< a fragment of an IP packet that is or may be one to RoCEv2's port
  kTooDeep,      ///< behind more headers than anybody writes
  kNotEthernet,  ///< a link type that is not read
  kMalformed,    ///< MRC by its port and opcode, but its headers contradict themselves
  kBadRoce,      ///< RoCEv2 by its port, and its headers contradict themselves or end too early
  kBadChecksum,  ///< damaged: a wrong IPv4 checksum in a capture whose senders all compute it
  kCutShort,     ///< the record ends before the packet's PSN
  kUntimed,      ///< no trailer, in a capture whose time is carried
  kTooMany,      ///< more conversations than are followed
};

/// What one record shows by itself.
struct DecodedFrame {
  /// As if it were in our format; without conversation, point, feed and ended.
  TrafficSighting sighting;
  FabricTime captured;  ///< the record's own time
  FabricTime left;      ///< when its last bit left: by the trailer, or as captured
  FabricTime flight;    ///< from then to its arrival; zero without trailer
  Ipv6Address source{}, destination{};
  MacAddress source_mac{}, destination_mac{};  ///< zeros where the capture has none
  Qpn qp;
  uint32_t interface = 0, original_length = 0;
  Decoded decoded = Decoded::kNotMrc;
  uint32_t layers = 0;  ///< what stood around it: bit n for Layer n
  IpChecksum ip_checksum = IpChecksum::kRight;
  std::optional<uint8_t> opcode;  ///< the first byte of BTH, if the ports are those of RoCEv2
  bool at_host_port = false;      ///< so what leaves and arrives there needs no look at the carrier
  bool is_void = false;
};

/// A record, read in the format of another implementation.
struct ForeignFrame {
  PacketFacts facts;
  Stage stage = Stage::kUnknown;
  uint32_t plane = kNoPlane;
  EntropyValue answered;  ///< the entropy value in an answer, as it stands there
  bool likely = false;    ///< a conversation that begins with this one is foreign
};

/// Keeps nothing from one record to the next but what pause() and note() return.
class FrameDecoder {
 public:
  struct Place {
    /// Times come from our trailer, not from the capture.
    bool carried = false;
    /// The interface is a host's by its name.
    bool host_port = false;
    uint32_t tap = 0;  ///< as in PacketFacts
  };

  /// Both outlive it, and do not change.
  FrameDecoder(const FormatSample& sample, const LearnedFormat& format)
      : sample_(&sample), format_(&format) {}
  /// `foreign` is filled only if the format has foreign packets.
  void decode(const CaptureRecord& record, uint16_t link_type, Place place, DecodedFrame& frame,
              ForeignFrame& foreign);
  /// What the frame that was decoded last asks for; only if it is kPause.
  const PauseSeenAt& pause() const { return pause_; }
  /// The packet that was decoded last; only if it is kRoce.
  const RoceFrame& roce() const { return roce_; }
  /// What the comment of the record that was decoded last says; valid as long as the record.
  const RecordNote& note() const { return note_; }
  bool any_foreign() const { return format_->foreign; }

 private:
  Decoded read(const CaptureRecord& record, uint16_t link_type, Place place, DecodedFrame& frame,
               ForeignFrame& foreign);
  Decoded read_other(std::span<const uint8_t> frame, ParseError error, bool cut, DecodedFrame& out);
  Decoded read_roce(std::span<const uint8_t> frame, const std::optional<TimeTrailer>& trailer,
                    DecodedFrame& out);
  void fill_foreign(const CutFrame& kept, Place place, const TrafficSighting& s,
                    ForeignFrame& foreign);

  const FormatSample* sample_;
  const LearnedFormat* format_;
  LinkLayer link_;
  PauseSeenAt pause_;
  RoceFrame roce_;
  RecordNote note_;
  std::vector<uint8_t> with_checksum_;  // a frame that its sender left without one
  MrcPacket packet_;  // all of the frame, where its format may be another implementation's
};

class ConversationJoiner {
 public:
  ConversationJoiner(ConversationTable& conversations, ForeignPaths& paths,
                     const LearnedFormat& format)
      : conversations_(conversations), paths_(paths), format_(format) {}
  /// To be called in the order of records. kTooMany if there is no room for its conversation.
  /// `foreign`: null if the format has no foreign packets. Does not set `point`, `feed` and `ended`.
  Decoded join(const DecodedFrame& frame, const ForeignFrame* foreign, TrafficSighting& s);

 private:
  ConversationTable& conversations_;
  ForeignPaths& paths_;
  const LearnedFormat& format_;
};

}  // namespace mrclab::analysis
