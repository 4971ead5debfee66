#pragma once
// The clock of a lab that stays as text for people: where it stands, and what happened in a step.

#include <nlohmann/json.hpp>
#include <string>

#include "fabric/base/units.h"

namespace mrclab::lab {

/// One line out of LabClock::state(): "12.345678us, standing" or "1.5us, running, k 1000".
std::string clock_line(const nlohmann::json& state);
/// One record of fabric/history/record_watch.h in 80 columns.
std::string record_line(const nlohmann::json& record);
/// What an order came to: records, effects, problem; at most `max_records` lines of records.
std::string outcome_text(const nlohmann::json& state, size_t max_records);
/// The answer of the control socket's `history`.
std::string history_text(const nlohmann::json& history);

}  // namespace mrclab::lab
