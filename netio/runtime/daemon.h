#pragma once
// What mrc-switchd and mrc-endpointd have in common: read the configuration, open the nodes' rings
// in their namespaces, run them behind the gate, answer the control socket, write the report.

#include <functional>
#include <memory>

#include "netio/runtime/daemon_config.h"
#include "netio/runtime/daemon_program.h"

namespace mrclab::netio {

using MakeProgram =
    std::function<std::unique_ptr<DaemonProgram>(const DaemonConfig&, const Topology&)>;

/// `main` of a daemon: its configuration file as the argument, or those of many daemons of one lab, which
/// become copies of this process (daemon_start.h). Returns the exit code.
int daemon_main(int argc, char** argv, const MakeProgram& make_program);

}  // namespace mrclab::netio
