#pragma once
// The collector: which parts of the fabric explain the probes that were lost.
//
//   reports --probe_samples--> one sample a probe --blame_by_samples--> parts, each with its class of equals
//
// A part is named by a sequential test (Wald; Page's CUSUM for the onset): the sum over its probes of the logarithm of
// the likelihood ratio, for each share of loss of a bank; below zero it begins anew, and at the threshold the part is
// named. The threshold makes false alarms rare: one in so many periods, over all links and the bank.
//
//   probe lost: ln(share / chance)     back: ln((1 - share) / (1 - chance))     threshold: ln(probes * periods * bank)
//
// Beside the probes stand the hosts' own reports of their paths (ev_samples.h), as a second witness.
//
// What several parts explain as well is named as a class. Where probes cross every wire in company of others, a smaller
// part comes before a larger one, and a larger one explains at once what would take several smaller ones.

#include <optional>

#include "analysis/history/coverage.h"
#include "analysis/history/event_history.h"
#include "analysis/mapper/mapper_result.h"
#include "fabric/mapper/mapper_witness.h"
#include "fabric/probes/probe_evidence.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// Empty where the fabric has no mapper.
std::optional<MapperResult> mapper_result(const Topology& topology, const EventHistory& events,
                                          const Coverage& coverage);

/// In the order in which they were named. Both: what probes named, and what events named that probes did not.
std::vector<MapperFinding> findings_of(const MapperResult& result, MapperWitness by);

}  // namespace mrclab::analysis
