#pragma once
// Reads capture records, or observes nodes, and keeps a sighting of each frame that shows
// a packet's fate.

#include <array>
#include <filesystem>
#include <optional>
#include <string>

#include "analysis/capture/capture_reader.h"
#include "analysis/capture/cut_frame.h"
#include "analysis/capture/record_words.h"
#include "analysis/capture/side_by_side.h"
#include "analysis/frame/known_ports.h"
#include "analysis/history/rc_messages_seen.h"
#include "analysis/history/sighting.h"
#include "fabric/history/evidence_seal.h"
#include "fabric/node/node.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// Not thread-safe; add everything, then take() once.
class SightingReader {
 public:
  /// `topology` outlives it.
  explicit SightingReader(const Topology& topology)
      : topology_(topology),
        keeps_crossings_(topology.routing.is_fare() || topology.lossless.adaptive) {}

  /// Reads a whole file and returns its seal, if it has one that fits. A broken tail is a note,
  /// what came before it counts. Throws CaptureError when the file cannot be opened at all.
  std::optional<EvidenceSeal> add_file(const std::filesystem::path& path,
                                       const SideBySide& side_by_side = {});
  /// The file is read `side_by_side` with what is kept of it.
  void add(CaptureReader& reader, const SideBySide& side_by_side = {});
  /// The same from a node that is watched. Rounds to nanoseconds and reads no more of a frame than
  /// a capture has, so that both feeds end in the same history.
  void add(NodeId node, const PacketRecord& record) {
    add(node, topology_.node(node).role == NodeRole::kHost, record);
  }
  /// For who has looked up already what the node is.
  void add(NodeId node, bool is_host, const PacketRecord& record);

  /// A pause frame that a record shows; captures may have it as well.
  void add_pause(const PauseSeen& pause);

  /// Appends what another reader has read. The result is that of one reader of both, but for RC
  /// messages of which each has read a part.
  void add(Sightings&& more);

  const HistoryCounters& counters() const { return seen_.counters; }
  Sightings take() { return std::move(seen_); }

 private:
  using Kind = Sighting::Kind;
  struct Hosts {
    uint32_t source, destination;
  };

  /// What a kept frame is. Of frames at a switch's port the reader keeps only trimmed ones.
  Kind kind_of(const CaptureRecord& record, const CapturePlace& place, const RecordNote& note,
               uint32_t source) const;
  void read_record(const CaptureRecord& record, const CapturePlace& place);
  void keep_frame(NodeId node, bool is_host, const PacketRecord& record);
  std::optional<Hosts> hosts_of(const FrameView& packet);
  std::optional<uint32_t> host_of(const Ipv6Address& address);
  void keep(const CutFrame& kept, Hosts hosts, Sighting s, uint64_t original_length);
  void keep_datagram(const CutFrame& kept, NodeId node, bool leaves, FabricTime t,
                     uint64_t original_length);
  void count_drop(PortRef where, bool out, DropCause cause, const CutFrame& kept);
  void add_burst(const DatagramBurst& part);
  void note_no_room(FabricTime t);
  uint32_t keep_placement(const CutFrame& kept, const Sighting& s);
  void keep_crossing(PortRef port, FabricTime t, std::span<const uint8_t> frame);
  void keep_pause(PortRef at, FabricTime t, std::span<const uint8_t> frame);

  /// A host that was looked up before, as each is for thousands of frames.
  struct KnownHost {
    Ipv6Address address{};
    std::optional<uint32_t> host;
  };

  const Topology& topology_;
  bool keeps_crossings_;                    ///< switches choose ways, which headers do not name
  std::array<KnownHost, 256> known_hosts_;  ///< by the last byte of the address
  KnownPorts known_ports_{topology_};
  RcMessagesSeen rc_messages_{topology_.pmtu};
  Sightings seen_;
};

}  // namespace mrclab::analysis
