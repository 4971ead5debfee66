#pragma once
// Simulations touch much memory, each page for the first time once, and then at random. In pages of 2 MiB that costs a
// fraction (tests/bench/README.md). glibc's allocator asks for them only if its environment has the option when the program
// starts: so the program starts itself again, with that.

namespace mrclab::lab {

/// To be called first in main(), with its arguments. Returns in the program that was started again, or at once where
/// the user has set GLIBC_TUNABLES or it cannot be done. Children do not get the setting.
void start_with_huge_pages(char** argv);

}  // namespace mrclab::lab
