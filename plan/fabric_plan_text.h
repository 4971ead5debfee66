#pragma once
// A fabric's plan for people (80 columns) and as JSON.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "plan/fabric_plan.h"

namespace mrclab::lab {

std::string grouped(uint64_t n);  ///< "131,072"

std::string plan_text(const FabricPlan& plan);

/// Counts, bytes, bits per second and nanoseconds; shares as {"part", "whole", "percent"}.
nlohmann::ordered_json plan_json(const FabricPlan& plan);

}  // namespace mrclab::lab
