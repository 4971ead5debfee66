#pragma once
// The keys of `exec:` and `program:` entries, a row for each.

#include <filesystem>

#include "fabric/text/key_table.h"
#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {

/// Paths start at a folder, the scenario's. `host` stands for several programs: parse_exec() reads it.
const KeyTable<ExecSpec, const std::filesystem::path>& exec_keys();
const KeyTable<CheckProgram, const std::filesystem::path>& check_program_keys();

/// Adds the programs of one `exec:` entry, whose value `body` is, to the scenario: its time, end and transport are known by
/// then. Throws InputError for what cannot be run together.
void add_programs(const YamlValue& entry, const YamlValue& body, NameResolver& names,
                  const std::filesystem::path& base, Scenario& out);

}  // namespace mrclab::lab
