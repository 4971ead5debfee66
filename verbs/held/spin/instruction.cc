#include "verbs/held/spin/instruction.h"

#include <Zydis/Zydis.h>

#include "verbs/held/signals/guarded_read.h"

namespace mrclab::held {

namespace {

constexpr Instruction of_kind(Kind kind) { return {kind, 0, 0, false, {}}; }

/// Categories of which every instruction changes only the operands that Zydis names, the registers and flags.
bool is_modelled(ZydisInstructionCategory category) {
  switch (category) {
    case ZYDIS_CATEGORY_ADOX_ADCX:
    case ZYDIS_CATEGORY_AES:
    case ZYDIS_CATEGORY_AVX:
    case ZYDIS_CATEGORY_AVX2:
    case ZYDIS_CATEGORY_AVX2GATHER:
    case ZYDIS_CATEGORY_AVX512:
    case ZYDIS_CATEGORY_AVX512_BITALG:
    case ZYDIS_CATEGORY_AVX512_VBMI:
    case ZYDIS_CATEGORY_BINARY:
    case ZYDIS_CATEGORY_BITBYTE:
    case ZYDIS_CATEGORY_BLEND:
    case ZYDIS_CATEGORY_BMI1:
    case ZYDIS_CATEGORY_BMI2:
    case ZYDIS_CATEGORY_BROADCAST:
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_CET:
    case ZYDIS_CATEGORY_CLDEMOTE:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB:
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_CONFLICT:
    case ZYDIS_CATEGORY_CONVERT:
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_EXPAND:
    case ZYDIS_CATEGORY_FCMOV:
    case ZYDIS_CATEGORY_FLAGOP:
    case ZYDIS_CATEGORY_FP16:
    case ZYDIS_CATEGORY_GATHER:
    case ZYDIS_CATEGORY_GFNI:
    case ZYDIS_CATEGORY_IFMA:
    case ZYDIS_CATEGORY_KMASK:
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_LOGICAL_FP:
    case ZYDIS_CATEGORY_LZCNT:
    case ZYDIS_CATEGORY_MISC:
    case ZYDIS_CATEGORY_MMX:
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_PCLMULQDQ:
    case ZYDIS_CATEGORY_POP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1:
    case ZYDIS_CATEGORY_PUSH:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_ROTATE:
    case ZYDIS_CATEGORY_SEMAPHORE:
    case ZYDIS_CATEGORY_SERIALIZE:
    case ZYDIS_CATEGORY_SETCC:
    case ZYDIS_CATEGORY_SHA:
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_SSE:
    case ZYDIS_CATEGORY_STRINGOP:
    case ZYDIS_CATEGORY_STTNI:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_VAES:
    case ZYDIS_CATEGORY_VBMI2:
    case ZYDIS_CATEGORY_VFMA:
    case ZYDIS_CATEGORY_VPCLMULQDQ:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_X87_ALU: return true;
    default: return false;
  }
}

Kind kind_of(const ZydisDecodedInstruction& instruction) {
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_RDRAND:
    case ZYDIS_CATEGORY_RDSEED: return Kind::kCall;
    default: break;
  }
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_RDTSC:
    case ZYDIS_MNEMONIC_RDTSCP:
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_HLT:
      return Kind::kCall;  // in place of RDTSC (tsc/replaced_reads.h), or the program's end
    // Flags that show the step itself, transactions that a step aborts, waiting by the processor's own clock, state beside
    // registers and memory. The accesses of the first of these begin elsewhere than its operands say.
    case ZYDIS_MNEMONIC_ENTER:
    case ZYDIS_MNEMONIC_PUSHF:
    case ZYDIS_MNEMONIC_PUSHFD:
    case ZYDIS_MNEMONIC_PUSHFQ:
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFD:
    case ZYDIS_MNEMONIC_POPFQ:
    case ZYDIS_MNEMONIC_MONITOR:
    case ZYDIS_MNEMONIC_MWAIT:
    case ZYDIS_MNEMONIC_MONITORX:
    case ZYDIS_MNEMONIC_MWAITX:
    case ZYDIS_MNEMONIC_XBEGIN:
    case ZYDIS_MNEMONIC_XABORT:
    case ZYDIS_MNEMONIC_XEND:
    case ZYDIS_MNEMONIC_XTEST:
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
    case ZYDIS_MNEMONIC_INCSSPD:
    case ZYDIS_MNEMONIC_INCSSPQ:
    case ZYDIS_MNEMONIC_RSTORSSP:
    case ZYDIS_MNEMONIC_SAVEPREVSSP:
    case ZYDIS_MNEMONIC_WRSSD:
    case ZYDIS_MNEMONIC_WRSSQ:
    case ZYDIS_MNEMONIC_WRUSSD:
    case ZYDIS_MNEMONIC_WRUSSQ:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_LSL:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_MASKMOVQ: return Kind::kUnknown;
    default: break;
  }
  if (instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) return Kind::kUnknown;
  return is_modelled(instruction.meta.category) ? Kind::kPlain : Kind::kUnknown;
}

bool value_of(ZydisRegister name, const ucontext_t& context, uint64_t next_rip, uint64_t& value) {
  const auto& registers = context.uc_mcontext.gregs;
  static constexpr int kInOrder[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                       REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                       REG_R12, REG_R13, REG_R14, REG_R15};
  if (name == ZYDIS_REGISTER_NONE) {
    value = 0;
  } else if (name == ZYDIS_REGISTER_RIP) {
    value = next_rip;
  } else if (name >= ZYDIS_REGISTER_RAX && name <= ZYDIS_REGISTER_R15) {
    value = static_cast<uint64_t>(registers[kInOrder[name - ZYDIS_REGISTER_RAX]]);
  } else if (name >= ZYDIS_REGISTER_EAX && name <= ZYDIS_REGISTER_R15D) {
    value = static_cast<uint32_t>(registers[kInOrder[name - ZYDIS_REGISTER_EAX]]);
  } else {
    return false;
  }
  return true;
}

