#pragma once
// The files of a lab that its nodes see: one hosts file for all, a /run of its own for each.

#include <filesystem>
#include <string_view>

#include "fabric/topology/topology.h"
#include "netio/kernel/node_container.h"

namespace mrclab::lab {

/// Writes <lab directory>/hosts, which names every host: "h5" by its address in the fabric and by that of the management
/// network, "h5.mgmt" by the latter alone.
void write_hosts_file(const Topology& topology, const std::filesystem::path& lab_directory);

/// The container of a node, for netio::exec_in_node; makes its run directory.
netio::NodeContainer node_container(const std::filesystem::path& lab_directory,
                                    std::string_view node);

}  // namespace mrclab::lab
