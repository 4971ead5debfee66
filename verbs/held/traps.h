#pragma once
// The time stamp counter and the proof of spins (tsc/, spin/), for the threads of a held program.

namespace mrclab::verbs::held {

/// At attach, in the first thread; what is not there is said once on stderr (MRCLAB_HELD_VERBOSE).
void begin_traps();
/// In each further thread, when it has the baton; at its end; in a forked child.
void trap_thread();
void untrap_thread();
void untrap_child();

}  // namespace mrclab::verbs::held
