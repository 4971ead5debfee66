#pragma once
// Between own_signals.cc and the exported functions of interposed_signals.cc.

#include <signal.h>

#include "verbs/held/signals/raw_calls.h"

namespace mrclab::held {

using SigactionFunction = int (*)(int, const struct sigaction*, struct sigaction*);
/// The C library's.
SigactionFunction real_sigaction();

/// The signals that are the library's by now.
SignalMask owned_mask();
inline SignalMask without_owned(SignalMask mask) { return mask & ~owned_mask(); }

/// If `signal` is the library's: what the program had before goes to `before`, what it wants is kept, and true.
bool keep(int signal, const struct sigaction* action, struct sigaction* before);

}  // namespace mrclab::held
