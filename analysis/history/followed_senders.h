#pragma once
// The hosts whose packets a judge follows one by one, where a run has more packets than it can keep. What they send is
// followed to where it ends, and what answers it; frames of all other hosts are counted only.

#include <cstdint>
#include <vector>

#include "fabric/packet/frame.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

class FollowedSenders {
 public:
  /// All hosts.
  FollowedSenders() = default;
  /// Those with `true`; by host.
  explicit FollowedSenders(std::vector<bool> hosts);

  bool all() const { return hosts_.empty(); }
  /// How many hosts of the fabric.
  uint64_t count(const Topology& topology) const { return all() ? topology.host_count() : count_; }
  bool follows(uint32_t host) const { return all() || hosts_[host]; }
  /// Data of such a host, or the answer to it. A frame that is no packet of MRC is followed, as there are few.
  bool follows(const Topology& topology, const Frame& frame) const;

 private:
  std::vector<bool> hosts_;
  uint64_t count_ = 0;
};

}  // namespace mrclab::analysis
