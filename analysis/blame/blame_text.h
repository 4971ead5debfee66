#pragma once
// A blame in words and as JSON.

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/blame/blame_result.h"

namespace mrclab::analysis {

/// "link h0:p2--p2.t0-0:d0 no light, packets sent 300us to 308.4us". The times are those of
/// sending, which may begin before the fault: packets on their way are lost with the link.
std::string headline(const Blame& blame);
/// {"kind", "component", "symptom", "or_else", "places", "from_ns", "until_ns", "times", "bad",
/// "of", "bad_elsewhere", "noticed", "evidence"}
nlohmann::ordered_json to_json(const Blame& blame);

}  // namespace mrclab::analysis
