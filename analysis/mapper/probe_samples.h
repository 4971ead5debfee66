#pragma once
// The reports of agents as evidence: a sample for each probe, and one for each port that a host saw go dark.
//
// A probe that was lost while another one over one of its wires came back late by a base RTT, within a period before or
// after, met a queue that was full: it is no evidence. (Where switches trim, a probe is too short to be dropped.)

#include <vector>

#include "analysis/blame/blame_class.h"
#include "analysis/blame/blame_samples.h"
#include "analysis/history/event_history.h"
#include "analysis/mapper/mapper_result.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

struct ProbeSamples {
  std::vector<BlameSample> samples;  ///< in order of time
  PortLight light;
};
/// The fabric has a mapper. Counts into `result`.
ProbeSamples probe_samples(const Topology& topology, const EventHistory& events,
                           MapperResult& result);

}  // namespace mrclab::analysis
