#pragma once
// Which plane the next packet to a destination takes, over all its queue pairs.
//
// If each queue pair took its own turns, packets of several queue pairs would go to one plane in a row, and to the
// next plane a round later. All senders go round alike, so a sender whose turns coincide with the crowd's would
// meet its queue in every round, and have less than its share for a hundred round trips.
//
// Where routes give planes different weights (draft-xu-idr-fare-in-mpson), a plane of weight 2 gets two packets for each
// one of a plane of weight 1, also while all ports have something to send: a port that is free waits for the others
// rather than take more than two packets ahead of its share.

#include <cstdint>
#include <optional>
#include <vector>

namespace mrclab::endpoint {

class PlaneWeights {
 public:
  /// By plane; 0 for planes that are not used. If those that are used have the same, there is nothing to weigh.
  void set(const std::vector<uint32_t>& weights);
  /// No weights: planes take turns.
  bool empty() const { return weights_.empty(); }
  /// The plane of `ports` that is due. Empty if it has had its share and one of `busy`, planes that are in use and
  /// cannot take a packet now, has not.
  std::optional<uint32_t> due(uint32_t ports, uint32_t busy);
  /// The plane has got a packet.
  void took(uint32_t plane) { spent_[plane] += cost(plane); }

 private:
  uint64_t cost(uint32_t plane) const;
  std::vector<uint32_t> weights_;
  std::vector<uint64_t> spent_;  ///< packets, each over the weight of its plane
  uint64_t dearest_ = 0;         ///< cost of a packet of the plane with the least weight
  uint32_t in_use_ = 0;
};

struct PlaneTurn {
  std::optional<uint32_t> next;  ///< empty before the first packet
  PlaneWeights weights;          ///< for values whose planes are chosen by routes
};

}  // namespace mrclab::endpoint
