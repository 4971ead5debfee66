#include "endpoint/congestion/congestion_choice.h"

#include "endpoint/congestion/even_nscc.h"
#include "endpoint/congestion/fixed_window.h"
#include "endpoint/congestion/nscc.h"

namespace mrclab::endpoint {

std::unique_ptr<CongestionControl> make_congestion_control(const TransportProfile& profile,
                                                           BitRate port_rate, uint32_t ports) {
  if (profile.congestion_control == CongestionAlgorithm::kFixed) {
    return std::make_unique<FixedWindow>(port_rate, profile.base_rtt, profile.window_percent,
                                         ports);
  }
  if (profile.nscc_rules == NsccRules::kUec) return std::make_unique<Nscc>(profile, ports);
  return std::make_unique<EvenNscc>(profile, ports);
}

}  // namespace mrclab::endpoint
