#pragma once
// How long something took on this machine's clock.

#include <chrono>

namespace mrclab::lab {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace mrclab::lab
