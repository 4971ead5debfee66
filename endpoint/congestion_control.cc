#include "endpoint/congestion_control.h"

#include "endpoint/fixed_window.h"
#include "endpoint/nscc.h"

namespace mrclab::endpoint {

std::unique_ptr<CongestionControl> make_congestion_control(const TransportProfile& profile,
                                                           BitRate port_rate, uint32_t ports) {
  if (profile.congestion_control == CongestionAlgorithm::kFixed) {
    return std::make_unique<FixedWindow>(port_rate, profile.base_rtt, profile.window_percent,
                                         ports);
  }
  return std::make_unique<Nscc>(profile, ports);
}

}  // namespace mrclab::endpoint
