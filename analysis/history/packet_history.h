#pragma once
// Packet histories: what became of every data packet, joined from capture records of the same
// packet by (QP, PSN, EV, attempt). Built from captures alone; nothing an endpoint says is used.
//
//   capture records --add--> compact observations --finish--> sorted by time --> joined
//
// A *packet* is one PSN of one flow; a *transmission* is one attempt to get it across. The first
// transmission is the first that a capture shows, whatever its rtx bit says (a wrong bit is
// counted). Limits: kMaxObservations records, and per flow a PSN range that MRC's own window
// (32,640 PSNs, MRC specification table 7-4) cannot exceed; what is beyond is counted, not used.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/capture/attempt_match.h"
#include "analysis/capture/capture_reader.h"
#include "fabric/headers.h"
#include "fabric/ids.h"
#include "fabric/node.h"
#include "fabric/path.h"
#include "fabric/topology.h"
#include "fabric/units.h"

namespace mrclab::analysis {

inline constexpr size_t kMaxObservations = 1u << 25;

/// One direction of a QP: data from host `source` to QP `destination_qp` of host `destination`.
struct Flow {
  uint32_t source = 0;       ///< host number
  uint32_t destination = 0;  ///< host number
  Qpn destination_qp;
};

enum class Fate : uint8_t {
  kInFlight,   ///< no record says what became of it (yet)
  kDelivered,  ///< whole, at the receiving host
  kTrimmed,    ///< its header arrived at the receiving host
  kDropped,    ///< a drop record names the cause
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
  /// It reached its host, whose NIC had no room for it and asked for it again (NACK).
  bool refused() const {
    return fate == Fate::kDropped &&
           (cause == DropCause::kReceiveBufferFull || cause == DropCause::kNoBitmap);
  }
  bool lost() const { return fate == Fate::kDropped && !refused(); }
};

/// Where a packet's payload goes, as its headers say (MRC specification: RETH in every request).
struct Placement {
  uint64_t va = 0;
  uint32_t rkey = 0;
  uint32_t message_bytes = 0;  ///< length of the whole message
  uint32_t payload_bytes = 0;
  uint32_t sample = 0;  ///< hash of the first kPayloadSample bytes of payload; 0: not captured
  uint16_t msn = 0;
  bool first = false, last = false;  ///< first or last packet of its message
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
struct ForeignBurst {
  FabricTime from, until;  ///< last bits leaving
  uint32_t source = 0, destination = 0;
  uint64_t frames = 0;
  uint64_t bytes = 0;  ///< on the wire
};
inline constexpr FabricTime kBurstPause = FabricTime::from_us(50);
inline constexpr size_t kMaxBursts = 4096;

struct HistoryCounters {
  uint64_t records = 0;             ///< capture records offered
  uint64_t capture_skipped = 0;     ///< by the readers: malformed, unknown interface, bad time
  uint64_t unknown_interface = 0;   ///< interface name is none of this fabric's
  uint64_t passing = 0;             ///< ordinary records of switch ports: not needed here
  uint64_t not_mrc = 0;             ///< ordinary traffic (ping, neighbour discovery, ...)
  uint64_t foreign_host = 0;        ///< MRC, but not between two hosts of this fabric
  uint64_t over_limit = 0;          ///< beyond kMaxObservations or the PSN range of a flow
  uint64_t rtx_bit_wrong = 0;       ///< the packet's rtx bit contradicts the captures
  uint64_t unmatched_arrivals = 0;  ///< arrived without having been seen to leave
  uint64_t unmatched_drops = 0;
  uint64_t copies = 0;                ///< records of a frame that a wire carried a second time
  uint64_t duplicate_deliveries = 0;  ///< whole arrivals after the first
  uint64_t retransmissions = 0;
  uint64_t trimmed = 0;          ///< transmissions
  uint64_t dropped = 0;          ///< transmissions, but for refused ones
  uint64_t refused = 0;          ///< transmissions: the receiving NIC had no room
  uint64_t dropped_control = 0;  ///< control frames with a drop record
  uint64_t sacks = 0, nacks = 0, probes = 0;
  uint64_t fatal_nacks = 0;        ///< NACK "unexpected event": the QP goes to error
  uint64_t acks_without_flow = 0;  ///< SACK or NACK that no flow explains
  uint64_t acks_ahead = 0;      ///< transport ACKs of a PSN before which a packet had not arrived
  uint64_t acks_of_unsent = 0;  ///< SACK or ACK of a PSN that was never sent
};

/// Not thread-safe; add everything, then finish() once, then read.
class PacketHistory {
 public:
  explicit PacketHistory(const Topology& topology);

  /// Reads a whole file and returns its seal, if it has one that fits. A broken tail is a note,
  /// what came before it counts. Throws CaptureError when the file cannot be opened at all.
  std::optional<EvidenceSeal> add_file(const std::filesystem::path& path);
  void add(CaptureReader& reader);
  /// The same from a node that is watched. Rounds to nanoseconds and reads no more of a frame than
  /// a capture has, so that both feeds end in the same history.
  void add(NodeId node, const PacketRecord& record);
  /// To be called when all records are in. Switches that are not ours record no losses: a packet
  /// over them that has not arrived after kLostAfterRtts counts as lost from the instant at which
  /// it left.
  void finish();
  static constexpr int kLostAfterRtts = 16;  ///< a full queue at every switch on the way is 6

