#pragma once
// The time stamp counter and the proof of spins (tsc/, spin/), for the threads of a held program.

namespace mrclab::verbs::held {

/// At attach, in the first thread; what cannot be had here is said on stderr.
void begin_traps();
/// The program is held no longer. The counter goes on being answered, from the program's clock.
void stop_ticks();
/// In each further thread, when it has the baton; at its end; in a forked child.
void trap_thread();
void untrap_thread();
void untrap_child();

}  // namespace mrclab::verbs::held
