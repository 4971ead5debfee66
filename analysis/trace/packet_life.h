#pragma once
// One packet's life: everything that a run's files hold of one PSN of one queue pair, joined hop by
// hop without comparing the clocks of different nodes.
//
//   captures, packet records, events --PacketSearch--> sightings and answers of each flow that fits
//   sightings --live_of--> attempts, each a walk from port to port
//
// How sightings are joined: an attempt is recognized by its mark (attempt_match.h). So the next
// sighting of a walk is the one at the other end of the wire, or at another port of the same
// switch, whose mark agrees. Several that agree are taken in the order in which each place recorded
// them. Where a frame has our time trailer, its wire and sequence number decide instead. Packet
// records have no more of a mark than the EV, but their time is the fabric's own and exact. Waits
// compare the two sides of one switch, and answers the ports of one host.

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/capture/record_words.h"
#include "analysis/frame/seen_headers.h"
#include "fabric/history/history_record.h"
#include "fabric/topology/path.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// One record of the packet at one side of one port. A packet record has no payload, timestamp and retransmission bit.
struct LifeSighting : SeenHeaders {
  PortRef where;
  Direction side = Direction::kIngress;
  PacketEvent event = PacketEvent::kPassed;
  DropCause cause = DropCause::kNone;
  FabricTime t;              ///< when its last bit passed; for a drop, when it was dropped
  bool from_record = false;  ///< a packet record, not a capture
  std::optional<Ipv6Address> carrier;  ///< the outer destination; of captures
  uint64_t wire_bytes = 0;             ///< as modelled
  std::optional<TimeTrailer> trailer;  ///< where the frame was captured whole
  std::optional<uint16_t> msn;
  AttemptMark mark() const { return {ev, retransmission, timed, timestamp, from_record}; }
};

/// A SACK, NACK or ACK at the sender that concerns the packet.
struct Answer {
  FabricTime t;
  PortRef where;
  Opcode opcode = Opcode::kSack;
  Qpn qp;  ///< queue pair of the sender
  EntropyValue reflected;
  std::optional<NackReason> reason;
  bool covers = false;     ///< this packet triggered it
  bool gap = false;        ///< it reports later ones as arrived, and this one as missing
  bool triggered = false;  ///< by this packet
};

/// A loss that the sender declared, out of events.jsonl.
struct DeclaredLoss {
  FabricTime t;
  EntropyValue ev;
  std::string cause;  ///< "timeout", "rack", "probe"
};

/// A flow that has this PSN, and what was found about it. In the order in which files were added.
struct FoundPacket {
  uint32_t source = 0, destination = 0;  ///< host numbers
  Qpn destination_qp;
  Psn psn;
  std::vector<LifeSighting> sightings;
  std::vector<Answer> answers;
  std::vector<DeclaredLoss> declared;
};

/// A flow that a scenario has. Answers name the sender's QP, data the receiver's.
struct KnownFlow {
  uint32_t source = 0, destination = 0;  ///< host numbers
  Qpn sender_qp, destination_qp;
};

/// Not thread-safe. Captures first: where they look, records are not needed and not kept. Its sixteen members
/// are one search: what is searched, what of it was found so far, and in which files.
class PacketSearch {
 public:
  static constexpr size_t kMaxSightings = 1u << 16;

  /// Packets of these destination QPs with this PSN.
  PacketSearch(const Topology& topology, std::set<uint32_t> destination_qps, Psn psn);

  /// Throws CaptureError when the file cannot be read at all; a broken end becomes a note.
  void add_capture(const std::filesystem::path& path);
  /// A file of packet records (fabric/history/history_record.h). Throws InputError.
  void add_records(const std::filesystem::path& path);
  /// events.jsonl. Throws std::runtime_error when it cannot be read.
  void add_events(const std::filesystem::path& path);

  /// `known` are the flows of the scenario, if there is one; else answers are matched by the
  /// packets that triggered them, and without captures nothing is found.
  std::vector<FoundPacket> found(std::span<const KnownFlow> known = {}) const;

  /// Data of the selected queue pairs that was seen and belongs to no walk, and why.
  struct Unplaced {
    uint64_t other_hosts = 0;   ///< between addresses that are no hosts' of this fabric
    uint64_t no_port = 0;       ///< at an interface that is no port of it
    uint64_t not_ethernet = 0;  ///< records, of any protocol, of a link type that is not read
  };
  const Unplaced& unplaced() const { return unplaced_; }
  /// PSNs of the selected queue pairs that captures show at all: of a flow that was not found.
  std::optional<std::pair<Psn, Psn>> psns_seen() const { return psns_seen_; }
  bool switches_captured() const { return switches_captured_; }
  bool records_used() const { return records_used_; }
  /// Every packet record before this instant was there; zero without records.
  FabricTime records_complete() const { return records_complete_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  using FlowKey = std::tuple<uint32_t, uint32_t, uint32_t>;  // source, destination, its QP

  void take(const CaptureRecord& record, const CapturePlace& place);
  std::optional<LifeSighting> sighting_of(const CaptureRecord& record, const CapturePlace& place,
                                          NodeId source) const;
  void take_data(const FrameView& packet, FlowKey flow, LifeSighting sighting);
  void take_answer(const FrameView& packet, FlowKey flow, const LifeSighting& sighting);
  void note_captured(const CapturePlace& place);
  void add_answers(FoundPacket& packet, std::optional<Qpn> sender_qp) const;

  const Topology& topology_;
  std::set<uint32_t> qps_;
  Psn psn_;
  std::map<FlowKey, std::vector<LifeSighting>> sightings_;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Answer>> answers_;  // to, from
  std::map<uint32_t, std::vector<LifeSighting>> record_sightings_;        // by destination QP
  struct Declared {
    NodeId host;
    Qpn qp;
    DeclaredLoss loss;
  };
  std::vector<Declared> declared_;
  std::set<PortRef> captured_ports_;
  std::set<NodeId> captured_drops_;
  std::vector<std::string> notes_;
  std::optional<std::pair<Psn, Psn>> psns_seen_;
  FabricTime records_complete_ = FabricTime::zero();
  Unplaced unplaced_;
  size_t kept_ = 0;
  bool switches_captured_ = false, records_used_ = false;
};

/// One place on the way.
struct Hop {
  PortRef where;
  Direction side = Direction::kEgress;
  const LifeSighting* seen = nullptr;  ///< null: no capture here, but it must have passed
  std::optional<Ipv6Address> carrier;  ///< as captured, else as it must have been
  std::optional<FabricTime> waited;    ///< in the queue of this egress port
  bool marked = false;                 ///< ECN: marked here for the first time
  bool trimmed = false;                ///< here
};

struct LifeAttempt {
  uint32_t number = 0;  ///< from 1; a copy has that of its original
  bool copy = false;    ///< a wire carried it twice
  EntropyValue ev;
  std::vector<Hop> hops;
  Fate fate = Fate::kInFlight;
  DropCause cause = DropCause::kNone;
  const Answer* reported = nullptr;        ///< the first that reports this attempt as missing
  const DeclaredLoss* declared = nullptr;  ///< when the sender declared it lost
};

struct PacketLife {
  std::vector<LifeAttempt> attempts;  ///< in the order in which they were sent
  const Answer* acknowledged = nullptr;
};

/// `found` outlives the result.
PacketLife life_of(const Topology& topology, const FoundPacket& found);

}  // namespace mrclab::analysis
