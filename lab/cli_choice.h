#pragma once
// What several verbs need: which lab is meant, and the rights to touch it.

#include <optional>
#include <string>

#include "lab/lab_record.h"

namespace mrclab::lab {

/// Throws InputError with "run with sudo" unless this process is root.
void require_root(const std::string& verb);

/// The lab of that name, or the only one there is. Throws InputError naming the labs that exist.
LabRecord choose_lab(const std::optional<std::string>& name, const LabPaths& paths = {});

/// "up", "crashed" (its owner died) or "stale" (from before the last boot).
std::string state_of(const LabRecord& record);

}  // namespace mrclab::lab
