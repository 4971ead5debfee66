#pragma once
// What happened under each transport, in sentences. All of it is measured: a sentence about what did not happen is
// not there.

#include <optional>
#include <string>
#include <vector>

#include "lab/compare/comparison.h"

namespace mrclab::lab {

/// What a run is held against the first one by: how long the workload took, or, where the run's end cuts it short,
/// how much arrived.
struct Headline {
  bool times = false;         ///< the workload ends by itself
  std::string said;           ///< what it is, for above a table
  std::string unit_of_first;  ///< "of mrc": what a share is a share of
};
Headline headline_of(const Comparison& comparison);

/// The run's completion time or goodput in percent of the first one's; empty: one of them did not finish, or
/// nothing arrived under the first.
std::optional<double> share_of_first(const ComparedRun& first, const ComparedRun& run);

/// "812 kB"; of 1000 bytes.
std::string size_text(Bytes size);

/// How many checks of the scenario's passed: "4 of 5".
std::string checks_met(const ComparedRun& run);

/// In the order in which they are read: the outcome against the first, collisions, pauses, losses, failed queue
/// pairs, checks not met, checks not asked, the scenario's contrast for the transport. Each ends in a full stop.
std::vector<std::string> story_of(const Comparison& comparison, const ComparedRun& run);

}  // namespace mrclab::lab
