#pragma once
// The way back to one peer: one entropy value per plane for SACKs, NACKs and ACKs, updated from the
// data that comes in, since the carrier of a packet cannot be reversed after it was shifted
// (MRC paper §2.3, §2.4). Packets rotate over the planes that are up at both ends and on which the
// peer was heard lately, so one dead direction costs a share of the SACKs, not all.

#include <cstdint>
#include <optional>
#include <vector>

#include "endpoint/ev_set.h"

namespace mrclab::endpoint {

class ReversePath {
 public:
  /// `values` as for an EvSet; the first of each plane is used until data has come.
  ReversePath(const std::vector<EntropyValue>& values, uint32_t planes, FabricTime fresh);

  /// Data of the peer came in on this value.
  void heard(EntropyValue ev, uint32_t plane, FabricTime now);
  /// Empty if no port is usable.
  std::optional<EntropyValue> choose(uint32_t usable_ports, FabricTime now);
  std::optional<EntropyValue> of_plane(uint32_t plane) const;

 private:
  struct Plane {
    std::optional<EntropyValue> ev;
    FabricTime heard;
  };
  std::vector<Plane> planes_;
  FabricTime fresh_;
  uint32_t next_ = 0;
};

}  // namespace mrclab::endpoint
