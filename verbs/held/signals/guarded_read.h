#pragma once
// Reading memory of the program that may not be there: a store that a handler foresees may be one that faults.

#include <cstddef>
#include <cstdint>

namespace mrclab::held {

/// Copies `size` bytes; false where one of them cannot be read. Only while SIGSEGV is the library's own
/// (own_signals.h), which calls the function below.
bool guarded_read(void* to, uint64_t from, size_t size);

/// Of the handler of SIGSEGV: if the fault at instruction `rip` is one of guarded_read, where it goes on; else 0.
uint64_t guarded_read_resumes(uint64_t rip);

}  // namespace mrclab::held
