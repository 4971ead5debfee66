#pragma once
// Independent evidence: what libpcap saw on the veths, as the packet history that it amounts to,
// and whether the daemons' own captures agree.
//
// A tap sees every frame that is put on a veth, at both of its ends, with its time trailer: that is
// its only source of fabric time. What it cannot see: frames that never left a node (dropped in a
// queue) and what a receiver does with a frame. So the two histories agree when the same packets
// left on the same paths at the same instants, and the same arrived, whole or trimmed. Besides:
//   - void: by the schedule of faults the wire loses it; on the veth only its headers went on
//   - cut: it was in flight as the wire, or its receiver, went down: the tap saw it arrive, and the
//     receiver, which reads the schedule, dropped it at that very instant
//   - in flight: it would have arrived after the end of the run

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/checks/check_result.h"
#include "analysis/history/packet_history.h"
#include "analysis/history/sighting_reader.h"
#include "fabric/packet/frame.h"
#include "fabric/packet/trailer.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

class TapEvidence {
 public:
  struct Counters {
    uint64_t frames = 0;             ///< all that was read
    uint64_t without_trailer = 0;    ///< frames of other programs, or cut by a snap length
    uint64_t unknown_interface = 0;  ///< not a port of this fabric
    uint64_t wrong_wire = 0;         ///< its trailer names a wire that does not end at this port
    uint64_t voids = 0;              ///< at the end where they were sent
    uint64_t in_flight = 0;          ///< arrived, or were sent, after the end of the run
  };
  /// Both ends of a wire, where both are tapped.
  struct WireEnds {
    uint64_t sent = 0, arrived = 0;
    uint64_t sent_sum = 0, arrived_sum = 0;  ///< sums of hashed sequence numbers, modulo 2^64
    bool both_tapped = false;
    bool equal() const { return sent == arrived && sent_sum == arrived_sum; }
  };

  /// `topology` outlives it. What happens after `end` is not looked at.
  TapEvidence(const Topology& topology, FabricTime end);
  /// Throws CaptureError when the file cannot be read, or is not as its writer closed it, and for
  /// nothing that is in it.
  void add_file(const std::filesystem::path& path);
  void finish();

  /// Empty until finish().
  const PacketHistory& packets() const { return packets_; }
  const Counters& counters() const { return counters_; }
  const std::vector<WireEnds>& wires() const { return wires_; }  ///< by WireId

 private:
  void add(PortRef port, std::span<const uint8_t> frame);

  const Topology& topology_;
  FabricTime end_;
  FramePool pool_;
  SightingReader frames_;
  PacketHistory packets_;  // joined by finish()
  Counters counters_;
  std::vector<WireEnds> wires_;
  std::vector<PortRef> tapped_;
};

/// Two histories of one run: what left and what arrived, by packet, path and instant.
struct Agreement {
  uint64_t attempts = 0;   ///< that left a host in both
  uint64_t delivered = 0;  ///< arrived in both, whole
  uint64_t trimmed = 0;    ///< arrived in both, as a header
  uint64_t cut = 0;        ///< on the veth, and dropped by its receiver at that instant
  uint64_t only_daemons = 0, only_taps = 0;
  std::string first_difference;
  /// Arrived in neither: lost, or on its way at the end.
  uint64_t lost() const { return attempts - delivered - trimmed - cut; }
  uint64_t differences() const { return only_daemons + only_taps; }
};
Agreement compare(const Topology& topology, const PacketHistory& daemons,
                  const PacketHistory& taps);

/// The check `taps_agree`: attempts on which the two differ, and wires whose two ends do, must
/// be none. Inconclusive when the taps lost frames (`missing`).
CheckResult judge_taps(const Agreement& agreement, const TapEvidence& taps, uint64_t missing);

}  // namespace mrclab::analysis
