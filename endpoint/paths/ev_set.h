#pragma once
// The entropy values of one queue pair: equally many per plane, some active and the others in
// reserve, a rotation per plane that is shuffled per queue pair and reshuffled at each wrap, and
// the choice of the next one for a port that is free (MRC paper §2.1, §2.4; specification §9.3: EV
// Universe = active + inactive, GetSendParams(free_ports)).
//
// Backups (MRC paper §2.4, §4): an active value that is assumed bad, denied or leads to a dead port of
// the peer changes places with a usable backup of the same plane, never of another, so planes stay
// loaded alike. When it is usable again it waits as a backup, or takes an active place that no usable
// backup could fill. Where a plane's values lead to several ports of the peer (live_ports.h), each port
// has its share of the places, from the start and again when it is back (our choice).
//
// The tricky rule is SKIP (specification §9.3.1): the first SKIP value that a selection's scan
// meets goes back to GOOD but is not used for this packet; others met in the same scan stay SKIP.
// So one packet restores at most one value, and one mark costs exactly one turn. Only if nothing
// else is left may the value just restored be used. A mark that is older than the age-out costs
// nothing any more: its congestion is over (specification: timer, implementation-defined).
//
// To the letter a mark costs a turn however the other paths of the plane are. By default a value has a
// share of its turns instead, which falls where the value is marked more often than its plane (ev_turns.cc).

#include <boost/container/flat_map.hpp>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "endpoint/base/ev_set_limits.h"
#include "endpoint/paths/ev_state.h"
#include "endpoint/paths/live_ports.h"
#include "endpoint/paths/plane_turn.h"
#include "endpoint/paths/recycled_values.h"
#include "fabric/base/cache_line.h"
#include "fabric/base/ids.h"
#include "fabric/base/random.h"
#include "fabric/base/units.h"
#include "fabric/topology/path.h"
#include "fabric/topology/topology.h"

namespace mrclab::endpoint {

/// Every path between two hosts: one per plane on a common T0, else one per plane and T0 uplink. At
/// most `limit` (but one per plane): then a random subset, equally many in each plane. Where a hash
/// chooses, `limit` values, equally many in each plane and at most kHashNumbers: the draw
/// ignores uplinks, and several values may lead to one. Each queue pair draws its own (MRC paper
/// §2.4: an EV set per QP), so that those of a pair of hosts meet a bad path by their own chance;
/// the way back, which all of them share, draws as `qp` 0.
std::vector<EntropyValue> entropy_values(const Topology& topology, uint32_t source,
                                         uint32_t destination, uint32_t limit, uint64_t seed,
                                         Chosen chosen = Chosen::kByName, Qpn qp = {});

class EvSet {
 public:
  /// The number of a value in its set: a profile gives at most 4,096 of them.
  using Index = uint16_t;
  struct Shuffle {
    uint64_t seed = 0;
    NodeId node;
    uint32_t qp = 0;  ///< number of the queue pair in its host: its rotations differ from others
  };
  /// `values` are grouped into planes by their path; port p carries plane p.
  EvSet(const std::vector<EntropyValue>& values, uint32_t planes, EvSetLimits limits,
        Shuffle shuffle, const PeerPortOf& peer_port = same_port);

  size_t size() const { return entries_.size(); }
  EntropyValue value(uint32_t index) const { return entries_[index].value; }
  uint32_t plane(uint32_t index) const { return entries_[index].plane; }
  EvState state(uint32_t index) const { return entries_[index].state; }
  /// Has a place in the rotation. (It may be unusable all the same, if no backup could fill in.)
  bool active(uint32_t index) const { return entries_[index].active; }
  /// The instant since which the value has been usable without interruption.
  FabricTime good_since(uint32_t index) const {
    return good_since_.empty() ? FabricTime::zero() : good_since_[index];
  }
  std::optional<uint32_t> find(EntropyValue value) const;

