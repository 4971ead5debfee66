// Processes that a held program starts. The traps of its threads would kill what they execute (tsc/tsc_trap.h).

#include "verbs/held/children.h"

#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdarg>
#include <cstring>

#include "verbs/held/entry.h"
#include "verbs/held/next.h"
#include "verbs/held/program.h"
#include "verbs/held/raw.h"
#include "verbs/held/traps.h"
#include "verbs/held/tsc/tsc_trap.h"

namespace mrclab::verbs::held {
namespace {

std::atomic<bool> any_children;

void before_fork() { any_children.store(true); }
void in_child() {
  untrap_child();
  become_child();
}

/// Arguments of execl() and its kin up to the null; false: more than fit.
constexpr size_t kMaxArguments = 1'000;
bool collect(const char* first, va_list rest, char** arguments) {
  size_t count = 0;
  for (const char* next = first;; next = va_arg(rest, const char*)) {
    if (count == kMaxArguments) return false;
    arguments[count++] = const_cast<char*>(next);
    if (next == nullptr) return true;
  }
}

bool is_program(const char* path) {
  struct stat found {};
  return stat(path, &found) == 0 && S_ISREG(found.st_mode) && access(path, X_OK) == 0;
}

/// Whether the file can be executed, as execvp looks for it. Then the program ends here: what it becomes is another.
bool will_execute(const char* file) {
  if (std::strchr(file, '/') != nullptr) return is_program(file);
  const char* list = getenv("PATH");
  while (list != nullptr && *list != 0) {
    const size_t length = std::strcspn(list, ":");
    char path[PATH_MAX];
    if (length + std::strlen(file) + 2 <= sizeof path) {
      std::memcpy(path, list, length);
      path[length] = '/';
      std::strcpy(path + length + 1, file);
      if (is_program(path)) return true;
    }
    list += length;
    if (*list == ':') ++list;
  }
  return false;
}

void end_as(const char* file) {
  if (!is_borrowed() && will_execute(file)) tell_end();
}

}  // namespace

bool has_children() { return any_children.load(); }

bool is_borrowed() {
  return program.real_pid != 0 && raw(SYS_getpid) != program.real_pid &&
         program.standing.load() != Standing::kChild;
}

void expect_forks() { pthread_atfork(before_fork, nullptr, in_child); }

}  // namespace mrclab::verbs::held

using namespace mrclab::verbs::held;
using mrclab::held::TscLifted;

// A child that borrows this process's memory would change the tables here: it gets its own.
MRCLAB_EXPORT pid_t vfork() noexcept {
  const Entry entry;
  return fork();
}

MRCLAB_EXPORT int posix_spawn(pid_t* __restrict child, const char* __restrict path,
                              const posix_spawn_file_actions_t* __restrict actions,
                              const posix_spawnattr_t* __restrict attributes,
                              char* const* arguments, char* const* environment) {
  const Entry entry;
  MRCLAB_NEXT(posix_spawn);
  const TscLifted lifted;
  any_children.store(true);
  return real(child, path, actions, attributes, arguments, environment);
}

MRCLAB_EXPORT int posix_spawnp(pid_t* child, const char* file,
                               const posix_spawn_file_actions_t* actions,
                               const posix_spawnattr_t* attributes, char* const* arguments,
                               char* const* environment) {
  const Entry entry;
  MRCLAB_NEXT(posix_spawnp);
  const TscLifted lifted;
  any_children.store(true);
  return real(child, file, actions, attributes, arguments, environment);
}

MRCLAB_EXPORT int system(const char* command) {
  const Entry entry;
  MRCLAB_NEXT(system);
  const TscLifted lifted;
  any_children.store(true);
  return real(command);
}

MRCLAB_EXPORT FILE* popen(const char* command, const char* mode) {
  const Entry entry;
  MRCLAB_NEXT(popen);
  const TscLifted lifted;
  any_children.store(true);
  return real(command, mode);
}

MRCLAB_EXPORT int execve(const char* path, char* const* arguments,
                         char* const* environment) noexcept {
  const Entry entry;
  end_as(path);
  const TscLifted lifted;
  return static_cast<int>(
      returned(raw(SYS_execve, word(path), word(arguments), word(environment))));
}

MRCLAB_EXPORT int execv(const char* path, char* const* arguments) noexcept {
  return execve(path, arguments, environ);
}

MRCLAB_EXPORT int execvpe(const char* file, char* const* arguments,
                          char* const* environment) noexcept {
  const Entry entry;
  MRCLAB_NEXT(execvpe);
  end_as(file);
  const TscLifted lifted;
  return real(file, arguments, environment);
}

MRCLAB_EXPORT int execvp(const char* file, char* const* arguments) noexcept {
  return execvpe(file, arguments, environ);
}

MRCLAB_EXPORT int fexecve(int fd, char* const* arguments, char* const* environment) noexcept {
  const Entry entry;
  MRCLAB_NEXT(fexecve);
  if (!is_borrowed()) tell_end();
  const TscLifted lifted;
  return real(fd, arguments, environment);
}

MRCLAB_EXPORT int execl(const char* path, const char* first, ...) noexcept {
  char* arguments[kMaxArguments];
  va_list rest;
  va_start(rest, first);
  const bool whole = collect(first, rest, arguments);
  va_end(rest);
  return whole ? execve(path, arguments, environ) : failed(E2BIG);
}

MRCLAB_EXPORT int execlp(const char* file, const char* first, ...) noexcept {
  char* arguments[kMaxArguments];
  va_list rest;
  va_start(rest, first);
  const bool whole = collect(first, rest, arguments);
  va_end(rest);
  return whole ? execvpe(file, arguments, environ) : failed(E2BIG);
}

MRCLAB_EXPORT int execle(const char* path, const char* first, ...) noexcept {
  char* arguments[kMaxArguments];
  va_list rest;
  va_start(rest, first);
  const bool whole = collect(first, rest, arguments);
  char* const* const environment = va_arg(rest, char* const*);
  va_end(rest);
  return whole ? execve(path, arguments, environment) : failed(E2BIG);
}
