#pragma once
// Switches of a live lab that a BPF program of ours forwards for (switchd/bpf/usid_switch.bpf.c): one program for each
// switch, at every port of its namespace, with tables of its own. They go with the namespace, and no process belongs to
// them.
//
// What a user meets: marks and trims as our switch daemon's, but by an account of what the kernel's shapers have left
// to send, at this machine's pace; routes for carriers only.

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "live/bringup/bring_up.h"
#include "live/external/switch_impairment.h"
#include "live/external/table_watch.h"
#include "netio/kernel/bpf_program.h"
#include "netio/kernel/shaper.h"

namespace mrclab::lab {

class BpfSwitches {
 public:
  /// Loads the programs, fills their tables as built and sets them to work; the queues of all ports are empty whatever
  /// comes, until set_port(). Throws InputError where this build or the kernel cannot do that, SystemError.
  explicit BpfSwitches(LiveFabric& fabric);

  /// What faults do to the queue of a port, and how fast its shaper sends.
  void set_port(PortRef port, const PortImpairment& impairment, const netio::Shaper& shaper);
  /// The route of a switch for a uSID leads out of `port`, or is gone. Its counters start anew.
  void set_route(NodeId node, Usid usid, std::optional<PortId> port);
  /// What others changed in the table of one switch, another with each call: "somebody changed the table of p0.t0-0
  /// (missing: ...)".
  std::optional<std::string> find_changes();
  /// The routes and ports of a switch without their counters, a line each.
  std::vector<std::string> rules_of(NodeId node) const;

 private:
  LiveFabric& fabric_;
  std::map<NodeId, netio::BpfProgram> programs_;
  TableWatch tables_;
  NodeId next_looked_at_{0};
};

/// The rows of switch_table() for such a switch of a running lab. Throws SystemError.
nlohmann::json rows_of_bpf(const NodeSite& site, const std::string& lab);

}  // namespace mrclab::lab
