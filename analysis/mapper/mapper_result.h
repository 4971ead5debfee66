#pragma once
// What a mapper found, as verdicts carry it.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/blame/blame_result.h"
#include "fabric/base/units.h"
#include "fabric/mapper/mapper_profile.h"

namespace mrclab::analysis {

struct MapperFinding {
  Blame part;
  FabricTime named;                    ///< the report by which it was certain had come
  double loss_low = 0, loss_high = 1;  ///< its loss is between these with 95 %
};

struct MapperResult {
  FabricTime period, timeout;
  ProbeForm form = ProbeForm::kOwn;
  double share = 0;  ///< share of its rate that probes take of the port that they load most, 0 to 1
  double threshold = 0;            ///< nats of likelihood that a part needs to be named
  uint64_t links = 0, probed = 0;  ///< the fabric's links, and how many of them a probe crossed
  uint64_t reports = 0;
  uint64_t sent = 0, lost = 0;  ///< probes; late ones are not lost
  uint64_t late = 0, slow = 0, marked = 0, again = 0, forged = 0;
  uint64_t unexplained = 0;          ///< lost, and no part is named for it
  std::vector<MapperFinding> found;  ///< by its probes alone, in the order in which they were named
  uint64_t ev_events = 0;  ///< entropy values that hosts reported to be bad, or good again
  std::vector<MapperFinding> by_events;  ///< likewise by these alone
  std::string none;                      ///< why nothing can be said; empty: it can
};

}  // namespace mrclab::analysis
