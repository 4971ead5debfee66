#pragma once
// A window's record (window_record.h) as a line of events.jsonl:
//
//   {"t_ps":40000000,"node":"h1","kind":"window","peer":"h0","window":120000,"in_flight":118272,
//    "largest":1200000,"base_rtt_ps":5000000,"target_ps":4000000,"delay_ps":6100000,
//    "most_delay_ps":9000000,"quadrant":"late","answers":{"clear":3,"late":9},
//    "cut":"trimmed_last_hop","cuts":{"delay":[9,21000],"trimmed_last_hop":[2,8448]}}
//
// `cuts` has the number of reductions and their bytes by cause. Unknown values are left out: a
// delay that was not measured is not zero.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "fabric/node/window_record.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// The record as a line of events.jsonl, without its end.
std::string window_line(const Topology& topology, NodeId node, const WindowRecord& record);
/// Empty if the line has an unknown key or word, lacks one that a record must have, or holds a number that
/// is none. Throws nlohmann::json::exception for a value of another type.
std::optional<WindowRecord> parse_window(const Topology& topology, const nlohmann::json& line);
/// The line with the count of records that found no room, the earliest of which is of the instant `from`.
std::string windows_left_out_line(FabricTime from, uint64_t records);
/// A line of a window for people: "to h0: window 120000 B, in flight 118272 B, late". Throws
/// nlohmann::json::exception.
std::string describe_window(const nlohmann::json& line);

}  // namespace mrclab
