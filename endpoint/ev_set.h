#pragma once
// The entropy values of one queue pair: equally many per plane, a rotation per plane that is
// shuffled per queue pair and reshuffled at each wrap, and the choice of the next one for a port
// that is free (MRC paper §2.1, §2.4; specification §9.3: GetSendParams(free_ports)).
//
// The tricky rule is SKIP (specification §9.3.1): the first SKIP value that a selection's scan
// meets goes back to GOOD but is not used for this packet; others met in the same scan stay SKIP.
// So one packet restores at most one value, and one mark costs exactly one turn. Only if nothing
// else is left may the value just restored be used.

#include <cstdint>
#include <optional>
#include <vector>

#include "endpoint/ev_state.h"
#include "fabric/ids.h"
#include "fabric/random.h"
#include "fabric/topology.h"
#include "fabric/units.h"

namespace mrclab::endpoint {

/// Every path between two hosts: one per plane on a common T0, else one per plane and T0 uplink. At
/// most `limit` (but one per plane): then a random subset, equally many in each plane.
std::vector<EntropyValue> entropy_values(const Topology& topology, uint32_t source,
                                         uint32_t destination, uint32_t limit, uint64_t seed);

class EvSet {
 public:
  struct Shuffle {
    uint64_t seed = 0;
    NodeId node;
    uint32_t qp = 0;  ///< number of the queue pair in its host: its rotations differ from others
  };
  /// `values` are grouped into planes by their path; port p carries plane p.
  EvSet(const std::vector<EntropyValue>& values, uint32_t planes, uint32_t min_active_divisor,
        Shuffle shuffle);

  size_t size() const { return entries_.size(); }
  EntropyValue value(uint32_t index) const { return entries_[index].value; }
  uint32_t plane(uint32_t index) const { return entries_[index].plane; }
  EvState state(uint32_t index) const { return entries_[index].state; }
  /// Since when it is in the rotation without interruption.
  FabricTime good_since(uint32_t index) const { return entries_[index].good_since; }
  std::optional<uint32_t> find(EntropyValue value) const;

  /// The next value for one of `free_ports` (bit = plane), if possible not `avoid`.
  std::optional<uint32_t> choose(uint32_t free_ports, std::optional<uint32_t> avoid = {});
  /// Planes that have something to offer: up at both ends and an active value.
  uint32_t ports_with_choice() const { return offering_ & usable_ports_; }

  void congested(uint32_t index);
  enum class LossVerdict : uint8_t { kUnchanged, kSkipped, kAssumedBad };
  /// The loss of a packet sent on it. kSkipped: it would leave fewer than 1/divisor of the usable
  /// values active (ev_min_active of the MRC API), so it only loses a turn.
  LossVerdict lost(uint32_t index);
  void revived(uint32_t index, bool marked, FabricTime now);
  void deny(uint32_t index);
  void allow(uint32_t index, FabricTime now);

  /// Ports up at both ends. Values of a plane that comes back start GOOD (DENIED stays).
  void set_usable_ports(uint32_t ports, FabricTime now);
  uint32_t usable_ports() const { return usable_ports_; }
  /// Values that are not usable now, for whatever reason.
  uint32_t unusable() const;
  const std::vector<uint32_t>& of_plane(uint32_t plane) const { return planes_[plane].rotation; }

 private:
  struct Entry {
    EntropyValue value;
    uint32_t plane = 0;
    EvState state = EvState::kGood;
    FabricTime good_since;
  };
  struct Plane {
    std::vector<uint32_t> rotation;
    size_t cursor = 0;
  };
  struct Scan {
    std::optional<uint32_t> avoid;
    std::optional<uint32_t> restored;
  };
  std::optional<uint32_t> scan(Plane& plane, uint32_t number, Scan& state);
  void shuffle(Plane& plane, uint32_t number);
  void set_state(uint32_t index, EvState state);

  std::vector<Entry> entries_;
  std::vector<Plane> planes_;
  uint32_t divisor_;
  Shuffle shuffle_;
  uint64_t draws_ = 0;
  uint32_t next_plane_ = 0;
  uint32_t usable_ports_;
  uint32_t offering_ = 0;
};

}  // namespace mrclab::endpoint
