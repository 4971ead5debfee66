#pragma once
// Where a switch marks RoCE's data (RED, Zhu et al., SIGCOMM 2015): no packet of a queue up to Kmin, a share that grows
// to Pmax at Kmax, every packet above. Thresholds in bytes grow with the rate of the port.
//
//   profile  Kmin, Kmax, Pmax                                       source
//   fabric   multiples of the plane BDP: `roce: {red: {min, max}}`  our choice: 0.4 and 1.6 BDP, 20 %, which are
//                                                                   0.14 of HPCC's thresholds at 11 us
//   hpcc     100 Gb/s: 400 and 1600 KB, 20 %                        alibaba-edu/High-Precision-Congestion-Control
//                                                                   @9f4be2a simulation/run.py lines 96-98
//   simai    up to 100 Gb/s as hpcc; 200: 300 and 1200 KB, 80 %;    aliyun/SimAI @cef83f9 astra-sim-alibabacloud/
//            400: 800 and 3200 KB, 20 %                             inputs/config/SimAI.conf lines 51-53
//   paper    40 Gb/s: 5 and 200 KB, 1 %                             Zhu et al., SIGCOMM 2015 (by htsim's and HPCC's
//                                                                   code and a translation; the text is not verified)

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fabric/base/units.h"

namespace mrclab {

enum class RedProfile : uint8_t { kFabric, kHpcc, kSimai, kPaper };

struct RedThresholds {
  Bytes min, max;
  Probability most;  ///< marked just below max
  bool operator==(const RedThresholds&) const = default;
};

std::vector<std::string> red_profile_names();
/// Of a port of this rate; empty for kFabric.
std::optional<RedThresholds> red_thresholds(RedProfile profile, BitRate port);

}  // namespace mrclab
