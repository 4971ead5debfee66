#include "verbs/held/tsc/replaced_reads.h"

#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "verbs/held/tsc/trapped_instruction.h"

#if defined(__x86_64__)
asm(R"(
  .text
  .p2align 4
  .globl mrclab_real_tsc
  .hidden mrclab_real_tsc
  .type mrclab_real_tsc, @function
mrclab_real_tsc:
  .cfi_startproc
  rdtsc
  shlq $32, %rdx
  orq %rdx, %rax
  ret
  .cfi_endproc
  .size mrclab_real_tsc, . - mrclab_real_tsc
)");

extern "C" uint64_t mrclab_real_tsc();
#endif

namespace mrclab::held {

namespace {

constexpr uint8_t kHalt = 0xf4, kTwoByteOpcode = 0x0f;
constexpr uint64_t kPageBytes = 4096;
constexpr size_t kLongestInstruction = 15;
constexpr size_t kMostReads = 4096;  // a program with all its libraries has some dozens

std::array<uint64_t, kMostReads> reads;  // sorted, once all are found
size_t read_count = 0;

/// .eh_frame_hdr with a search table of 32-bit offsets from its own beginning, as linkers write it.
struct FunctionTable {
  struct Entry {
    int32_t function, description;
  };
  struct Head {
    uint8_t version, pointer_encoding, count_encoding, table_encoding;
    int32_t frames;
    uint32_t count;
  };
  static constexpr uint8_t kSigned32FromHere = 0x1b, kUnsigned32 = 0x03, kSigned32FromTable = 0x3b;

  uint64_t address;
  std::span<const Entry> entries;

  FunctionTable(uint64_t at, size_t bytes) : address(at) {
    if (bytes < sizeof(Head)) return;
    Head head;
    std::memcpy(&head, reinterpret_cast<const void*>(at), sizeof head);
    if (head.version != 1 || head.pointer_encoding != kSigned32FromHere ||
        head.count_encoding != kUnsigned32 || head.table_encoding != kSigned32FromTable ||
        head.count > (bytes - sizeof head) / sizeof(Entry))
      return;
    entries = {reinterpret_cast<const Entry*>(at + sizeof head), head.count};
  }

  /// Where the function begins that `code` would be in; 0: the table has none.
  uint64_t beginning(uint64_t code) const {
    const auto offset = static_cast<int64_t>(code - address);
    const auto behind =
        std::upper_bound(entries.begin(), entries.end(), offset,
                         [](int64_t at, const Entry& entry) { return at < entry.function; });
    return behind == entries.begin()
               ? 0
               : address + static_cast<uint64_t>(int64_t{behind[-1].function});
  }
};

/// Bytes of RDTSC or RDTSCP, if `code` begins with one; else 0.
unsigned read_length(const uint8_t* code, size_t known) {
  uint8_t bytes[kLongestInstruction] = {};
  known = std::min(known, sizeof bytes);
  std::memcpy(bytes, code, known);
  const TrappedInstruction found = trapped_instruction(bytes, static_cast<unsigned>(known));
  return found.what == Trapped::kRdtsc || found.what == Trapped::kRdtscp ? found.length : 0;
}

/// Finds reads, object by object. None is replaced before all are found: the instructions behind it could not be counted.
struct Search {
  InstructionLength length;
  int status = 0;

  /// Do the instructions from `beginning` on come to a read of the counter whose opcode is at `opcode`?
  bool is_instruction(uint64_t beginning, uint64_t opcode, uint64_t end) const {
    for (uint64_t at = beginning; at <= opcode;) {
      const auto* code = reinterpret_cast<const uint8_t*>(at);
      const size_t known = std::min<size_t>(end - at, kLongestInstruction);
      const unsigned bytes = length(code, known);
      if (bytes == 0) return false;
      if (opcode < at + bytes) return read_length(code, known) == bytes;
      at += bytes;
    }
    return false;
  }

  void keep(uint64_t opcode) {
    if (read_count == kMostReads) {
      status = ENOSPC;
    } else {
      reads[read_count++] = opcode;
    }
  }

  void look_at(uint64_t begin, uint64_t end, const FunctionTable& functions) {
    for (uint64_t at = begin; at < end && status == 0; ++at) {
      const void* const found =
          std::memchr(reinterpret_cast<const void*>(at), kTwoByteOpcode, end - at);
      if (found == nullptr) return;
      at = reinterpret_cast<uint64_t>(found);
      if (read_length(static_cast<const uint8_t*>(found), end - at) == 0) continue;
#if defined(__x86_64__)
      if (at == reinterpret_cast<uint64_t>(&mrclab_real_tsc)) continue;
#endif
      const uint64_t beginning = functions.beginning(at);
      if (beginning >= begin && beginning != 0 && is_instruction(beginning, at, end)) keep(at);
    }
  }
};

int look_at_object(dl_phdr_info* object, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  // The kernel's own object has its answers by vdso_patch.h.
  const uint64_t kernels = getauxval(AT_SYSINFO_EHDR);
  const std::span headers(object->dlpi_phdr, object->dlpi_phnum);
  FunctionTable functions(0, 0);
  for (const auto& header : headers) {
    const uint64_t at = object->dlpi_addr + header.p_vaddr;
    if (kernels != 0 && kernels >= at && kernels < at + header.p_memsz) return 0;
    if (header.p_type == PT_GNU_EH_FRAME) functions = FunctionTable(at, header.p_memsz);
  }
  for (const auto& header : headers) {
    const bool is_code = header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0;
    if (!is_code || (header.p_flags & PF_R) == 0) continue;
    const uint64_t begin = object->dlpi_addr + header.p_vaddr;
    search.look_at(begin, begin + header.p_memsz, functions);
  }
  return search.status;
}

int replace(uint64_t opcode) {
  auto* const page = reinterpret_cast<void*>(opcode & ~(kPageBytes - 1));
  // This function may lie in the same page, so it stays executable.
  if (mprotect(page, kPageBytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return errno;
  *reinterpret_cast<volatile uint8_t*>(opcode) = kHalt;
  mprotect(page, kPageBytes, PROT_READ | PROT_EXEC);
  return 0;
}

}  // namespace

int replace_tsc_reads(InstructionLength length) {
#if defined(__x86_64__)
  if (length == nullptr) return ENOTSUP;
  Search search{length};
  dl_iterate_phdr(&look_at_object, &search);
  std::sort(reads.begin(), reads.begin() + read_count);
  for (size_t i = 0; i < read_count && search.status == 0; ++i) search.status = replace(reads[i]);
  return search.status;
#else
  (void)length;
  return ENOTSUP;
#endif
}

bool is_replaced(uint64_t address) {
  return std::binary_search(reads.begin(), reads.begin() + read_count, address);
}

uint64_t real_tsc() {
#if defined(__x86_64__)
  return mrclab_real_tsc();
#else
  return 0;
#endif
}

}  // namespace mrclab::held
