#pragma once
// Can the traffic of some hosts live through a set of faults? Yes, if between each two of them, in
// both directions, some path works at every instant. A path does not work while a fault breaks one
// of its wires or switches or takes it out of use, and not for a while after that: a transport that marked it
// as bad must first probe it. Slower, later, reordered or doubled frames break nothing.
//
// A transport whose packets do not leave a path that is dead (RC: each queue pair has one) lives through it
// only if no path is dead for longer than it tries again. Nor may a host stand still for so long, or pause its
// senders: with pauses that holds up others, too.

#include <map>
#include <tuple>
#include <vector>

#include "fabric/topology/path.h"
#include "fabric/topology/topology.h"
#include "faults/fault.h"

namespace mrclab::faults {

/// Tracks what is broken when. Add the faults one by one and ask in between.
class Outages {
 public:
  /// A path that has failed once is counted as broken for as long again as it was, and this time
  /// (our choice: probes of a dead path become rarer the longer it is dead, and three must come
  /// back); one that has failed twice for good (then ever more must come back).
  static constexpr int64_t kSettleRtts = 32;

  explicit Outages(const Topology& topology);
  void add_holds(const std::vector<Hold>& holds);
  /// Hosts by number. Never if any host of the fabric lost its power: its work does not come back.
  bool survivable(const std::vector<uint32_t>& hosts) const;
  /// By traffic that keeps to a path and tries again for so long.
  bool survivable_by_patience(const std::vector<uint32_t>& hosts, FabricTime patience) const;
  /// What happens this soon after another outage counts as a part of it: our choice, as a queue that was
  /// held up needs some round trips until it is gone.
  static constexpr int64_t kApartRtts = 8;

 private:
  struct Outage {
    FabricTime from, until;
  };
  using Denial = std::tuple<uint32_t, EntropyValue, uint32_t>;  // host, value, toward or kEverybody
  static constexpr uint32_t kEverybody = 0xFFFF'FFFF;
  void add_holds(const Hold& hold);
  void append_denials(const Denial& denial, std::vector<Outage>& out) const;
  std::vector<Outage> raw_outages_of(uint32_t from, uint32_t to, Path path) const;
  bool outlast(std::vector<Outage> outages, FabricTime patience) const;
  std::vector<Outage> outages_of(uint32_t from, uint32_t to, Path path) const;
  bool pair_survives(uint32_t from, uint32_t to) const;

  const Topology* topology_;                // never null; a pointer, so that this can be assigned
  std::vector<std::vector<Outage>> wires_;  // by id
  std::vector<std::vector<Outage>> nodes_;  // by id
  std::map<Denial, std::vector<Outage>> denials_;
  std::vector<Outage> stops_;  // of hosts that stood still, or paused the others
  bool host_lost_ = false;
};

}  // namespace mrclab::faults
