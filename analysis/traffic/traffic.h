#pragma once
// What the analyzer of traffic finds in captures: plain numbers, per flow, path, plane and place.
//
//   flow          data of one host to one QP of another
//   delivered     first whole arrival of a packet at its receiver; goodput counts its payload
//   lost          an attempt that a drop record or a void frame names, or whose arrival a capture at
//                 its receiver would have shown: what was sent later over its path has arrived; not
//                 one that arrived and that the receiving NIC refused (fabric/packet/drop_kind.h)
//   open          an attempt that is not seen again by the capture's end, and no record shows that it
//                 is lost: in flight, in a queue, behind a pause
//   needless      an attempt of a packet of which an earlier attempt arrived (had arrived, or was
//                 still on its way): what the literature calls a spurious retransmission
//   reordered     RFC 4737 §3.3, Type-P-Reordered: a packet that arrives behind one with a higher PSN
//   distance      how many PSNs it then is behind the highest that has arrived
//   held          packets that have arrived beyond the first gap, at each arrival: what RFC 5236 calls
//                 the reorder buffer-occupancy density
//   away          a path that a flow left: it sent kTurnsAway times as many packets over its other
//                 paths as it has paths. A sender that picks paths at random stays away that long by
//                 chance once in e^8 = 3,000 turns

#include <array>
#include <map>
#include <string>
#include <vector>

#include "analysis/capture/histogram.h"
#include "analysis/roce/pause_watch.h"
#include "analysis/roce/roce_traffic.h"
#include "analysis/traffic/foreign_paths.h"
#include "analysis/traffic/format_sample.h"
#include "analysis/traffic/traffic_sighting.h"
#include "fabric/base/units.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

inline constexpr uint64_t kTurnsAway = 8;
inline constexpr size_t kMaxEvChanges = 1u << 17;
inline constexpr size_t kMaxFlowPaths = 1u << 20;

struct TrafficFlow {
  uint32_t conversation = 0;
  FabricTime first_sent = FabricTime::never(), last_delivered;
  FabricTime first_seen = FabricTime::never(), last_seen;
  uint64_t packets = 0;  ///< first transmissions
  uint64_t resent = 0;   ///< attempts after the first
  uint64_t delivered = 0, delivered_bytes = 0;
  uint64_t acknowledged = 0;  ///< packets that SACKs cover, where the receiver was not captured
  uint64_t duplicates = 0;    ///< whole arrivals after the first
  uint64_t trimmed = 0, lost = 0, open = 0;
  uint64_t needed = 0, needless_there = 0, needless_underway = 0, need_unknown = 0;
  uint64_t reordered = 0, max_distance = 0;
  uint64_t sacks = 0, nacks = 0, acks = 0, probes = 0;
  uint64_t rtts = 0;
  int64_t rtt_sum_ps = 0, rtt_min_ps = 0, rtt_max_ps = 0;
  uint32_t paths = 0;
  /// The source of what became of its packets: captured arrivals, else its answers, else neither.
  bool by_arrivals = false, by_answers = false;
};

/// One path of one flow.
struct FlowPath {
  uint32_t flow = 0;
  EntropyValue ev;  ///< for a foreign packet: its ForeignPath's number
  uint32_t plane = kNoPlane;
  uint64_t packets = 0, resent = 0, delivered = 0, delivered_bytes = 0;
  uint64_t trimmed = 0, lost = 0, marked = 0;
  uint64_t lost_too_late =
      0;  ///< lost more than an RTT after the first of an unbroken row of losses
  FabricTime first_use = FabricTime::never(), last_use;
  uint32_t times_left = 0;
};

struct PlaneTraffic {
  bool seen = false;
  uint64_t packets = 0, resent = 0, delivered = 0, delivered_bytes = 0;
  uint64_t trimmed = 0, lost = 0, marked = 0;
  FabricTime last_delivery = FabricTime::never();
  FabricTime longest_gap, gap_from;  ///< without any delivery in this plane
  LogHistogram rtt_ns;
};

/// A flow stops using a path, or takes it up again.
struct EvChange {
  FabricTime t;  ///< left: its last first transmission there; back: its first one again
  uint32_t flow = 0;
  EntropyValue ev;
  bool back = false;
  bool probed = false;  ///< back: a probe of that path was answered in between
};

/// One capture interface, or the place that a drop record names.
struct CapturePoint {
  std::string name;
  uint64_t records = 0, data = 0, marked = 0, trimmed = 0, dropped = 0;
  /// Packets marked or trimmed here, but at no captured point nearer to their sender.
  uint64_t first_marked = 0, first_trimmed = 0;
  std::array<uint64_t, kStages> at_stage{};
  FabricTime first = FabricTime::never(), last;
  static constexpr uint32_t kGoesOn = 0xFFFF'FFFF;
  uint32_t ended = kGoesOn;  ///< how many files had been read to their ends before its own
};

/// How an answer was found to belong to its flow, the surest first.
enum class MatchedBy : uint8_t {
  kPsnAndEv,   ///< PSN and reflected entropy value are those of a packet that was seen
  kIds,        ///< spdcid and dpdcid are those of only one flow
  kTimestamp,  ///< PSN and reflected timestamp are those of a packet that was seen
  kPsn,        ///< only one flow between the two hosts has the PSNs that are answered
  kOnlyFlow,   ///< there is only one flow between the two hosts
  kNothing,
};

