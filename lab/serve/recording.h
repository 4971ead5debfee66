#pragma once
// What a simulated world did, kept so that any instant of it can be shown again: the digest of its
// history, packets one by one, and sums over bins of fabric time. Watches nodes, never influences them.
//
// Bounded: packets take at most kMaxPackets entries, after that the oldest bins lose theirs (the sums stay).
// One thread.

#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fabric/history.h"
#include "fabric/topology.h"
#include "lab/serve/seen.h"

namespace mrclab::lab {

class Recording {
 public:
  static constexpr size_t kMaxPackets = 3'000'000;  ///< 56 bytes each (our choice)
  static constexpr size_t kMaxEvents = 100'000;     ///< of hosts, and as many windows
  static constexpr size_t kMaxCells = 8'000'000;    ///< wires times bins (our choice)

  /// Sums of one plane over one bin.
  struct PlaneSums {
    uint32_t received = 0;  ///< bytes of data that came in at hosts, as on the wire, not trimmed
    uint16_t lost = 0, trimmed = 0, marked = 0, again = 0;
    bool operator==(const PlaneSums&) const = default;
  };
  /// Of one wire over one bin.
  struct WireSums {
    uint32_t bytes = 0;  ///< that left over it
    uint32_t queue = 0;  ///< bytes in front of the packet that had to wait longest
    bool operator==(const WireSums&) const = default;
  };

  /// `topology` outlives it. Nothing later than `end` is kept.
  Recording(const Topology& topology, FabricTime end);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  NodeObserver& observer(NodeId node) { return watchers_[node.value]; }
  /// To be called when all nodes have committed `until`: what is earlier is complete then.
  void complete(FabricTime until);

  FabricTime bin() const { return bin_; }
  size_t bins() const { return bins_; }
  size_t bin_of(FabricTime t) const { return static_cast<size_t>(t / bin_); }
  std::span<const WireSums> wires(size_t bin) const;
  std::span<const PlaneSums> planes(size_t bin) const;
  /// Packets of one bin, ordered by (time, wire) once complete.
  std::span<const SeenPacket> packets(size_t bin) const { return packets_[bin]; }
  /// Packets of earlier bins are no longer there.
  size_t first_kept() const { return first_kept_; }
  std::span<const SeenEvent> events() const { return events_; }
  std::span<const SeenWindow> windows() const { return windows_; }
  /// Events and windows that found no room.
  uint64_t left_out() const { return left_out_; }
  /// The history as far as it goes: as a run of the same scenario up to there has it.
  std::string history_sha256() const;

 private:
  class Watcher : public NodeObserver {
   public:
    Watcher(Recording& recording, NodeId node);
    void packet(const PacketRecord& record) override;
    void event(const EventRecord& record) override;
    void window(const WindowRecord& record) override;
    const HistoryDigest& digest() const { return digest_; }

   private:
    struct Inside {
      FabricTime ready;  ///< has passed the pipeline
      bool marked = false;
    };
    void arrived(const PacketRecord& record, const HistoryBytes& bytes);
    void leaves(const PacketRecord& record, SeenPacket& seen);

    Recording& recording_;
    const NodeSite& site_;
    HistoryDigest digest_;
    /// Switches: frames that have come in and not left, by their bytes. Bounded by kMaxInside.
    std::unordered_map<const uint8_t*, Inside> inside_;
  };
  friend class Watcher;

  WireSums& sums_of(size_t bin, WireId wire) {
    return wire_sums_[bin * topology_.wires_list.size() + wire.value];
  }
  PlaneSums& sums_of(size_t bin, uint32_t plane) {
    return plane_sums_[bin * topology_.planes + plane];
  }
  void add(const SeenPacket& seen);
  void forget_oldest();

  const Topology& topology_;
  FabricTime end_;
  FabricTime bin_;
  size_t bins_;
  std::vector<WireSums> wire_sums_;
  std::vector<PlaneSums> plane_sums_;
  std::vector<std::vector<SeenPacket>> packets_;  // by bin
  size_t kept_ = 0, first_kept_ = 0;
  size_t sorted_ = 0;         // bins that are in order
  size_t events_sorted_ = 0;  // events that are in order
  size_t windows_sorted_ = 0;
  std::vector<SeenEvent> events_;
  std::vector<SeenWindow> windows_;
  uint64_t left_out_ = 0;
  std::deque<Watcher> watchers_;  // by node
};

/// Where two histories part: the first packet, by (time, wire), that one has and the other has not.
struct FirstDifference {
  FabricTime t;
  std::optional<SeenPacket> a, b;  ///< at its place; at least one of them is there
};
/// Looks at complete bins before `until`, from the first that both have kept; empty: no difference there.
std::optional<FirstDifference> first_difference(const Recording& a, const Recording& b,
                                                FabricTime until);

}  // namespace mrclab::lab
