#pragma once
// What the next instruction of a stepped thread will store, and whether it is one of a kind whose effect is not all in
// registers and memory. Decoded by Zydis; without it (decoder_present() is false) nothing can be proven.

#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace mrclab::held {

struct Store {
  uint64_t address;
  uint32_t bytes;  ///< at most 64
};

enum class Kind : uint8_t {
  kPlain,    ///< changes registers and the memory in `stores`, by these alone
  kCall,     ///< asks the kernel, the clock or the processor: a loop with it can end by itself
  kUnknown,  ///< not decoded, or an effect that is not modelled
};

struct Instruction {
  Kind kind;
  uint8_t length;
  uint8_t count;
  bool repeats;  ///< REP: one step is one of its rounds
  Store stores[2];
};

bool decoder_present();

/// Bytes of the instruction at `code`, of which `known` can be read; 0: none that is known, or no decoder.
unsigned instruction_length(const uint8_t* code, size_t known);

/// Of the instruction at rip of `context`, with the registers as they are before it. Calls nothing that locks or
/// allocates. Conditional and masked stores count as made, whole.
Instruction next_instruction(const ucontext_t& context);

}  // namespace mrclab::held