/// The answers that go to one queue pair, and the flow whose data they answer.
struct AnswerGroup {
  uint32_t conversation = 0;
  uint32_t flow = 0xFFFF'FFFF;  ///< index into flows; this value: none was found
  MatchedBy by = MatchedBy::kNothing;
  uint64_t sacks = 0, nacks = 0, acks = 0;  ///< records, at every place where they were seen
  uint64_t candidates = 0;                  ///< flows between the two hosts, where none was found
};

/// Who asked a neighbour to stop one of its priorities (IEEE 802.1Qbb), by records: a frame that was captured at both
/// ends of its wire counts twice.
struct PauseAsker {
  MacAddress mac{};
  uint8_t priority = 0;
  auto operator<=>(const PauseAsker&) const = default;
};
struct PauseRequests {
  uint64_t asks = 0, ends = 0;  ///< frames with quanta, and with none
  uint16_t most_quanta = 0;
  FabricTime first = FabricTime::never(), last;
};
inline constexpr size_t kMaxPauseAskers = 1u << 12;

struct TrafficCounters {
  uint64_t records = 0, bytes = 0;
  uint64_t skipped = 0, not_mrc = 0, not_ethernet = 0, untimed = 0;
  uint64_t malformed = 0,
           bad_roce = 0;  ///< records of MRC, of RoCEv2, whose headers contradict themselves
  uint64_t roce = 0;      ///< records of RoCEv2, all transports but MRC
  uint64_t other_opcodes =
      0;  ///< records to RoCEv2's port with an opcode of a vendor's, or a reserved one
  std::array<uint64_t, 256> opcodes{};  ///< all records to RoCEv2's ports, by the first byte of BTH
  std::array<uint64_t, kDropCauses>
      roce_drops{};                        ///< of `roce`: those with the cause of a drop there
  std::array<uint64_t, kLayers> layers{};  ///< of records that were read: what was taken off
  uint64_t encrypted = 0, fragments = 0, too_deep = 0;  ///< records that may hold a packet, unseen
  uint64_t pauses = 0, pauses_not_kept = 0;  ///< pause frames; of more ports than kMaxPauseAskers
  uint64_t checksum_open = 0,
           checksum_wrong = 0;  ///< IPv4 checksums of records that were read as they stand
  uint64_t damaged = 0;         ///< IPv4 checksums that are wrong where all senders compute them
  uint64_t cut_short = 0;       ///< records that end before the PSN
  uint64_t repeats = 0;         ///< records that another file has as well: counted once
  uint64_t over_limit = 0, filtered = 0, out_of_order = 0;
  uint64_t data_frames = 0, answer_frames = 0, probe_frames = 0;
  uint64_t passing = 0;    ///< seen at a point that does not count, being counted elsewhere
  uint64_t copies = 0;     ///< copies of a frame that was seen there already
  uint64_t unmatched = 0;  ///< arrived without having been seen to leave
  uint64_t behind = 0;     ///< PSNs too old to be judged
  uint64_t rtx_bit_wrong = 0;
  uint64_t answers_unmatched = 0;
  uint64_t sacks = 0, sacks_with_holes = 0, nacks = 0, acks = 0;
  uint64_t marks_skip_once = 0, marks_always_skip = 0;
  uint64_t probes = 0, probe_answers = 0, port_updates = 0;
  uint64_t dropped_control = 0;
  std::array<uint64_t, 256> nack_reasons{};
  std::array<uint64_t, kDropCauses> drops{};
  uint64_t trimmed_inside = 0, trimmed_last_hop = 0;  ///< by DSCP, at the receiver
};

/// Goodput over time: so many bins, each twice as long whenever the capture
/// is longer than they are.
struct PlaneBins {
  static constexpr size_t kBins = 256;
  FabricTime width = FabricTime::from_us(1);
  std::vector<std::array<uint64_t, kBins>> bytes;  ///< [plane]
  void count_bytes(uint32_t plane, FabricTime t, uint64_t amount);
};

struct Traffic {
  FabricTime origin;  ///< what times count from: zero, or the first record of a wall clock
  FabricTime first = FabricTime::never(), last;
  std::vector<Conversation> conversations;
  std::vector<TrafficFlow> flows;
  std::vector<FlowPath> paths;
  std::vector<PlaneTraffic> planes;
  std::vector<CapturePoint> points;
  std::vector<EvChange> changes;  ///< in order of time
  bool changes_cut = false;       ///< there were more than kMaxEvChanges
  PlaneBins bins;
  LogHistogram rtt_ns;  ///< a packet leaves its host -> its SACK reaches it, by capture times
  LogHistogram timestamp_rtt_ns;  ///< the same by the timestamp that the SACK reflects
  LogHistogram one_way_ns;        ///< where both ends were captured
  LogHistogram answer_ns;  ///< a packet reaches its receiver -> the SACK that it triggers leaves
  LogHistogram probe_rtt_ns;
  LogHistogram distance, held;
  LogHistogram sack_span;  ///< PSNs from cumulative to the highest bit of a SACK
  TrafficCounters counters;
  bool carried = false;
  std::vector<std::string> notes;
  std::vector<ForeignPath> foreign_paths;  ///< by number less ForeignPaths::kFirst
  LearnedFormat format;                    ///< format of packets that are not ours
  std::map<uint32_t, std::string> tap_names;
  std::vector<AnswerGroup> answer_groups;
  std::map<PauseAsker, PauseRequests> pause_requests;
  std::vector<PausedNeighbour> paused;  ///< who paused whom, each below the one that caused it
  RoceTraffic roce;
};

}  // namespace mrclab::analysis
