#pragma once
// SIGSEGV, as the library shares it: trapped instructions and guarded reads are answered, all else is the program's.

#include <ucontext.h>

namespace mrclab::held {

/// Is called before a fault goes on to the program's handler.
using FaultObserver = void (*)(ucontext_t* context);

/// Takes SIGSEGV unless that is done. 0 or an errno.
int own_faults(FaultObserver observe);

}  // namespace mrclab::held
