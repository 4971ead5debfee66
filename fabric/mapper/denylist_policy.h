#pragma once
// By which rules entropy values are denied because of what a mapper's probes find, or because an operator wants it: what
// a fabric's or a scenario's key `denylist` holds. Who decides and who obeys: endpoint/mapper/README.md.

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/base/units.h"

namespace mrclab {

struct DenylistPolicy {
  /// When a link is denied. kCertain: when the collector's sequential test is (fabric/probes/probe_evidence.h);
  /// kOverLoss: when more than `loss` of its last `probes` probes were lost; kNever: only what is static or drained.
  enum class Rule : uint8_t { kCertain, kOverLoss, kNever };
  struct Drain {
    std::string part;
    FabricTime from, to = FabricTime::never();
    bool operator==(const Drain&) const = default;
  };

  bool on = false;
  Rule rule = Rule::kCertain;
  Probability loss{};
  uint32_t probes = 0;
  /// Clean periods until a link is allowed again; each relapse doubles them, up to sixteen times (our choice).
  uint32_t clean = 20;
  uint32_t hold = 0;  ///< and no sooner than so many periods after it was denied
  /// Of the links between the switches of a plane, of a host's ports and of a queue pair's entropy values at most so
  /// many are denied at once (our choice).
  Probability at_most{Probability::kOne / 4};
  std::string collector;  ///< the host that decides; empty: the first one
  /// A host forgets a list of which it has heard nothing for so many periods.
  uint32_t expires = 1000;
  std::vector<std::string> fixed;  ///< denied from the start; names or patterns of parts
  std::vector<Drain> drains;

  bool decides() const { return rule != Rule::kNever; }
  bool operator==(const DenylistPolicy&) const = default;
};

}  // namespace mrclab
