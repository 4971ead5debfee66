// In place of instruction.cc where Zydis is missing or the processor is not an x86-64.
#include "verbs/held/spin/instruction.h"

namespace mrclab::held {

bool decoder_present() { return false; }

unsigned instruction_length(const uint8_t*, size_t) { return 0; }

Instruction next_instruction(const ucontext_t&) { return {Kind::kUnknown, 0, 0, false, {}}; }

}  // namespace mrclab::held
