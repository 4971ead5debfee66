#pragma once
// The Open vSwitch of a lab as programs and files: where its parts lie, and its tools. Their tables for a
// fabric are written in live/external/ovs_switches.h.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mrclab::netio {

/// How long a tool or a daemon of Open vSwitch may take: a busy machine is slow, and then it still works.
inline constexpr std::chrono::seconds kOvsPatience{60};

/// The programs that Open vSwitch needs here and that are not in PATH; empty when all are.
std::vector<std::string> missing_ovs_programs();

/// A hint for a user who inspects these switches, in a line or two of 80 columns.
std::string_view ovs_limits();
/// "Open vSwitch 3.1.0", or empty.
std::string ovs_version();

/// Where the sockets of a lab's Open vSwitch are, and its database and logs.
std::filesystem::path ovs_folder(const std::filesystem::path& lab_directory);
/// Is this node of a running lab one of its switches?
bool is_ovs_switch(const std::filesystem::path& lab_directory, std::string_view node);

/// The variables by which every program of Open vSwitch finds the lab's own in `folder`.
std::vector<std::pair<std::string, std::string>> ovs_environment(
    const std::filesystem::path& folder);
/// "unix:FOLDER/BRIDGE.mgmt"
std::string ovs_management_socket(const std::filesystem::path& folder, const std::string& bridge);
/// Runs a tool to its end and returns what it printed, at most 16 MiB. Throws SystemError with its last
/// words if it fails, or takes longer than kOvsPatience.
std::string run_ovs_tool(const std::filesystem::path& folder, std::vector<std::string> command);

/// How many OpenFlow messages the lab's switch daemon has received, and how often it has set its bridges anew, from
/// whomever. Read over the daemon's control socket, which takes 0.2 ms; empty if it does not answer in 100 ms.
std::optional<uint64_t> ovs_activity(const std::filesystem::path& folder);

}  // namespace mrclab::netio
