#pragma once
// What an orchestrator found, as text and JSON.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/orchestrator/orchestrator_result.h"

namespace mrclab::analysis {

std::string_view name_of(FindingKind kind);
/// "LLDP every 44us: 128 of 128 links as planned, all heard at 1.2us"
std::string summary_of(const OrchestratorResult& result);
/// A line for each cable, each remedy and each step of a switch.
std::vector<std::string> lines_of(const OrchestratorResult& result);
nlohmann::ordered_json to_json(const OrchestratorResult& result);

}  // namespace mrclab::analysis
