#pragma once
// A fabric as a topology file of containerlab (https://containerlab.dev, schemas/clab.schema.json): each host and
// each switch a node, each link two endpoints, what a node needs as `exec:` lines or a file beside the topology.

#include <string>

#include "live/translate/exported_fabric.h"

namespace mrclab::lab {

/// `command`: the command line that writes it, for the comment at the top. Files are for a folder named
/// "<fabric>-config" beside the topology.
ExportedLab export_containerlab(const FabricShape& shape, const ExportOptions& options,
                                const std::string& command);

}  // namespace mrclab::lab
