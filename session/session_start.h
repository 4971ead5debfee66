#pragma once
// How a session begins, as text: what an exported page hands to the simulator in it.

#include <string>
#include <string_view>

#include "session/session_commands.h"

namespace mrclab::lab {

/// {"scenario": yaml, "at_ps", "run": {"folder", "world", "version", "exact", "sha256"} or null}
std::string start_of(const PlayedSession& played);
/// The inverse of start_of(). Throws InputError and nlohmann::json::exception for any other
/// text.
PlayedSession session_of_start(std::string_view text);

/// The run of which this is a simulation, as the page gets it; null: none.
nlohmann::json run_json(const PlayedSession& played);

}  // namespace mrclab::lab
