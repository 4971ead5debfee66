#pragma once
// The keys of `exec:` and `program:` entries, a row for each.

#include <filesystem>

#include "fabric/text/key_table.h"
#include "scenario/spec/program_spec.h"

namespace mrclab::lab {

/// Paths start at a folder, the scenario's. `host` stands for several programs: parse_exec() reads it.
const KeyTable<ExecSpec, const std::filesystem::path>& exec_keys();
const KeyTable<CheckProgram, const std::filesystem::path>& check_program_keys();

}  // namespace mrclab::lab
