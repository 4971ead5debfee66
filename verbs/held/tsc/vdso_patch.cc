#include "verbs/held/tsc/vdso_patch.h"

#include <elf.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "verbs/held/signals/guarded_read.h"
#include "verbs/held/signals/raw_calls.h"

namespace mrclab::held {

namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kMostPages = 16;  // that of Linux has one or two
constexpr uint64_t kMostSymbols = 256;
constexpr uint64_t kJumpBytes = 12;

template <class T>
bool take(std::span<const uint8_t> image, uint64_t offset, T& result) {
  if (offset > image.size() || image.size() - offset < sizeof(T)) return false;
  std::memcpy(&result, image.data() + offset, sizeof(T));
  return true;
}

bool is_named(std::span<const uint8_t> image, uint64_t offset, const char* name) {
  const size_t length = std::strlen(name) + 1;
  return offset <= image.size() && image.size() - offset >= length &&
         std::memcmp(image.data() + offset, name, length) == 0;
}

/// Bytes of the image at `base`, as far as its own headers say and it can be read. What is mapped behind it is another's.
uint64_t image_bytes(uint64_t base) {
  Elf64_Ehdr head;
  if (!guarded_read(&head, base, sizeof(head))) return 0;
  const uint64_t end = head.e_shoff + uint64_t{head.e_shnum} * sizeof(Elf64_Shdr);
  if (end < head.e_shoff || end > kMostPages * kPage) return 0;
  uint8_t byte = 0;
  for (uint64_t at = 0; at < end; at += kPage) {
    if (!guarded_read(&byte, base + at, 1)) return 0;
  }
  return guarded_read(&byte, base + end - 1, 1) ? end : 0;
}

/// By the file of this process's memory, which writes where the pages do not let.
int write_by_file(uint64_t at, const uint8_t (&code)[kJumpBytes]) {
  constexpr int kHere = -100;  // AT_FDCWD
  const char name[] = "/proc/self/mem";
  const int64_t file = raw_call(SYS_openat, static_cast<uint64_t>(kHere), raw_address(name),
                                02000002 /* O_RDWR | O_CLOEXEC */);
  if (file < 0) return static_cast<int>(-file);
  const int64_t written =
      raw_call(SYS_pwrite64, static_cast<uint64_t>(file), raw_address(code), kJumpBytes, at);
  raw_call(SYS_close, static_cast<uint64_t>(file));
  if (written == static_cast<int64_t>(kJumpBytes)) return 0;
  return written < 0 ? static_cast<int>(-written) : EIO;
}

/// The code at `at` becomes: movabs $target, %rax; jmp *%rax. No caller of a function expects anything in rax.
int overwrite(uint64_t at, uint64_t target) {
  uint8_t code[kJumpBytes] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
  std::memcpy(code + 2, &target, sizeof(target));
  const uint64_t begin = at & ~(kPage - 1);
  const uint64_t end = (at + kJumpBytes + kPage - 1) & ~(kPage - 1);
  // Never writable and executable at once, which kernels refuse.
  if (raw_call(SYS_mprotect, begin, end - begin, PROT_READ | PROT_WRITE) < 0)
    return write_by_file(at, code);
  std::memcpy(reinterpret_cast<void*>(at), code, kJumpBytes);
  return static_cast<int>(-raw_call(SYS_mprotect, begin, end - begin, PROT_READ | PROT_EXEC));
}

}  // namespace

VdsoEntry find_vdso_entry(std::span<const uint8_t> image, const char* name) {
  Elf64_Ehdr head;
  if (!take(image, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return {0, 0};
  for (uint64_t i = 0; i < head.e_shnum; ++i) {
    Elf64_Shdr section, strings;
    if (!take(image, head.e_shoff + i * sizeof(section), section)) return {0, 0};
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= head.e_shnum) continue;
    if (!take(image, head.e_shoff + section.sh_link * sizeof(section), strings)) return {0, 0};
    const uint64_t symbols = section.sh_size / sizeof(Elf64_Sym);
    for (uint64_t n = 0; n < symbols && n < kMostSymbols; ++n) {
      Elf64_Sym symbol;
      if (!take(image, section.sh_offset + n * sizeof(symbol), symbol)) break;
      if (!is_named(image, strings.sh_offset + symbol.st_name, name)) continue;
      const bool inside =
          symbol.st_value < image.size() && image.size() - symbol.st_value >= symbol.st_size;
      return inside ? VdsoEntry{symbol.st_value, symbol.st_size} : VdsoEntry{0, 0};
    }
  }
  return {0, 0};
}

int patch_vdso(const VdsoAnswers& answers) {
#if defined(__x86_64__)
  const uint64_t base = getauxval(AT_SYSINFO_EHDR);
  if (base == 0) return ENOENT;
  const uint64_t size = image_bytes(base);
  auto* image = reinterpret_cast<uint8_t*>(base);
  const std::span<const uint8_t> whole(image, size);
  const struct {
    const char* name;
    uint64_t target;
  } patches[] = {{"__vdso_clock_gettime", reinterpret_cast<uint64_t>(answers.clock_gettime)},
                 {"__vdso_gettimeofday", reinterpret_cast<uint64_t>(answers.gettimeofday)},
                 {"__vdso_time", reinterpret_cast<uint64_t>(answers.time)}};
  VdsoEntry entries[3];
  bool some = false;
  for (int i = 0; i < 3; ++i) {
    entries[i] = find_vdso_entry(whole, patches[i].name);
    if (entries[i].bytes < kJumpBytes) entries[i] = {0, 0};
    some |= entries[i].bytes != 0;
  }
  if (!some) return ENOENT;
  for (int i = 0; i < 3; ++i) {
    if (entries[i].bytes == 0) continue;
    const int status = overwrite(base + entries[i].offset, patches[i].target);
    if (status != 0) return status;
  }
  return 0;
#else
  (void)answers;
  return ENOENT;
#endif
}

}  // namespace mrclab::held
