#pragma once
// A denylist's deeds as text and JSON.

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/mapper/denylist_result.h"

namespace mrclab::analysis {

/// "h0 decides; 2 lists; 1 part denied, 0 allowed again"
std::string summary_of(const DenylistResult& result);
/// "link a--b denied at 420us, at all 8 hosts at 426us; allowed again at 1.4ms"
std::string headline(const DenialSpan& span, uint32_t hosts);
nlohmann::ordered_json to_json(const DenylistResult& result);

}  // namespace mrclab::analysis
