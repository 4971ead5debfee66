#pragma once
// Which room may include which, as the READMEs of rooms and sub-rooms list them.

#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace mrclab::test {

inline constexpr std::array<std::string_view, 20> kRooms{
    "fabric",  "lazy",     "netio",      "routing",   "sim",   "faults",   "analysis",
    "switchd", "endpoint", "standalone", "console",   "plan",  "scenario", "recorded",
    "live",    "session",  "lab",        "telemetry", "verbs", "job"};

/// What each room and sub-room may include: {"lab", {"live", ...}}, {"live/world", {"live/bringup", ...}}.
using Arrows = std::map<std::string, std::set<std::string>, std::less<>>;

/// The names behind "May include:" in a README, up to the full stop, each behind `prefix`.
std::set<std::string> listed_rooms(const std::string& prefix, const std::string& readme);

/// `root`: of the sources.
Arrows read_arrows(const std::filesystem::path& root);

}  // namespace mrclab::test
