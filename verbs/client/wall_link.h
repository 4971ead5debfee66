#pragma once
// The link that the library makes by itself where no held library is preloaded: a socket to the host's daemon, in the time
// of this machine.

#include "verbs/client/program_link.h"

namespace mrclab::verbs {

/// Never null. Connects at the first attach().
const ProgramLink* wall_link();

}  // namespace mrclab::verbs