  /// The next value for one of `free_ports` (bit = plane), from the plane whose turn it is on. `avoid`
  /// is taken only if there is no other to use on any usable port.
  std::optional<uint32_t> choose(uint32_t free_ports, FabricTime now, PlaneTurn& turn,
                                 std::optional<uint32_t> avoid = {}) {
    const uint32_t found = choose_index(free_ports, now, turn, avoid.value_or(kNoIndex));
    return found == kNoIndex ? std::nullopt : std::optional(found);
  }
  /// The same by turns of its own: of probes, and where a destination has one queue pair.
  std::optional<uint32_t> choose(uint32_t free_ports, FabricTime now,
                                 std::optional<uint32_t> avoid = {}) {
    return choose(free_ports, now, own_turn_, avoid);
  }
  /// Planes that can take a packet: up at both ends, with a usable value.
  uint32_t ports_with_choice() const { return offering_ & usable_ports_; }

  /// Loads the values that the next packets will ask for, one per plane, into the cache.
  void fetch_next() const {
    for (const Plane& plane : planes_) fetch_next_of(plane);
  }

  /// A packet on this value, sent at `sent` as far as that is known, was marked, trimmed or late.
  void congested(uint32_t index, FabricTime now, std::optional<FabricTime> sent = {});
  /// The answer to a packet on this value bore no mark. For PathChoice::kReps.
  void answered_unmarked(uint32_t index);
  /// A packet on this value was lost, whatever else that means. For PathChoice::kReps.
  void note_loss(uint32_t index, FabricTime now);
  enum class LossVerdict : uint8_t { kUnchanged, kSkipped, kAssumedBad };
  /// A packet sent on this value was lost. kSkipped: too few active values would be left, so the
  /// value only loses a turn.
  LossVerdict lost(uint32_t index, FabricTime now);
  void revived(uint32_t index, bool marked, FabricTime now);
  /// The controller denies the value; ev_min_active does not bind it.
  void deny(uint32_t index, FabricTime now);
  void allow(uint32_t index, FabricTime now);

  struct Swap {
    uint32_t in = 0, out = 0;
  };
  /// The changes of places since the last call.
  std::vector<Swap> take_swaps() { return std::exchange(swaps_, {}); }

  /// Values whose ports are up at both ends again start GOOD (DENIED stays).
  void set_live_ports(LivePorts live, FabricTime now);
  /// Own ports that are up and from which a value leads to a port of the peer that is up, too.
  uint32_t usable_ports() const { return usable_ports_; }
  /// Are the ports of the value's path up at both ends?
  bool connected(uint32_t index) const {
    return (usable_ports_ & 1u << entries_[index].plane) != 0 && arrives(entries_[index]);
  }
  /// Is there no other usable value in its plane?
  bool is_last_of_plane(uint32_t index) const;
  /// The share of its turns that a value takes, in 1 / kWhole.
  uint32_t turns(uint32_t index) const {
    return entries_[index].slowed ? turns_.find(static_cast<Index>(index))->second.share : kWhole;
  }
  static constexpr uint32_t kWhole = 1 << 15;
  /// Number of values that are not usable now, for any reason.
  uint32_t unusable() const;
  /// Indices with a place in the rotation of a plane, in the order of this round.
  const std::vector<Index>& rotation(uint32_t plane) const { return planes_[plane].rotation; }

