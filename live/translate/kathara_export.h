#pragma once
// A fabric as a network scenario of Kathará (https://www.kathara.org): a folder with lab.conf, a NODE.startup for each
// node, and folders whose files a node gets. A collision domain of two is a link.

#include "live/translate/exported_fabric.h"

namespace mrclab::lab {

/// `options.switches` is kMrclab or kFrr. The text is lab.conf.
ExportedLab export_kathara(const FabricShape& shape, const ExportOptions& options,
                           const std::string& command);

}  // namespace mrclab::lab
