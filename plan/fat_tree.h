#pragma once
// The arithmetic of full folded-Clos fabrics, to compare fabrics without building them. Every
// switch below the top has half of its ports down and half up; the top has all of them down.
// Checked against the MRC paper (§2, figure 1): radix 512 in two tiers is one of its planes, radix
// 64 in three tiers the network that it compares with.

#include <cstdint>
#include <numeric>

namespace mrclab::lab {

/// A share, reduced: 3/5.
struct Ratio {
  uint64_t part = 0;
  uint64_t whole = 1;

  static Ratio of(uint64_t part, uint64_t whole) {
    const uint64_t by = std::gcd(part, whole);
    return by == 0 ? Ratio{0, 1} : Ratio{part / by, whole / by};
  }
  double percent() const { return 100.0 * static_cast<double>(part) / static_cast<double>(whole); }
  bool operator==(const Ratio&) const = default;
};

/// `radix` even, from 2 to 4,096; `tiers` from 1 to 4, so that no count leaves 64 bits.
struct FatTree {
  uint64_t radix = 2;
  uint32_t tiers = 2;

  uint64_t half() const { return radix / 2; }
  /// 2 (k/2)^n: 64 pods of 32 T0s with 32 hosts each for radix 64 in three tiers.
  uint64_t hosts() const { return 2 * power(tiers); }
  /// (2n-1) (k/2)^(n-1): as many in each tier as there are T0s, in the top half of that.
  uint64_t switches() const { return (2 * tiers - 1) * power(tiers - 1); }
  /// As many between any two tiers as there are hosts.
  uint64_t links() const { return tiers * hosts(); }
  /// Switches on the longest path.
  uint32_t longest_path() const { return 2 * tiers - 1; }
  /// Hosts that are reached over one switch.
  uint64_t one_hop() const { return tiers == 1 ? radix : half(); }
  /// What a T0 loses of its way up with one link.
  Ratio uplink_loss() const { return Ratio::of(1, half()); }

 private:
  uint64_t power(uint32_t n) const {
    uint64_t result = 1;
    for (uint32_t i = 0; i < n; ++i) result *= half();
    return result;
  }
};

}  // namespace mrclab::lab
