#pragma once
// The congestion control that a transport's options name.

#include <cstdint>
#include <memory>

#include "endpoint/base/transport_profile.h"
#include "endpoint/congestion/congestion_control.h"
#include "fabric/base/units.h"

namespace mrclab::endpoint {

/// The algorithm of the profile, which outlives it, for a destination that `ports` ports of `port_rate` lead to.
std::unique_ptr<CongestionControl> make_congestion_control(const TransportProfile& profile,
                                                           BitRate port_rate, uint32_t ports);

}  // namespace mrclab::endpoint
