#pragma once
// The format of foreign packets as the user gives it, on the command line or in a file:
//
//   block: fc00:42::/32
//   usid_length: 16
//   ev_format: port:plane=15-8
//   captured_at: sender
//
// The command line goes before the file.

#include "analysis/traffic/format_sample.h"
#include "fabric/topology/topology.h"
#include "recorded/traffic/traffic_words.h"

namespace mrclab::lab {

/// Throws InputError. If `topology` is null, hosts can be named by their addresses only.
analysis::GivenFormat given_format(const TrafficWords& words, const Topology* topology);

/// The address of a host that is named, or given by its address. Throws
/// InputError that names `option`.
Ipv6Address host_in(const char* option, const std::string& text, const Topology* topology);
/// A number in decimal, or in hex behind 0x.
std::optional<uint32_t> whole_number(std::string_view text);
[[noreturn]] void refuse_option(const char* option, const std::string& found, const char* expected);

}  // namespace mrclab::lab