 private:
  /// 8 bytes, because a host has hundreds for each of its queue pairs. Planes and ports of the peer are below 32, since
  /// sets of them are masks of 32 bits.
  struct Entry {
    EntropyValue value;
    uint16_t plane : 5 = 0;
    uint16_t peer_port : 5 = 0;
    EvState state : 2 = EvState::kGood;
    bool active : 1 = true;
    bool slowed : 1 = false;  ///< takes less than all of its turns
    uint16_t marked = 0;      ///< marks by uses of late, in 1 / kWhole
  };
  static_assert(sizeof(Entry) == 8);
  /// Which turns a value takes that is marked more often than others.
  struct Turns {
    uint32_t share = kWhole;
    uint32_t saved = 0;  ///< what its turns came to since it took one, in 1 / kWhole
    FabricTime cut;      ///< when the share was last cut
    FabricTime grown;    ///< until when it has grown
  };
  struct Plane {
    std::vector<Index> rotation;
    std::vector<Index> backups;  ///< the longest waiting first
    size_t cursor = 0;
    uint32_t peer_ports = 0;  ///< ports of the peer that its values lead to, one bit each
    uint32_t marked = 0;      ///< as Entry::marked, of all its values by their shares
  };
  /// Stands for no value in here, where one is chosen for each packet: an optional is written in its two members and read
  /// in one piece, for which a processor waits until both are written.
  static constexpr uint32_t kNoIndex = UINT32_MAX;
  struct Scan {
    FabricTime now;
    uint32_t avoid = kNoIndex;
    uint32_t restored = kNoIndex;
  };
  uint32_t choose_index(uint32_t free_ports, FabricTime now, PlaneTurn& turn, uint32_t avoid);
  bool arrives(const Entry& entry) const { return (peer_ports_ & 1u << entry.peer_port) != 0; }
  /// Is the value usable on the peer's side? Its own port may be down.
  bool offers(uint32_t index) const {
    return is_usable(entries_[index].state) && arrives(entries_[index]);
  }
  [[gnu::noinline]] bool has_other_than(uint32_t index) const;
  // Inline where they are defined, which is also the only place where they are used.
  inline uint32_t choose_in_turn(uint32_t ports, PlaneTurn& turn, Scan& state);
  [[gnu::noinline]] uint32_t choose_by_weight(uint32_t ports, PlaneTurn& turn, Scan& state);
  inline uint32_t next_of_plane(uint32_t number, Scan& state);
  void fetch_next_of(const Plane& plane) const {
    if (plane.cursor < plane.rotation.size()) fetch_line(&entries_[plane.rotation[plane.cursor]]);
  }
  uint32_t next_recycled(uint32_t number, const Scan& state);
  uint32_t scan(Plane& plane, uint32_t number, Scan& state);
  [[gnu::noinline]] uint32_t slowed_value(const Plane& plane, const Scan& state);
  bool has_turn_shares() const { return limits_.turn_period > FabricTime::zero(); }
  void note_use(Plane& plane, uint32_t index);
  [[gnu::noinline]] void cut_turns(uint32_t index, FabricTime now, std::optional<FabricTime> sent);
  [[gnu::noinline]] bool takes_turn(uint32_t index, FabricTime now);
  Turns& turns_of(uint32_t index) { return turns_.find(static_cast<Index>(index))->second; }
  Turns& slowed_turns(uint32_t index, FabricTime now);
  void grow_turns(Turns& turns, FabricTime now) const;
  void scale_turns(uint32_t index, uint32_t part, FabricTime now);
  [[gnu::noinline]] void shuffle(std::vector<Index>& values, uint32_t plane);
  void set_state(uint32_t index, EvState state, FabricTime now);
  void begin_good(uint32_t index, FabricTime now);
  void fill_places(uint32_t plane);
  void share_places(uint32_t plane);
  void change_places(Plane& plane, Index& place, Index backup);
  bool must_keep(uint32_t index) const;

  std::vector<Entry> entries_;
  // EvSet keeps the turns of slowed values alone, since a queue pair has hundreds of values and slows few of them.
  boost::container::flat_map<Index, Turns> turns_;
  std::vector<FabricTime> good_since_;  // by index; empty while all were usable from the start
  std::vector<FabricTime> skip_since_;  // by index; empty until the first is SKIP
  std::vector<Index> by_value_;  // for find(); empty if the entries themselves are in that order
  std::vector<Plane> planes_;
  std::vector<RecycledValues> recycled_;  // by plane; empty but for PathChoice::kReps
  EvSetLimits limits_;
  Shuffle shuffle_;
  std::vector<Swap> swaps_;
  uint64_t draws_ = 0;
  uint32_t first_plane_ = 0;
  PlaneTurn own_turn_;
  bool by_route_ = false;  ///< its values name no paths
  uint32_t peer_ports_ = ~0u;
  uint32_t usable_ports_ = 0;
  uint32_t offering_ = 0;
};

}  // namespace mrclab::endpoint
