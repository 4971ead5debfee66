#pragma once
// A sentence about what a run's figures depend on, which counts only if the run made use of it.

#include <cstdint>
#include <string>

namespace mrclab::analysis {

struct Dependence {
  enum class On : uint8_t {
    kTimeouts,  ///< an RC sender went back without a NAK, or a queue pair failed
    kLosses,    ///< a packet of data was lost
    kCnps       ///< a congestion notification arrived
  } on = On::kTimeouts;
  std::string text;
};

}  // namespace mrclab::analysis
