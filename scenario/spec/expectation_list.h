#pragma once
// The lists of expectations in a scenario: `expect:`, and those of each contrast.

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "fabric/text/value_form.h"
#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {

/// What such a list may hold: words alone, maps with one expectation and perhaps what was published, and `program:`
/// entries where it may have them; at least so many.
ValueForm expectation_list_form(bool with_programs, size_t least);

/// Reads the list's entries but for `program:`. Everything else of the scenario is there already, so that what
/// no run of it could answer is refused. Throws InputError with the position.
std::vector<analysis::Expectation> read_expectations(const YamlValue& list,
                                                     const Scenario& scenario, bool ask = true);
/// Its `program:` entries; their paths start at `base`. Throws InputError with the position.
std::vector<CheckProgram> read_check_programs(const YamlValue& list,
                                              const std::filesystem::path& base);

/// The value of an entry that has this key alone.
std::optional<YamlValue> only_member(const YamlValue& entry, std::string_view key);

}  // namespace mrclab::lab
