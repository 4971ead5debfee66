#pragma once
// What is asked about one switch or one rack of a fabric that is summarised, whether the rack is followed or not.

#include <nlohmann/json.hpp>
#include <string_view>

#include "session/branch.h"

namespace mrclab::lab {

/// What a switch has counted up to reached(), and its ports with the most trouble. {"switch", "plane", "role", "index",
/// "at_ps", "ports", "dark", "counts": {"sent_bytes", "lost", "trimmed", "marked"}, "worst": [{"port", "to", "lost",
/// "trimmed", "marked", "queue_bytes", "queue_max_bytes"}]}. Throws InputError for a name that is no switch's, and where the
/// fabric is not summarised.
nlohmann::json switch_json(const Branch& branch, std::string_view name);
/// {"rack", "first", "last": its hosts, "followed", "at_ps", "planes": [as "counts" above, with "switch"], "hosts":
/// [[received bytes, packets sent again, losses noticed]]}. Throws InputError likewise.
nlohmann::json rack_json(const Branch& branch, uint32_t rack);

}  // namespace mrclab::lab
