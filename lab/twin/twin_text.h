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

/// A cost in the report's unit; "-" where it is not known.
std::string amount_text(TwinUnit unit, std::optional<int64_t> amount);

/// "as it is", "roce16-fat", "planes 4".
std::string variant_name(const TwinReport& report);

/// What the fault `fault` did, without its name and a full stop.
std::string twin_sentence(const TwinReport& report, size_t fault);

}  // namespace mrclab::lab
