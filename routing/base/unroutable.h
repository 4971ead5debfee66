#pragma once
// Prefixes that no neighbour may announce: what is in them is for one node or one link, or goes to groups. A route to
// such a prefix would take a node's own loopback or link-local traffic elsewhere.

#include <string_view>

#include "routing/base/prefix.h"

namespace mrclab::routing {

/// Why no route leads there: "loopback", "link-local", ...; empty for a prefix that may be announced. A shorter prefix that
/// covers some of them, as ::/0 does, may be: the kernel's own routes are longer.
std::string_view why_unroutable(const Prefix& prefix);

}  // namespace mrclab::routing
