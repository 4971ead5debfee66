#pragma once
// Packet histories: what became of every data packet, joined from capture records of the same
// packet by (QP, PSN, EV, attempt). Built from captures alone; no report of an endpoint is used.
//
//   capture records --SightingReader--> Sightings --join_sightings--> PacketHistory
//
// A *packet* is one PSN of one flow; an *attempt* is one transmission of it. The first attempt is
// the first that a capture shows, whatever its rtx bit (a wrong bit is counted). Limits:
// kMaxSightings records, and per flow a PSN range that MRC's own window (32,640 PSNs, MRC
// specification table 7-4) cannot exceed; what is beyond is counted, not used.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/frame/attempt_match.h"
#include "fabric/base/ids.h"
#include "fabric/base/units.h"
#include "fabric/node/node.h"
#include "fabric/packet/drop_kind.h"
#include "fabric/topology/path.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// One direction of a QP: data from host `source` to QP `destination_qp` of host `destination`.
struct Flow {
  uint32_t source = 0;       ///< host number
  uint32_t destination = 0;  ///< host number
  Qpn destination_qp;
  bool roce = false;  ///< its data is RC's, else MRC's
};

/// One attempt to get a packet across.
struct Attempt {
  FabricTime start;  ///< first bit leaves the host
  FabricTime ended;  ///< when and where its fate was recorded; never() while in flight
  EntropyValue ev;
  uint32_t packet = 0;        ///< index into packets()
  uint32_t previous = kNone;  ///< the attempt before, kNone for the first
  PortRef where;              ///< port of the fate's record; trimmed: where it was cut, if recorded
  uint16_t attempt = 0;       ///< 0 is the first transmission
  Fate fate = Fate::kInFlight;
  DropCause cause = DropCause::kNone;
  bool trimmed = false;            ///< cut on the way, also when the header was lost afterwards
  bool start_seen = true;          ///< false: no capture shows it leaving; `start` is its arrival
  bool differs = false;            ///< arrived with another placement than its packet first had
  bool marked = false;             ///< arrived with Congestion Experienced in its outer header
  bool rtx = false;                ///< its retransmission bit
  bool timed = false;              ///< it has a timestamp
  uint16_t timestamp = 0;          ///< as its sender wrote it
  uint8_t copies = 0;              ///< arrivals after the first: a wire carried it twice
  uint8_t whole = 0, headers = 0;  ///< frames that arrived with and without payload, not refused
  static constexpr uint32_t kNone = 0xFFFF'FFFF;
  AttemptMark mark() const { return {ev, rtx, timed, timestamp}; }
  /// It reached its host, and the NIC refused it, for lack of room or (RC) because an earlier one was missing, and
  /// asked for it again: not lost.
  bool refused() const { return fate == Fate::kDropped && drop_kind(cause) == DropKind::kRefused; }
  /// It did not arrive (fabric/packet/drop_kind.h). What is under way or waits is kInFlight, for however long.
  bool lost() const { return fate == Fate::kDropped && !refused(); }
  /// Lost, because a queue on the way was full.
  /// Its sender may not send it: no path is to blame.
  bool denied() const { return fate == Fate::kDropped && drop_kind(cause) == DropKind::kDenied; }
  bool congested() const {
    return fate == Fate::kDropped && drop_kind(cause) == DropKind::kCongested;
  }
};

/// Where a packet's payload goes, by its headers (MRC specification: RETH in every request).
struct Placement {
  uint64_t va = 0;
  uint32_t rkey = 0;
  uint32_t message_bytes = 0;  ///< length of the whole message
  uint32_t payload_bytes = 0;
  uint32_t sample = 0;  ///< hash of the first kPayloadSample bytes of payload; 0: not captured
  uint16_t msn = 0;
  bool first = false, last = false;  ///< first or last packet of its message
  /// A SEND, READ or atomic: it names no place that it writes to, so the four members before `sample` mean nothing.
  bool nowhere = false;
  uint32_t psns = 1;  ///< that it takes: a READ as many as its answer has packets
  bool operator==(const Placement&) const = default;
};
/// What a capture of 160 bytes holds of the payload of the longest headers, rounded down.
inline constexpr size_t kPayloadSample = 12;

