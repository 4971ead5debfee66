#pragma once
// Configuration of real switches, from the same source as the lab's tables: the fabric's plan. A file for each switch:
// SONiC's config_db.json, FRR from 10.3 on, Arista EOS. What was verified of a file, and what is from documents alone,
// stands at its top, or where its format has no room for that (JSON), in a file beside.

#include <string>
#include <string_view>
#include <vector>

#include "fabric/topology/fabric_shape.h"
#include "live/translate/exported_fabric.h"

namespace mrclab::lab {

enum class SwitchSystem : uint8_t { kSonic, kFrr, kEos };

struct SwitchFiles {
  std::vector<LabFile> files;  ///< one for each switch, by its name there
  std::string
      notes;  ///< what was verified, and what was not; also at the top of each file but JSON
};

/// Throws InputError for a switch that the fabric has not; `only` empty: all of them. Cables are as planned, whatever the
/// fabric's key `miscabled` says.
SwitchFiles switch_files(SwitchSystem system, const FabricShape& shape, const std::string& only);

}  // namespace mrclab::lab