/// The base of FS: what the ABI of x86-64 has at %fs:0.
uint64_t thread_pointer() {
  uint64_t value = 0;
#if defined(__x86_64__)
  asm("movq %%fs:0, %0" : "=r"(value));
#endif
  return value;
}

bool address_of(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand& operand,
                const ucontext_t& context, uint64_t& address) {
  const auto rip = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  uint64_t base = 0, index = 0;
  if (!value_of(operand.mem.base, context, rip + instruction.length, base) ||
      !value_of(operand.mem.index, context, 0, index))
    return false;
  address = base + index * operand.mem.scale;
  if (operand.mem.disp.has_displacement) address += static_cast<uint64_t>(operand.mem.disp.value);
  if (instruction.address_width == 32) address = static_cast<uint32_t>(address);
  if (operand.mem.segment == ZYDIS_REGISTER_FS) address += thread_pointer();
  if (operand.mem.segment == ZYDIS_REGISTER_GS) return false;
  const bool hidden = operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
  const auto category = instruction.meta.category;
  // The stack pointer moves before a push stores, and before a pop computes where to.
  if (hidden && (category == ZYDIS_CATEGORY_PUSH || category == ZYDIS_CATEGORY_CALL))
    address -= operand.size / 8;
  if (!hidden && category == ZYDIS_CATEGORY_POP && operand.mem.base == ZYDIS_REGISTER_RSP)
    address += operand.size / 8;
  // A bit string: the bit that a register names may be far from where the operand begins.
  if (category == ZYDIS_CATEGORY_BITBYTE) return false;
  return true;
}

/// BTS, BTR and BTC with the bit's number in a register.
bool store_of_bit(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* operands,
                  const ucontext_t& context, Store& store) {
  ZydisDecodedInstruction plain = instruction;
  plain.meta.category = ZYDIS_CATEGORY_DATAXFER;
  uint64_t address = 0, number = 0;
  if (!address_of(plain, operands[0], context, address)) return false;
  if (operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
    ZydisRegister whole = operands[1].reg.value;
    const uint32_t bits = operands[0].size;
    if (bits == 16)
      whole = static_cast<ZydisRegister>(whole - ZYDIS_REGISTER_AX + ZYDIS_REGISTER_RAX);
    if (!value_of(whole, context, 0, number)) return false;
    int64_t distance = static_cast<int64_t>(number);
    if (bits == 32) distance = static_cast<int32_t>(number);
    if (bits == 16) distance = static_cast<int16_t>(number);
    address += static_cast<uint64_t>((distance >> (bits == 64   ? 6
                                                   : bits == 32 ? 5
                                                                : 4)) *
                                     static_cast<int64_t>(bits / 8));
  }
  store = {address, operands[0].size / 8u};
  return true;
}

bool add_store(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* operands,
               unsigned at, const ucontext_t& context, Instruction& result) {
  const ZydisDecodedOperand& operand = operands[at];
  if (operand.mem.type != ZYDIS_MEMOP_TYPE_MEM || result.count == 2) return false;
  Store& store = result.stores[result.count];
  if (instruction.meta.category == ZYDIS_CATEGORY_BITBYTE && at == 0 &&
      instruction.operand_count_visible == 2) {
    if (!store_of_bit(instruction, operands, context, store)) return false;
  } else {
    store.bytes = operand.size / 8;
    if (!address_of(instruction, operand, context, store.address)) return false;
  }
  if (store.bytes == 0 || store.bytes > 64) return false;
  ++result.count;
  return true;
}

}  // namespace

bool decoder_present() { return true; }

unsigned instruction_length(const uint8_t* code, size_t known) {
  ZydisDecoder decoder;
  ZydisDecodedInstruction instruction;
  if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
      !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, nullptr, code, known, &instruction)))
    return 0;
  return instruction.length;
}

Instruction next_instruction(const ucontext_t& context) {
  const auto rip = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
  uint64_t known = sizeof(bytes);
  if (!guarded_read(bytes, rip, known)) {
    known = 4096 - (rip & 4095);
    if (known >= sizeof(bytes) || !guarded_read(bytes, rip, known)) return of_kind(Kind::kUnknown);
  }
  ZydisDecoder decoder;
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
      !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, known, &instruction, operands)))
    return of_kind(Kind::kUnknown);
  Instruction result = of_kind(kind_of(instruction));
  result.length = instruction.length;
  if (result.kind != Kind::kPlain) return result;
  constexpr auto kRepeats = ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
  result.repeats = instruction.meta.category == ZYDIS_CATEGORY_STRINGOP &&
                   (instruction.attributes & kRepeats) != 0;
  if (result.repeats && context.uc_mcontext.gregs[REG_RCX] == 0) return result;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const ZydisDecodedOperand& operand = operands[i];
    // A segment register, or its base, is state of which the frame of a signal has nothing.
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
        (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0 &&
        ZydisRegisterGetClass(operand.reg.value) == ZYDIS_REGCLASS_SEGMENT)
      return of_kind(Kind::kUnknown);
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
    if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0) continue;
    if (!add_store(instruction, operands, i, context, result)) return of_kind(Kind::kUnknown);
  }
  return result;
}

}  // namespace mrclab::held