/// One PSN of a flow.
struct Packet {
  uint32_t flow = 0;
  Psn psn;
  uint32_t payload = 0;                           ///< bytes
  uint32_t last = Attempt::kNone;                 ///< newest attempt; follow `previous`
  FabricTime delivered = FabricTime::never();     ///< first whole arrival at the receiver
  FabricTime acknowledged = FabricTime::never();  ///< first SACK at the sender that covers it
  uint32_t placement = Attempt::kNone;            ///< index into placements(), if one was seen
  uint16_t attempts = 0;
  uint16_t nacks = 0;  ///< trim and resource NACKs at the sender
};

/// A packet that was sent more often than this is searched no further back.
inline constexpr uint32_t kMaxAttemptsWalked = 64;

/// The first whole arrival of a packet: what goodput counts.
struct Delivery {
  FabricTime t;
  uint32_t packet = 0;
  uint32_t bytes = 0;
  uint32_t plane = 0;  ///< plane of the receiving port
};

/// A SACK, NACK, ACK or probe that arrived at a host.
struct ControlArrival {
  FabricTime t;
  uint32_t source = 0, destination = 0;  ///< host numbers
  Path path;
  bool probe = false;  ///< a probe, or the answer to one
};

/// Datagrams from one host to another that are not MRC, without a pause of kBurstPause between
/// them: their sender does not react to congestion.
struct DatagramBurst {
  FabricTime from, until;  ///< last bits leaving
  uint32_t source = 0, destination = 0;
  uint64_t frames = 0;
  uint64_t bytes = 0;  ///< on the wire
};
inline constexpr FabricTime kBurstPause = FabricTime::from_us(50);
inline constexpr size_t kMaxBursts = 4096;

/// A pause frame about RoCE's data (fabric/packet/pause_frame.h) that arrived at `port`, which it stops for so many
/// quanta; 0 let it go on.
struct PauseSeen {
  FabricTime t;
  PortRef port;
  uint16_t quanta = 0;
  auto operator<=>(const PauseSeen&) const = default;
};
inline constexpr size_t kMaxPauses = 1 << 20;

/// A data packet that left a switch by `port`: kept where the packet's headers do not name its path, because
/// switches chose it (chosen_on_the_way of analysis/blame/taken_ways.h).
struct Crossing {
  FabricTime t;  ///< its last bit
  PortRef port;
  uint32_t source = 0, destination = 0;  ///< host numbers
  Qpn destination_qp;
  Psn psn;
  EntropyValue ev;
};
inline constexpr size_t kMaxCrossings = 1 << 23;

/// A NAK or "receiver not ready" of RC that arrived at a sender: everything before `psn` is there.
struct RcNak {
  FabricTime t;
  Psn psn;
  bool not_ready = false;
};

/// What answered one flow of RC.
struct RcAnswers {
  uint64_t cnps = 0;        ///< congestion notification packets that arrived at its sender
  uint64_t read_bytes = 0;  ///< payload of answers to READs that arrived there, each arrival
  std::vector<RcNak> naks;  ///< in order of time
};

