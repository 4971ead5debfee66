#pragma once
// The methods of a persistent lab on its control socket. Every method answers at once: a client that
// waits for an instant asks clock_state again and again, while the lab goes on.
//
//   status                          name, fabric, scenario, pid, fabric time, state, outside faults
//   inspect                         nodes and links
//   clock {"order", ...}            pause | resume | until {"at"} | step {"count", "node", "port",
//                                   "qp", "fault"}; answers clock_state
//   clock_state     {"ticket"?}     LabClock::state()
//   history                         digest of the packet history so far, and what was not faithful
//   fault {"kind", "body", "at"?}   breaks something by hand; answers LabFaults::describe
//   heal {"what"}                   heals; {"healed": [...], "outside": [...]}
//   faults                          {"fabric_ps", ...LabFaults::list(), "outside_faults": as status}
//   session                         {"yaml": a scenario that repeats the lab, "changed": bool}
//   rdma                            {"rc": bool}: the management network is there, for a program in a host
//   down                            takes the lab down after the answer

#include <optional>

#include "lab/persistent/lab_clock.h"
#include "live/world/lab_faults.h"
#include "live/world/live_lab.h"
#include "netio/rpc/rpc.h"
#include "netio/system/log.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// What the methods work on; outlives the server.
struct PersistentLab {
  LiveLab& live;
  LabClock& clock;
  LabFaults& faults;
  const Topology& topology;
  const std::optional<Scenario>& scenario;
  bool end = false;  ///< a client asked for `down`
};

/// `log` records every act by hand; it outlives the server too.
void add_persistent_methods(netio::RpcServer& server, PersistentLab& lab, spdlog::logger& log);

}  // namespace mrclab::lab
