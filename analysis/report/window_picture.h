#pragma once
// What the page shows of windows (picture.h has the shape), out of the hosts' reports.

#include <nlohmann/json_fwd.hpp>

#include "analysis/history/event_history.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

inline constexpr size_t kMaxWindowFlowsShown = 24;    ///< those that were cut most
inline constexpr size_t kMaxWindowPointsShown = 400;  ///< points of one flow; more are merged

nlohmann::ordered_json windows_picture(const Topology& topology, const EventHistory& events);

}  // namespace mrclab::analysis
