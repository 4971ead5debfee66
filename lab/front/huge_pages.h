#pragma once
// Simulations touch much memory, each page for the first time once, and then at random. In pages of 2 MiB that costs a
// fraction (tests/bench/README.md). glibc's allocator asks for them only if its environment says so when the program
// starts: `mrclab-cli` puts that there before it starts the program of a verb.

namespace mrclab::lab {

/// Puts the setting into the environment of the program that is started next, unless the user has set GLIBC_TUNABLES.
void ask_for_huge_pages();

/// To be called first in main(): takes the setting out of the environment again, so that children do not get it. False if
/// it was not there.
bool take_huge_pages();

/// For a program that nobody started so: it starts itself again, with the setting. To be called first in main(), with
/// its arguments; returns in the second start, or at once where it cannot be done.
void start_with_huge_pages(char** argv);

}  // namespace mrclab::lab
