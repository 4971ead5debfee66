#pragma once
// The connections of a plan by host, so that a host is made in the time that its own connections take, and not all
// those of the fabric.

#include <cstdint>
#include <span>
#include <vector>

#include "endpoint/plan/connection_plan.h"

namespace mrclab::endpoint {

/// Which connections of a plan end at which host: one pass over the plan, 4 bytes for each end and each host.
class OwnConnections {
 public:
  /// `plan` outlives it. Hosts are numbered below `hosts`.
  OwnConnections(const std::vector<ConnectionPlan>& plan, uint32_t hosts);

  const std::vector<ConnectionPlan>& plan() const { return plan_; }
  /// Places in the plan of the connections that begin or end at this host, in the order of the plan.
  std::span<const uint32_t> of(uint32_t host) const {
    return std::span(places_).subspan(first_[host], first_[host + 1] - first_[host]);
  }

 private:
  const std::vector<ConnectionPlan>& plan_;
  std::vector<uint32_t> first_;  ///< by host, and one more: where its places begin
  std::vector<uint32_t> places_;
};

}  // namespace mrclab::endpoint
