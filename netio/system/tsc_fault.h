#pragma once
// Whether this machine lets a program's reads of the processor's clock be answered by somebody else.

namespace mrclab::netio {

/// Does RDTSC fault in a process that asked for it (prctl PR_SET_TSC)? A process of its own tries: some virtual machines'
/// kernels take the request, and the processor goes on answering.
bool tsc_reads_fault();

}  // namespace mrclab::netio
