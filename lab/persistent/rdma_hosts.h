#pragma once
// Commands in hosts of a lab that stays use our verbs, if they use verbs: what such a command needs is asked of the lab once
// and made for each host.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fabric/topology/topology.h"
#include "lab/rdma/program_surroundings.h"
#include "live/bringup/lab_record.h"

namespace mrclab::lab {

/// What `exec` was asked for.
struct RdmaWish {
  std::optional<bool> rdma;  ///< empty: where it can be had
  bool send_emulated = false;
};

/// Of a command in one node.
struct NodeSurroundings {
  Environment environment;
  std::filesystem::path class_directory;  ///< netio::NodeContainer
};

class RdmaHosts {
 public:
  /// Has the lab make its management network. Without a word about RDMA in `wish` a lab of a run, and one without our
  /// libraries, has none of it. Throws InputError if what was asked for cannot be had.
  RdmaHosts(const LabRecord& record, const RdmaWish& wish);

  /// Nothing for a switch.
  NodeSurroundings at(const std::string& node) const;

 private:
  bool ask_lab(const LabRecord& record);

  RdmaWish wish_;
  std::filesystem::path lab_directory_;
  std::optional<std::filesystem::path> libraries_;  ///< empty: nothing is to be had
  std::optional<Topology> topology_;
  bool has_rc_ = false;
};

}  // namespace mrclab::lab
