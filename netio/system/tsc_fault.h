#pragma once
// Whether the processor traps a program's reads of its clock (RDTSC), so that mrclab can answer a held program's with
// fabric time (verbs/held).

namespace mrclab::netio {

/// Does RDTSC fault in a process that asked for it (prctl PR_SET_TSC)? A process of its own tries: some virtual machines'
/// kernels take the request, and the processor goes on answering.
bool tsc_reads_fault();

}  // namespace mrclab::netio
