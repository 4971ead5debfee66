#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstdarg>
#include <cstring>

#include "verbs/held/children.h"
#include "verbs/held/descriptors.h"
#include "verbs/held/entry.h"
#include "verbs/held/identity.h"
#include "verbs/held/next.h"
#include "verbs/held/raw.h"

namespace mrclab::verbs::held {
namespace {

// Process numbers of held programs: as those of a small system, one range for each host.
constexpr int kFirstProcess = 1'000;
constexpr int kProcessesOfHost = 16;

int process_number() {
  return kFirstProcess + static_cast<int>(program.hello.host_number) * kProcessesOfHost +
         static_cast<int>(program.hello.program);
}

uint64_t drawn;

/// SplitMix64 (Steele, Lea, Flood 2014): the n-th number of a seed.
uint64_t draw() {
  uint64_t z = program.hello.seed + ++drawn * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

bool is_random_device(const char* path) {
  return path != nullptr &&
         (std::strcmp(path, "/dev/urandom") == 0 || std::strcmp(path, "/dev/random") == 0);
}

long opened(long fd, const char* path) {
  if (fd >= 0 && is_random_device(path) && !is_borrowed() && held_by_name())
    add_file(static_cast<int>(fd), Kind::kRandom);
  return fd;
}

ssize_t read_cookie(void*, char* buffer, size_t size) {
  fill_randomly(buffer, size);
  return static_cast<ssize_t>(size);
}

}  // namespace

void fill_randomly(void* buffer, size_t size) {
  for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
    const uint64_t number = draw();
    const size_t left = size - at;
    std::memcpy(static_cast<char*>(buffer) + at, &number,
                left < sizeof number ? left : sizeof number);
  }
}

}  // namespace mrclab::verbs::held

using namespace mrclab::verbs::held;

MRCLAB_EXPORT pid_t getpid() noexcept {
  const Entry entry;
  if (program.was_held && program.standing.load() != Standing::kChild && !is_borrowed())
    return process_number();
  if (held_by_name()) return process_number();
  return static_cast<pid_t>(raw(SYS_getpid));
}

MRCLAB_EXPORT pid_t getppid() noexcept {
  const Entry entry;
  if (held_by_name()) return 1;
  return static_cast<pid_t>(raw(SYS_getppid));
}

MRCLAB_EXPORT int kill(pid_t process, int number) noexcept {
  const Entry entry;
  const bool own = program.was_held && process == process_number();
  if (own) tell_if_ending(number);
  return static_cast<int>(returned(raw(SYS_kill, own ? program.real_pid : process, number)));
}

MRCLAB_EXPORT ssize_t getrandom(void* buffer, size_t size, unsigned flags) {
  const Entry entry;
  if (held_by_name()) {
    fill_randomly(buffer, size);
    return static_cast<ssize_t>(size);
  }
  return returned(raw(SYS_getrandom, word(buffer), static_cast<long>(size), flags));
}

MRCLAB_EXPORT int getentropy(void* buffer, size_t size) {
  const Entry entry;
  if (size > 256) return failed(EIO);
  return getrandom(buffer, size, 0) == static_cast<ssize_t>(size) ? 0 : -1;
}

MRCLAB_EXPORT void arc4random_buf(void* buffer, size_t size) noexcept {
  const Entry entry;
  for (size_t at = 0; at < size; at += 256)
    getentropy(static_cast<char*>(buffer) + at, size - at < 256 ? size - at : 256);
}

MRCLAB_EXPORT uint32_t arc4random() noexcept {
  const Entry entry;
  uint32_t number = 0;
  arc4random_buf(&number, sizeof number);
  return number;
}

MRCLAB_EXPORT uint32_t arc4random_uniform(uint32_t bound) noexcept {
  const Entry entry;
  if (bound < 2) return 0;
  // Draws below the remainder would make small numbers more frequent.
  const uint32_t refuse = -bound % bound;
  uint32_t number;
  do {
    number = arc4random();
  } while (number < refuse);
  return number % bound;
}

MRCLAB_EXPORT int openat(int folder, const char* path, int flags, ...) {
  const Entry entry;
  va_list arguments;
  va_start(arguments, flags);
  const int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, int) : 0;
  va_end(arguments);
  return static_cast<int>(opened(returned(raw(SYS_openat, folder, word(path), flags, mode)), path));
}

MRCLAB_EXPORT int open(const char* path, int flags, ...) {
  const Entry entry;
  va_list arguments;
  va_start(arguments, flags);
  const int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, int) : 0;
  va_end(arguments);
  return openat(AT_FDCWD, path, flags, mode);
}

MRCLAB_EXPORT int open64(const char* path, int flags, ...) {
  const Entry entry;
  va_list arguments;
  va_start(arguments, flags);
  const int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, int) : 0;
  va_end(arguments);
  return openat(AT_FDCWD, path, flags, mode);
}

MRCLAB_EXPORT int __open_2(const char* path, int flags) { return openat(AT_FDCWD, path, flags); }
MRCLAB_EXPORT int __open64_2(const char* path, int flags) { return openat(AT_FDCWD, path, flags); }

MRCLAB_EXPORT FILE* fopen(const char* __restrict path, const char* __restrict mode) {
  const Entry entry;
  if (is_random_device(path) && held_by_name())
    return fopencookie(nullptr, mode, {read_cookie, nullptr, nullptr, nullptr});
  MRCLAB_NEXT(fopen);
  return real(path, mode);
}

MRCLAB_EXPORT FILE* fopen64(const char* __restrict path, const char* __restrict mode) {
  const Entry entry;
  return fopen(path, mode);
}
