#pragma once
// A mapper's findings as text and JSON.

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/mapper/mapper_result.h"

namespace mrclab::analysis {

/// "every 110.2us, 1280 probes, 24 lost; all of 128 links probed, 0.025 % of a port"
std::string summary_of(const MapperResult& result);
/// "link p0.t0-0:u1--p0.t1-1:d0 loses (12 % to 48 %), from 101us to 190us; named at 230us"
std::string headline(const MapperFinding& finding);
nlohmann::ordered_json to_json(const MapperResult& result);

}  // namespace mrclab::analysis
