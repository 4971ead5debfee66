#pragma once
// The Wireshark dissector in Lua: recorded/run/mrc_dissector.lua with the tables of fabric/packet/header_fields.h.

#include <filesystem>
#include <string>

#include "fabric/topology/topology.h"

namespace mrclab::lab {

/// The plugin's text. With a topology, uSIDs, hosts and wires have names; null: numbers only. Throws
/// netio::SystemError if the source tree's part cannot be read.
std::string wireshark_dissector(const Topology* topology);

/// Where Wireshark and tshark look for this user's plugins. Throws InputError without a HOME.
std::filesystem::path personal_plugin_folder();

/// Writes `text` as mrclab.lua into `folder`, which is made if it is missing. A file of that name that
/// was not written by this is left alone: InputError. Returns the file.
std::filesystem::path write_dissector(const std::filesystem::path& folder, const std::string& text);

}  // namespace mrclab::lab
