#pragma once
// The name of a queue pair: its number in hex, as dissectors, inspect and trace show it.

#include <array>
#include <cstdio>
#include <string>

#include "fabric/base/ids.h"

namespace mrclab::analysis {

/// "QP 0x9cd001"
inline std::string qp_name(Qpn qp) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "QP 0x%06x", qp.value);
  return text.data();
}

}  // namespace mrclab::analysis
