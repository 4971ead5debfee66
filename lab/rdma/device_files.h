#pragma once
// A host's device as programs look for it in /sys: NCCL, UCX and rdma-core's own tests read /sys/class/infiniband beside
// the verbs. The files of one host are laid out in its lab's folder, for NodeContainer::class_directory. They state what
// the device is, not how it fares: the state of its port is asked by ibv_query_port.

#include <filesystem>

#include "fabric/topology/topology.h"

namespace mrclab::lab {

/// Writes infiniband/<device> and infiniband_verbs/uverbs0 of the host, once; returns the folder that has both. `has_rc`:
/// the lab's transport, which names the device. Throws SystemError.
std::filesystem::path write_device_files(const Topology& topology, uint32_t host, bool has_rc,
                                         const std::filesystem::path& lab_directory);

}  // namespace mrclab::lab
