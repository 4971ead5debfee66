#pragma once
// Decoding of RTM_NEWLINK and RTM_DELLINK, shared by link.cc and link_watch.cc.

#include <optional>

#include "netio/kernel/link.h"

namespace mrclab::netio {

/// Empty for any other message, and for a malformed one.
std::optional<LinkState> parse_link_message(const nlmsghdr& header);

}  // namespace mrclab::netio