struct HistoryCounters {
  uint64_t records = 0;             ///< capture records offered
  uint64_t capture_skipped = 0;     ///< by the readers: malformed, unknown interface, bad time
  uint64_t unknown_interface = 0;   ///< interface name is none of this fabric's
  uint64_t passing = 0;             ///< ordinary records of switch ports: not needed here
  uint64_t not_mrc = 0;             ///< ordinary traffic (ping, neighbour discovery, ...)
  uint64_t unknown_host = 0;        ///< MRC, but not between two hosts of this fabric
  uint64_t over_limit = 0;          ///< beyond kMaxSightings or the PSN range of a flow
  uint64_t rtx_bit_wrong = 0;       ///< the packet's rtx bit contradicts the captures
  uint64_t unmatched_arrivals = 0;  ///< arrived without having been seen to leave
  uint64_t unmatched_drops = 0;
  uint64_t copies = 0;                ///< records of a frame that a wire carried a second time
  uint64_t duplicate_deliveries = 0;  ///< whole arrivals after the first
  uint64_t retransmissions = 0;
  uint64_t trimmed = 0;          ///< attempts
  uint64_t dropped = 0;          ///< attempts, but for refused ones
  uint64_t refused = 0;          ///< attempts: the receiving NIC had no room
  uint64_t dropped_control = 0;  ///< control frames with a drop record
  uint64_t sacks = 0, nacks = 0, probes = 0;
  uint64_t rc_acks = 0, rc_naks = 0;  ///< RC: acknowledgements, and those of them that are negative
  uint64_t cnps = 0;                  ///< RC: congestion notification packets
  uint64_t fatal_nacks = 0;           ///< NACK "unexpected event": the QP goes to error
  uint64_t acks_without_flow = 0;     ///< SACK or NACK that no flow explains
  uint64_t acks_ahead = 0;      ///< transport ACKs of a PSN before which a packet had not arrived
  uint64_t acks_of_unsent = 0;  ///< SACK or ACK of a PSN that was never sent

  void add(const HistoryCounters& more);
};

/// The tables of a history, described at the accessors of PacketHistory.
struct PacketTables {
  std::vector<Flow> flows;
  std::vector<std::vector<uint32_t>> in_order;  ///< by flow
  std::vector<Packet> packets;
  std::vector<Attempt> attempts;
  std::vector<Placement> placements;
  std::vector<Delivery> deliveries;
  std::vector<ControlArrival> control;
  std::vector<DatagramBurst> bursts;
  std::vector<PauseSeen> pauses;
  std::vector<Crossing> crossings;
  std::vector<RcAnswers> rc_answers;
  HistoryCounters counters;
  FabricTime complete_until = FabricTime::never();
  FabricTime crossings_until = FabricTime::never();
  std::vector<std::string> notes;
};

/// A plain result, to be read. Empty until something is joined into it.
class PacketHistory {
 public:
  /// Base RTTs of silence after which a packet counts as lost where no switch records losses.
  static constexpr int kLostAfterRtts = 16;  ///< a full queue at every switch on the way is 6

  PacketHistory() = default;
  explicit PacketHistory(PacketTables tables) : tables_(std::move(tables)) {}

  std::span<const Flow> flows() const { return tables_.flows; }
  std::span<const Packet> packets() const { return tables_.packets; }
  /// In the order in which they were first seen.
  std::span<const Attempt> attempts() const { return tables_.attempts; }
  const Placement& placement(const Packet& packet) const {
    return tables_.placements[packet.placement];
  }
  /// A flow's packets in the order of their PSNs: indices into packets(), Attempt::kNone for a PSN
  /// that no record shows.
  std::span<const uint32_t> in_order(uint32_t flow) const { return tables_.in_order[flow]; }
  /// All deliveries, in order of time.
  std::span<const Delivery> deliveries() const { return tables_.deliveries; }
  std::span<const ControlArrival> control() const { return tables_.control; }
  /// All bursts, in the order in which their first frames were seen.
  std::span<const DatagramBurst> bursts() const { return tables_.bursts; }
  /// Pauses that arrived, in order of time and port; each once.
  std::span<const PauseSeen> pauses() const { return tables_.pauses; }
  /// In the order of the files and records that show them.
  std::span<const Crossing> crossings() const { return tables_.crossings; }
  /// The earliest instant of a crossing that found no room; never() if all that were seen were kept.
  FabricTime crossings_until() const { return tables_.crossings_until; }
  /// By flow; empty where no answer of RC was seen. Answers that belong to no flow are not in it.
  std::span<const RcAnswers> rc_answers() const { return tables_.rc_answers; }
  const HistoryCounters& counters() const { return tables_.counters; }
  /// The earliest instant of which something found no room; never() if everything was kept.
  FabricTime complete_until() const { return tables_.complete_until; }
  std::span<const std::string> notes() const { return tables_.notes; }

 private:
  PacketTables tables_;
};

}  // namespace mrclab::analysis
