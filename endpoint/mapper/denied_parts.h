#pragma once
// The parts that are denied at one time, and whether one more fits: so that no mistake of who asks, be it a mapper that
// lies, takes more than a share of a fabric out of use.
//
// Of the links between the switches of a plane, of its links to hosts, and of the ports of a host at most `at_most` is
// denied, rounded down. A part is denied as a whole or not at all. Between any two T0s of a plane a T1 is left.

#include <optional>
#include <string>
#include <vector>

#include "fabric/probes/denied_part.h"
#include "fabric/topology/topology.h"

namespace mrclab::endpoint {

class DeniedParts {
 public:
  /// `topology` outlives it.
  explicit DeniedParts(const Topology& topology);

  /// Why it would be too many; empty if it fits.
  std::optional<std::string> refusal(const DeniedPart& part) const;
  void add(const DeniedPart& part);
  void remove(const DeniedPart& part);
  bool has(const DeniedPart& part) const;
  /// In the order in which they were added.
  const std::vector<DeniedPart>& parts() const { return parts_; }

 private:
  struct Counts {
    uint32_t between = 0, ports = 0;
  };
  bool splits_plane(const DeniedPart& part, const std::vector<uint32_t>& links) const;
  uint32_t most(uint32_t of) const;

  const Topology& topology_;
  LinkNumbers numbers_;
  std::vector<uint8_t> times_;  ///< by link: how many of the parts take it
  std::vector<DeniedPart> parts_;
};

/// What every host begins with, and what of `static` did not fit.
struct FixedParts {
  DeniedParts denied;
  std::vector<std::pair<DeniedPart, std::string>> refused;
};
FixedParts fixed_parts(const Topology& topology);

}  // namespace mrclab::endpoint
