#pragma once
// Inputs of a report on traffic beside the captures: the fabric, the run's faults, what its hosts reported.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/history/event_history.h"
#include "analysis/measure/flow_spread.h"
#include "analysis/measure/pause_tree.h"
#include "fabric/topology/topology.h"

namespace mrclab::lab {

/// A fault as a run's verdict names it.
struct KnownFault {
  std::string fault;
  FabricTime at;
  std::optional<FabricTime> healed_at;
};

/// The windows that hosts of a run reported, and which of them to show.
struct WindowSource {
  std::vector<analysis::WindowNews> news;  ///< in order of time
  std::vector<std::string> notes;          ///< why there are none, or not all
  FabricTime complete_until = FabricTime::never();
  FabricTime from;
  FabricTime until = FabricTime::never();
  std::pair<std::optional<uint32_t>, std::optional<uint32_t>>
      between;  ///< host numbers; empty: all
};

/// Who paused whom in a run, by its packet records.
struct PauseSource {
  analysis::PauseTree tree;
  std::vector<std::string> notes;  ///< why there is none, or not all
  bool looked = false;             ///< packet records of a run whose ports pause were read
};

/// What only a fabric shows of RC over RoCEv2: how its flows share uplinks.
struct RcSource {
  std::optional<analysis::FlowSpread> spread;
};

/// Facts that do not come from the captures.
struct TrafficContext {
  const Topology* topology = nullptr;  ///< names of hosts; null: none
  std::vector<KnownFault> faults;
  bool faults_known = false;  ///< a run's verdict lists them, if any
  WindowSource windows;
  PauseSource pauses;
  RcSource rc;
  std::vector<std::string> sources;  ///< what was read, as on the command line
  std::vector<std::string> notes;    ///< the summary's lines about the sources
};

}  // namespace mrclab::lab
