#pragma once
// How switches choose among equal paths when packets name none (routing: ecmp): a hash over the
// five-tuple and the IPv6 flow label, with a seed per switch, and a group of uplinks. The hash is
// documented here so that a reader of captures can compute which way a packet went.
//
//   T0   a host of its own row: that port. Any other host: the group of its uplinks.
//   T1   the port to the host's row.
//
// No routing protocol runs: a switch sees the state of its own ports and nothing beyond them. An
// uplink without carrier leaves its T0's group; a dead link T1-T0 does not, and packets that the hash
// sends there are lost until their sender uses other entropy values.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/topology/path.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// What a switch hashes. IPv4 addresses are mapped ones, and their flow label is 0.
struct FlowKey {
  Ipv6Address source{}, destination{};
  uint32_t flow_label = 0;  ///< 20 bits
  uint8_t protocol = 0;
  uint16_t source_port = 0, destination_port = 0;
};

/// Full avalanche (SplitMix64's finalizer over six words), so that neighbouring EVs part. Products
/// have CRCs, whose results for two seeds differ by a constant; this one has no such relation.
uint64_t ecmp_hash(const FlowKey& key, uint64_t seed);

/// The seed of a switch's hash: made from its place in the fabric, or one for all switches
/// (RoutingChoice::same_seed).
uint64_t ecmp_seed(const Topology& topology, NodeId self);

/// An equal-cost group. Two ways to go from a hash to a member:
///
///   modulo      hash mod number of live members. When one leaves, nearly every flow may move.
///   resilient   a table of kBuckets, each of which has a home. When one leaves, its buckets are
///               spread over the others and no other flow moves; when it is back, they go home.
class EcmpGroup {
 public:
  static constexpr uint32_t kBuckets = 256;

  EcmpGroup(std::vector<PortId> members, bool resilient);

  /// Ignores a port that is not a member.
  void set_live(PortId port, bool live);
  bool empty() const { return live_.empty(); }
  /// The members with carrier, ascending.
  const std::vector<PortId>& live() const { return live_; }
  /// The group must not be empty.
  PortId choose(uint64_t hash) const {
    return live_[table_.empty() ? hash % live_.size() : table_[hash % kBuckets]];
  }

 private:
  void fill_table();

  std::vector<PortId> members_;
  std::vector<bool> up_;         // by place in members_
  std::vector<PortId> live_;     // ascending, as in members_
  std::vector<uint16_t> table_;  // bucket -> place in live_; empty: modulo
  bool resilient_;
};

/// The key of an MRC packet between two hosts (numbers) with a hashed EV.
FlowKey flow_of(const Topology& topology, uint32_t source, uint32_t destination, EntropyValue ev);

/// The uplinks of a T0 of regular planes, and of no other switch: the members of its group.
std::vector<PortId> uplinks_of(const Topology& topology, NodeId t0);

/// Does the sender name the paths of a queue pair, or does a hash choose them? By `workload`,
/// or without one by the fabric's default.
Chosen chosen_by(const Topology& topology, std::optional<Routing> workload = {});

/// Where an EV leads, as built: a path that is named by its EV as it is; for a hashed EV the path
/// that its switches choose with all their ports up. Empty for hosts or planes that the fabric
/// does not have, where what leaves by a port of a NIC may come to any port of another, where one that chooses is not
/// one of our switches, and where switches route by themselves, whose tables change.
std::optional<Path> path_between(const Topology& topology, uint32_t source, uint32_t destination,
                                 Path path);

}  // namespace mrclab
