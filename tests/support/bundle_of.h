#pragma once
// Frames in one bundle, as a node sends them; netio/packet/frame_bundler.h is what makes them in a lab.

#include <cstdint>
#include <vector>

#include "fabric/base/byte_order.h"
#include "fabric/packet/bundle.h"

namespace mrclab::test {

inline std::vector<uint8_t> bundle_of(const std::vector<std::vector<uint8_t>>& frames) {
  std::vector<uint8_t> bundle(kBundleHeadBytes);
  for (const std::vector<uint8_t>& frame : frames) {
    const size_t at = bundle.size();
    bundle.resize(at + kBundledLengthBytes);
    store_be<uint16_t>(&bundle[at], static_cast<uint16_t>(frame.size()));
    bundle.insert(bundle.end(), frame.begin(), frame.end());
  }
  write_bundle_head({2, 0, 0, 0, 9, 9}, bundle);
  return bundle;
}

}  // namespace mrclab::test
