#pragma once
// What an agent reports of one period, when the last of its probes can no longer come back: the detail of an event
// `mapper_report`.
//
//   period 12, sent 20, lost p0/t0 p1/u2, damaged p0/t0, slow p2/u1, late 11:p5/u0, dark 294649000:p3, unsent p3
//
// A probe of the period is in `lost`, or its port in `unsent`; or it came back in time.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/probes/probe_plan.h"

namespace mrclab {

struct ProbeReport {
  uint64_t period = 0;
  uint32_t sent = 0;
  std::vector<std::string> lost;
  std::vector<std::string>
      damaged;  ///< of the lost ones: came back with wrong bits, which no frame check had found
  std::vector<std::string>
      slow;  ///< came back by more than a base RTT later than over an idle fabric, or trimmed
  using Numbered = std::vector<std::pair<uint64_t, std::string>>;
  Numbered late;  ///< by period: lost by an earlier report, and came back
  Numbered dark,
      lit;  ///< by the instant in ps: ports ("p3") that lost their light, or have it back
  std::vector<std::string> unsent;  ///< ports without light when their turn came
  uint32_t marked = 0;              ///< by a queue on the way
  uint32_t again = 0;               ///< came back a second time
  uint32_t forged = 0;              ///< claimed to be probes of this host, and were not
  bool operator==(const ProbeReport&) const = default;
};

std::string to_text(const ProbeReport& report);
/// Empty for any other text.
std::optional<ProbeReport> parse_probe_report(std::string_view text);

}  // namespace mrclab
