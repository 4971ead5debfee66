#pragma once
// Entropy values that a controller has denied on a host, toward every peer or toward one (MRC paper
// §3-4; MRC API: state DENIED). Only the controller undoes it. The entries that a broken part calls
// for, by its place:
//
//   link T0a - T1u in plane p   (p, u) on the hosts of T0a, toward every host
//   link T1u - T0b              (p, u) on every host, toward the hosts of T0b
//   T1u                         (p, u) on every host
//   T0b, or a NIC port of h     plane p toward the hosts of T0b, or toward h

#include <cstdint>
#include <set>
#include <utility>

#include "fabric/base/ids.h"

namespace mrclab::endpoint {

class Denylist {
 public:
  static constexpr uint32_t kEverybody = 0xFFFF'FFFF;

  /// `toward` is a host number or kEverybody. The two are separate entries: allowing one leaves
  /// the other in force.
  void set(EntropyValue ev, uint32_t toward, bool denied) {
    if (denied) {
      entries_.emplace(ev, toward);
    } else {
      entries_.erase({ev, toward});
    }
  }
  bool denies(EntropyValue ev, uint32_t host) const {
    return entries_.contains({ev, kEverybody}) || entries_.contains({ev, host});
  }
  bool empty() const { return entries_.empty(); }

 private:
  std::set<std::pair<EntropyValue, uint32_t>> entries_;  // bounded by paths x (hosts + 1)
};

}  // namespace mrclab::endpoint
