#pragma once
// `cuts` has the number of reductions and their bytes by cause. Unknown values are left out: a
// delay that was not measured is not zero.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "fabric/topology.h"
#include "fabric/window_record.h"

namespace mrclab {

inline constexpr std::string_view kWindowKind = "window";

/// The record as a line of events.jsonl, without its end.
std::string window_line(const Topology& topology, NodeId node, const WindowRecord& record);
/// Empty if the line has an unknown key or word, lacks one that a record must have, or holds a number that
/// is none. Throws nlohmann::json::exception for a value of another type.
std::optional<WindowRecord> parse_window(const Topology& topology, const nlohmann::json& line);
/// The line that says how many records found no room, the earliest of which is of the instant `from`.
std::string windows_left_out_line(FabricTime from, uint64_t records);
inline constexpr std::string_view kWindowsLeftOutKind = "windows_left_out";
/// What a line of a window says, for people: "to h0: window 120000 B, in flight 118272 B, late". Throws
/// nlohmann::json::exception.
std::string describe_window(const nlohmann::json& line);

}  // namespace mrclab
