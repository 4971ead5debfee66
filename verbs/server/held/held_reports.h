#pragma once
// Declared programs and what became of them as text: from the lab to the process that holds the programs, and back.

#include <string>
#include <string_view>
#include <vector>

#include "verbs/server/held/held_world.h"

namespace mrclab::verbs {

/// JSON on one line. The readers throw std::runtime_error with what is wrong.
std::string declared_text(const std::vector<DeclaredProgram>& programs);
std::vector<DeclaredProgram> read_declared(std::string_view text);
std::string reports_text(const std::vector<HeldReport>& reports);
std::vector<HeldReport> read_reports(std::string_view text);

}  // namespace mrclab::verbs
