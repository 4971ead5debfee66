#pragma once
// What a host denies its queue pairs: entropy values that a controller denied by hand (endpoint/paths/denylist.h), and the
// paths over the parts of the list that it got last, or began with.
//
// The host does not trust a list: of the values of a queue pair, or of a way back, the list denies at most the share that
// the policy has. A part that would make it more is left out for them, and counted.

#include <cstdint>
#include <vector>

#include "endpoint/paths/denylist.h"
#include "fabric/probes/mapper_message.h"

namespace mrclab::endpoint {

class HostDenials {
 public:
  /// `topology` outlives it.
  HostDenials(const Topology& topology, uint32_t self);

  Denylist& by_hand() { return by_hand_; }
  bool empty() const { return by_hand_.empty() && list_.parts.empty(); }
  struct Among {
    std::vector<bool> denied;
    uint32_t left_out = 0;  ///< parts of the list
  };
  Among among(const std::vector<EntropyValue>& values, uint32_t peer) const;
  /// Does this path lead over a part of the list?
  bool lists(uint32_t peer, Path path) const;

  const DeniedList& list() const { return list_; }
  /// False: it is older than the one in force, or the same, which it confirms.
  bool take(DeniedList list, FabricTime now);
  /// Nothing was heard of the list for as long as the policy allows: it is forgotten.
  bool expire(FabricTime now);
  /// The host begins anew with what every host begins with; what was denied by hand stays.
  void begin_again();

 private:
  const Topology& topology_;
  const uint32_t self_;
  Denylist by_hand_;
  DeniedList list_;
  FabricTime heard_;
};

}  // namespace mrclab::endpoint