  const std::vector<Flow>& flows() const { return flows_; }
  const std::vector<Packet>& packets() const { return packets_; }
  const std::vector<Attempt>& transmissions() const { return transmissions_; }
  const Placement& placement(const Packet& packet) const { return placements_[packet.placement]; }
  /// A flow's packets in the order of their PSNs: indices into packets(), kNone for a PSN that no
  /// record shows.
  std::span<const uint32_t> in_order(uint32_t flow) const { return flow_states_[flow].slots; }
  /// All deliveries, in order of time.
  const std::vector<Delivery>& deliveries() const { return deliveries_; }
  const std::vector<ControlArrival>& control() const { return control_; }
  /// All bursts, in the order in which their first frames were seen.
  const std::vector<ForeignBurst>& bursts() const { return bursts_; }
  const HistoryCounters& counters() const { return counters_; }
  /// The earliest instant of which something found no room; never() if everything was kept.
  FabricTime complete_until() const { return complete_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  static constexpr uint32_t kNone = Attempt::kNone;
  /// A packet that was sent more often than this is searched no further back.
  static constexpr uint32_t kMaxAttemptsWalked = 64;
  enum class Kind : uint8_t { kEgress, kTrimmedHere, kIngress, kDropOut, kDropIn };
  struct Observation {
    FabricTime t;
    FabricTime start;
    uint32_t source, destination, qp, psn, ev;
    uint32_t payload;
    PortRef where;
    uint32_t detail = Attempt::kNone;  // index into sacks_ of answers, into placements_ of data
    Kind kind;
    Opcode opcode;
    DropCause cause = DropCause::kNone;
    bool rtx = false, trimmed = false, probe = false, marked = false;
    bool timed = false;
    uint16_t timestamp = 0;
    AttemptMark mark() const { return {EntropyValue{ev}, rtx, timed, timestamp}; }
  };
  struct Place {
    FabricTime t;
    uint32_t kind;
    uint32_t observation;
    auto operator<=>(const Place&) const = default;
  };
  struct SackFields {
    EntropyValue ev;
    Psn cumulative, trigger;
    int16_t bitmap_offset = 0;
    uint64_t bitmap = 0;
    uint8_t nack_reason = 0;
    bool is_nack = false;
    bool is_ack = false;  // a transport ACK: cumulative, and whole messages only
  };
  struct FlowState {
    int64_t base = 0;          // unwrapped PSN of slots[0]
    int64_t highest = 0;       // unwrapped
    int64_t acknowledged = 0;  // unwrapped: all up to it are marked
    int64_t arrived = 0;       // unwrapped: all up to it had arrived when this was last looked at
    std::vector<uint32_t> slots;  // packet index by PSN - base
  };
  struct Port {
    enum class Use : uint8_t { kUnknown, kHostPort, kSwitchPort, kDrop } use = Use::kUnknown;
    PortRef ref;  // for kDrop only the node is set
  };

  Port resolve_interface(const std::string& name) const;
  void observe(const CaptureRecord& record, const Port& port);
  void leave_out(FabricTime t);
  void give_up_on(FabricTime last);
  void keep(const MrcPacket& packet, Observation o, uint64_t original_length);
  void keep_foreign(const MrcPacket& packet, NodeId node, FabricTime t, uint64_t original_length);
  std::optional<Kind> kind_of(const CaptureRecord& record, const Port& port, uint32_t source) const;
  uint32_t keep_answer(const MrcPacket& packet);
  uint32_t keep_placement(const MrcPacket& packet);
  void compare_placement(const Observation& o, Packet& packet, Attempt& attempt) const;
  void on_egress(const Observation& o);
  void on_arrival(const Observation& o);
  void arrives(const Observation& o, Attempt& attempt);
  void arrives_again(const Observation& o, Attempt& attempt);
  bool stands(const Observation& refused, uint32_t transmission);
  void on_drop(const Observation& o);
  void on_control_arrival(const Observation& o);
  void on_transport_ack(const Observation& o, const SackFields& answer);
  void on_answer(uint32_t flow, const SackFields& answer, FabricTime t);
  void undo_arrival(uint32_t transmission);
  std::vector<Place> by_time() const;
  void join(const Observation& o);

  uint32_t flow_of(uint32_t source, uint32_t destination, uint32_t qp);
  std::optional<uint32_t> flow_answered_by(const Observation& o, const SackFields& sack);
  uint32_t* slot_of(uint32_t flow, Psn psn, bool create);
  uint32_t existing_packet(uint32_t flow, Psn psn);
  uint32_t add_transmission(const Observation& o, uint32_t packet);
  uint32_t packet_of(const Observation& o);
  bool is_copy(const Observation& o, uint32_t packet) const;
  bool arrived_on(uint32_t packet, EntropyValue ev) const;
  AttemptChoice<uint32_t> attempts_of(const Observation& o, uint32_t packet) const;
  void acknowledge(uint32_t flow, Psn psn, FabricTime t);
  bool arrived_up_to(uint32_t flow, int64_t unwrapped);
  void skip_refused_answers();

  const Topology& topology_;
  std::vector<Observation> observations_;
  std::vector<SackFields> sacks_;
  std::vector<Placement> placements_;
  std::vector<Flow> flows_;
  std::vector<FlowState> flow_states_;
  std::unordered_map<uint64_t, uint32_t> flow_index_;    // (source, destination, qp) mixed
  std::unordered_map<uint64_t, uint32_t> answer_index_;  // the same of the answering direction
  std::unordered_map<uint64_t, std::vector<uint32_t>> flows_between_;  // (source, destination)
  std::vector<Packet> packets_;
  std::vector<Attempt> transmissions_;
  std::vector<Delivery> deliveries_;
  std::vector<ControlArrival> control_;
  std::vector<ForeignBurst> bursts_;
  HistoryCounters counters_;
  FabricTime complete_ = FabricTime::never();
  std::vector<std::string> notes_;
  size_t slots_in_use_ = 0;
};

}  // namespace mrclab::analysis
