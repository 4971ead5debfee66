#pragma once
// A fabric as a topology of netlab (https://netlab.tools): nodes, links with fixed interfaces and addresses, the
// module `routing` for static routes, the plugin `files` for what no module configures (seg6local).
//
// Hosts are `linux`, switches `frr`: netlab gives a container no entry point of its own, which our image would need,
// and runs SONiC as a virtual machine only.

#include "live/translate/exported_fabric.h"

namespace mrclab::lab {

/// `options.switches` must be kFrr; `options.image` is that of hosts.
ExportedLab export_netlab(const FabricShape& shape, const ExportOptions& options,
                          const std::string& command);

}  // namespace mrclab::lab
