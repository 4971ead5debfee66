#pragma once
// Where a frame goes: the own uN and static next hops, set at start from the topology and changed by
// faults only (MRC paper §2.2; RFC 9800 §4.1.1 for the End behaviour with NEXT-CSID, F3216). A
// frame without a carrier goes by its destination host (ecmp_table.h, or fare_table.h where switches route by
// themselves), so that both kinds of traffic share a switch.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/node/node.h"
#include "fabric/topology/path.h"
#include "fabric/topology/topology.h"
#include "switchd/ecmp_table.h"
#include "switchd/fare_table.h"

namespace mrclab::switchd {

/// What the pipeline decided. `port` is valid when `drop` is kNone.
struct ForwardingDecision {
  DropCause drop = DropCause::kNone;
  PortId port;
  uint8_t dscp = 0;
  bool strip = false;  ///< the outer header goes: strip_outer() of outer_header.h
};

class ForwardingTable {
 public:
  /// What is behind each port, by fabric/topology/routes.h. `self` must be a switch with fewer than 32,767
  /// ports. The topology outlives the table.
  ForwardingTable(const Topology& topology, NodeId self);

  Usid own() const { return own_; }
  std::optional<PortId> next_hop(Usid usid) const;
  size_t size() const { return routes_; }
  /// Does the route of this uSID shift the carrier (a uA)?
  bool is_adjacency(Usid usid) const { return (lookup(usid.value) & kShifts) != 0; }
  /// The port of each uSID that has a route, by uSID; empty while the table is not loaded.
  std::vector<std::pair<Usid, PortId>> routes() const;
  /// The ports to each host of the fabric, for packets without a carrier: several where a hash chooses.
  /// None while the table is not loaded.
  std::vector<std::vector<PortId>> host_routes() const;

  /// A fault, or its undo: the route for one uSID is missing, leads to `port`, or is as built. A
  /// wrong port that the switch does not have is ignored.
  void set_route(Usid usid, RouteKind kind, PortId port);
  /// Read back against what is planned for this switch: the first uSID that leads elsewhere, and how many do. Empty: none.
  std::string difference() const;
  /// A table that is not loaded has no route at all, not even the own uN. Routes keep their faults.
  void set_loaded(bool loaded) { loaded_ = loaded; }

  /// The table of hosts that routing writes; null unless switches route by themselves.
  FareTable* fare() { return fare_.get(); }
  const FareTable* fare() const { return fare_.get(); }

  /// A port of this switch: it lost its carrier or has it back. Only equal-cost groups care.
  void set_live(PortId port, bool live) { hosts_.set_live(port, live); }

  /// Chooses the uplink of each frame of RoCE's data in place of the hash.
  void set_uplink_choice(EcmpTable::UplinkChoice choice) {
    hosts_.set_uplink_choice(std::move(choice));
  }

  /// Looks at any bytes at all. With `decap: leaf` a carrier that ends here is taken off: what is inside
  /// goes to its host, with the outer header's DSCP, and its congestion mark if it takes one.
  /// On success the frame is ready to leave: carrier shifted if its
  /// active uSID is our own, hop limit decremented, MAC addresses of the egress link. A frame that
  /// is dropped stays as it arrived. `modelled_size` is the frame's (payloads may be elided).
  ForwardingDecision forward(std::span<uint8_t> frame, Bytes modelled_size) const;

 private:
  /// port + 1 by the low byte of the uSID, with kShifts if it is a uA; 0: no route
  using Page = std::array<uint16_t, 256>;
  static constexpr uint16_t kShifts = 0x8000;
  static constexpr size_t port_in(uint16_t entry) { return (entry & ~kShifts) - 1u; }
  uint16_t entry_for(Usid usid, PortId port) const;
  [[gnu::noinline]] ForwardingDecision forward_inner(std::span<uint8_t> frame) const;
  [[gnu::noinline]] ForwardingDecision forward_by_host(std::span<uint8_t> frame) const;
  ForwardingDecision send(std::span<uint8_t> frame, PortId port) const;
  uint16_t& entry_of(Usid usid);
  uint16_t lookup(uint16_t usid) const { return pages_[page_of_[usid >> 8]][usid & 0xFF]; }

  const Topology& topology_;
  NodeId self_;
  Usid own_;
  bool loaded_ = true;
  size_t routes_ = 0;
  std::array<uint16_t, 256> page_of_{};  // by the high byte of the uSID; page 0 is empty
  std::vector<Page> pages_;
  std::vector<std::array<uint8_t, 12>> macs_;  // per port: destination, source
  EcmpTable hosts_;
  std::unique_ptr<FareTable> fare_;                // whose groups take turns as frames pass
  std::unordered_map<uint32_t, PortId> attached_;  // by host number: where it hangs on this switch
};

}  // namespace mrclab::switchd
