#pragma once
// A command in several nodes of a lab at once, some at a time, with the node's name before each line of its output.

#include <cstddef>
#include <string>
#include <vector>

#include "lab/persistent/rdma_hosts.h"
#include "live/bringup/lab_record.h"

namespace mrclab::lab {

/// The nodes of a lab that a list of names and patterns means: "h0,h3", "p0.t0-*", "all". Throws InputError for what
/// names no node, or more than there are.
std::vector<std::string> nodes_named(const LabRecord& record, const std::string& text);

/// The command in each of the nodes, `jobs` at a time, without a terminal to read from. Returns 0, or the highest of
/// their exit codes, which are those of netio::exec_in_node(); those that are not 0 are listed on stderr.
int run_in_nodes(const LabRecord& record, const std::vector<std::string>& nodes,
                 const std::vector<std::string>& command, size_t jobs, const RdmaHosts& rdma);

}  // namespace mrclab::lab
