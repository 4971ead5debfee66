#pragma once
// What the judge asks of the ports of hosts for every frame: a topology makes a whole port of its cabling for each
// question (fabric/topology/cabling.h), and few ports have most of the frames.

#include <array>

#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// Not thread-safe.
class KnownPorts {
 public:
  struct Facts {
    PortRef port;  ///< invalid: of none yet
    uint32_t plane = 0;
    BitRate rate;
  };
  /// `topology` outlives it.
  explicit KnownPorts(const Topology& topology) : topology_(topology) {}
  /// Until the next call.
  const Facts& of(PortRef at) {
    Facts& facts = known_[(at.node.value * 8 + at.port.value) % known_.size()];
    if (facts.port != at) {
      const Port port = topology_.port(at);
      facts = {at, port.plane, topology_.link(port.link).rate};
    }
    return facts;
  }

 private:
  const Topology& topology_;
  std::array<Facts, 256> known_{};
};

}  // namespace mrclab::analysis
