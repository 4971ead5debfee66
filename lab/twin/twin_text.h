#pragma once
// Twins as people read them in a terminal.

#include <string>
#include <vector>

#include "analysis/verdict/verdict.h"
#include "lab/twin/twin_report.h"

namespace mrclab::lab {

/// A table of what each fault cost, and a sentence about each: which steps it made longer, by which queue pairs; or that it
/// was hidden. One after the other where there are several transports.
std::string twin_text(const std::vector<TwinReport>& reports, analysis::TableOptions options);

/// What the fault `fault` did, without its name and a full stop.
std::string twin_sentence(const TwinReport& report, size_t fault);

}  // namespace mrclab::lab
