#pragma once
// Why there was nothing to detect.

#include <string_view>

#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// The detection of a fault is read from the paths that packets took, which tables of switches that route by themselves
/// decide.
inline std::string_view why_nothing_detected(const Topology& topology) {
  return topology.routing.is_fare() ? "detection is not judged: switches that route by themselves "
                                      "choose the ways of packets"
                                    : "nothing to detect: no affected sender tried";
}

}  // namespace mrclab::analysis
