#pragma once
// Paths of other implementations' fabrics, numbered as they turn up. No entropy value of ours has
// such a number (fabric/topology/ev_path.h), so that both kinds fit into one table.

#include <vector>

#include "analysis/traffic/path_format.h"

namespace mrclab::analysis {

struct ForeignPath {
  Ipv6Address carrier{};  ///< zero: the entropy value names the path
  uint32_t entropy = 0;   ///< as the format reads it
  uint32_t plane = kNoPlane;
};

class ForeignPaths {
 public:
  static constexpr size_t kMax = 1u << 18;
  static constexpr uint32_t kFirst = 0x4000'0000;
  static bool is_foreign(EntropyValue path) {
    return path.value >= kFirst && path.value - kFirst <= kMax;
  }

  /// The path that these headers name. All paths beyond kMax share one number.
  EntropyValue find_or_add(const PacketFacts& facts, Stage stage, uint32_t plane,
                           const PathFormat& format);
  const std::vector<ForeignPath>& all() const { return all_; }
  uint64_t over_limit() const { return over_limit_; }

 private:
  FlatIndex index_{kMax};
  std::vector<ForeignPath> all_;
  uint64_t over_limit_ = 0;
};

}  // namespace mrclab::analysis
