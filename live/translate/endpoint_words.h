#pragma once
// The command lines of mrc-endpoint for hosts of an exported fabric: without a lab they need
// addresses and carriers as options.

#include <string>
#include <utility>
#include <vector>

#include "live/translate/exported_fabric.h"

namespace mrclab::lab {

/// Do hosts get them? Where the host strips the outer header, the next hops' MAC addresses are ours, and the list
/// of all paths to all hosts is not too long.
bool has_endpoint_words(const ExportedFabric& fabric);

/// Environment variables of a host: MRC_SELF with its interfaces, addresses and next hops, and for each other host
/// MRC_TO_<host> with the carriers of all paths there. The inner address is fd02::<host>, which no kernel has.
std::vector<std::pair<std::string, std::string>> endpoint_words(const ExportedFabric& fabric,
                                                                NodeId host);

}  // namespace mrclab::lab
