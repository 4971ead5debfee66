#pragma once
// A job as a scenario runs it: its graph, and what each operation is for. Sources of it are phases in a scenario and the
// files of others.

#include <cstdint>
#include <string>
#include <vector>

#include "job/graph/op_graph.h"
#include "job/graph/rank_sites.h"

namespace mrclab::job {

/// What operations are for, in tables and reports.
struct OpLabel {
  std::string text;   ///< "backward", "grads"
  std::string group;  ///< of what is exchanged: "dp", "tp", "pp", "all"; empty: computing
  auto operator<=>(const OpLabel&) const = default;
};

/// `step_of` and `label_of` have an element for each operation of `graph`.
struct PlannedJob {
  std::string name;
  OpGraph graph;  ///< has passed check_graph()
  std::vector<uint32_t> step_of;
  std::vector<uint16_t> label_of;  ///< in `labels`
  std::vector<OpLabel> labels;
  uint32_t steps = 1;
  uint32_t warmup = 0;  ///< the first steps, which averages leave out
  /// What was made of the entry beside what it literally says: "2 of 16 layers of a stage".
  std::vector<std::string> notes = {};
  RankSites sites = {};
};

}  // namespace mrclab::job
