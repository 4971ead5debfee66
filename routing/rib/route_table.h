#pragma once
// The routes of one speaker: what each neighbour advertised (Adj-RIB-In), what was chosen (Loc-RIB), and what was
// advertised to each neighbour (Adj-RIB-Out), all of one prefix in one entry. Policy is in the speaker
// (routing/speaker): what is advertised, and what a choice leads to.
//
// Entries stay where they are until erase_if_idle(), so that queues may hold pointers to them.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/base/ids.h"
#include "routing/base/prefix.h"
#include "routing/bgp/path_attributes.h"

namespace mrclab::routing {

/// A neighbour, as the index of its session in the speaker; kOwn: this node itself.
using PeerIndex = uint16_t;
inline constexpr PeerIndex kOwn = 0xFFFF;

struct Path {
  PeerIndex peer = kOwn;
  bool unreachable = false;          ///< announced as unreachable (routing/bgp/communities.h)
  std::optional<BitRate> bandwidth;  ///< as it was advertised; taken out of the attributes
  /// As received. Shared with all other prefixes of the same UPDATE, and with what was advertised of them.
  std::shared_ptr<const PathAttributes> attributes;
};

/// What was advertised to a neighbour last.
struct Advertised {
  /// Before our own changes of the export. Shared with the path it was made from.
  std::shared_ptr<const PathAttributes> attributes;
  BitRate bandwidth;  ///< as advertised; `weighed` distinguishes 0 from none
  bool weighed = false;
  bool pending = false;  ///< stands in the queue of advertisements
  bool again = false;    ///< to be advertised even if it is the same
};

/// One next hop in the forwarding table.
struct WeightedHop {
  PortId port;
  uint32_t weight = 1;
  bool operator==(const WeightedHop&) const = default;
};
/// What the forwarding table holds for a prefix. No hops: the prefix is not there, or, if it is `known`, its
/// packets are to be dropped, however they would be covered.
struct FibEntry {
  std::vector<WeightedHop> hops;
  bool known = false;
  bool operator==(const FibEntry&) const = default;
};

struct RouteEntry {
  std::vector<Path> paths;        ///< ascending by peer, one of each
  std::vector<Advertised> told;   ///< by peer; empty as long as nothing was advertised
  std::vector<PeerIndex> chosen;  ///< the best first; the others are as good
  FibEntry fib;                   ///< as it shall be
  FibEntry written;               ///< as it is
  bool decision_pending = false, write_pending = false;
  bool host_was_here = false;  ///< a neighbour that is a host has announced it
  // What is advertised of it (routing/fare/path_share.h).
  bool weighed = false;  ///< all chosen paths have a bandwidth
  BitRate heard;         ///< their sum
  uint32_t ways_out = 0;

  const Path* path_of(PeerIndex peer) const;
};

class RouteTable {
 public:
  using Routes = std::map<Prefix, RouteEntry>;
  using Node = Routes::value_type;

  /// `limit`: prefixes. `peers`: how many neighbours there are.
  RouteTable(size_t limit, size_t peers) : limit_(limit), counts_(peers, 0) {}

  const Routes& routes() const { return routes_; }
  Routes& routes() { return routes_; }
  size_t size() const { return routes_.size(); }
  /// Paths from `peer` in the table.
  size_t count(PeerIndex peer) const { return peer == kOwn ? own_ : counts_[peer]; }

  enum class Change : uint8_t { kNone, kChanged, kNoRoom };
  /// Replaces the path of that peer (implicit withdrawal). kNone: it equals the one before.
  Change announce(const Prefix& prefix, Path path, Node** where);
  /// nullptr: there was none.
  Node* withdraw(const Prefix& prefix, PeerIndex peer);
  Node* find(const Prefix& prefix);
  /// The longest entry that covers `prefix`, is shorter, and for which `wanted(entry)` holds.
  template <class Wanted>
  const Node* covering(const Prefix& prefix, const Wanted& wanted) const {
    for (unsigned length = prefix.length(); length-- > 0;) {
      const auto found = routes_.find(prefix.cut(static_cast<uint8_t>(length)));
      if (found != routes_.end() && wanted(found->second)) return &*found;
    }
    return nullptr;
  }
  void erase_if_idle(Node& node);

 private:
  size_t& count_of(PeerIndex peer) { return peer == kOwn ? own_ : counts_[peer]; }

  size_t limit_;
  Routes routes_;
  std::vector<size_t> counts_;
  size_t own_ = 0;
};

}  // namespace mrclab::routing
