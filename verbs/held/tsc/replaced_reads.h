#pragma once
// Reads of the time stamp counter in the program's code, replaced by an instruction that faults: for virtual machines whose
// processor goes on answering although the kernel has taken PR_SET_TSC. The opcode's first byte becomes HLT, which is
// forbidden to programs (Intel SDM volume 2), so that the fault is that of a trapped read.
//
// Only what is certain to be an instruction is replaced: .eh_frame_hdr has where its function begins (Linux Standard Base Core
// 5.0, "Exception Frames"), and the instructions are counted from there. Not found: reads in code without that table, and in
// libraries that the program loads later.

#include <cstddef>
#include <cstdint>

namespace mrclab::held {

/// How many bytes the instruction at `code` has, of which `known` can be read; 0: none that is known.
using InstructionLength = unsigned (*)(const uint8_t* code, size_t known);

/// Replaces the reads in everything that is loaded now. 0; ENOTSUP without `length` or elsewhere than on x86-64; ENOSPC: there
/// are more than can be kept; else the errno of mprotect(2). What was replaced before an error stays so.
int replace_tsc_reads(InstructionLength length);
/// Whether the byte at `address` was replaced; it was 0x0f.
bool is_replaced(uint64_t address);

/// The processor's counter, by an instruction that is not replaced.
uint64_t real_tsc();

}  // namespace mrclab::held
