#pragma once
// Which paths of a prefix are used (RFC 4271 section 9.1.2.2), between external peers: there is no local
// preference and no inside. Several paths are used side by side that are alike up to the length of their AS
// path, their origin and their MED, whatever ASs they lead through ("multipath-relax").
//
//   reachable before unreachable (draft-ietf-idr-upa)
//   the node's own
//   shorter AS path
//   lower origin: IGP, EGP, incomplete
//   lower MED, among those of the same neighbouring AS
//   (alike so far: multipath)
//   lower router id of the peer
//   lower address of the peer
//
// Path bandwidth takes no part (RFC 10005 section 5).

#include <span>
#include <vector>

#include "routing/rib/route_table.h"

namespace mrclab::routing {

struct PeerRank {
  RouterId router;
  Ipv6Address address{};
};

/// The peers of the best paths, the best first, at most `limit`; none of no paths. `ranks`: by peer.
std::vector<PeerIndex> choose_paths(std::span<const Path> paths, std::span<const PeerRank> ranks,
                                    size_t limit);

}  // namespace mrclab::routing
