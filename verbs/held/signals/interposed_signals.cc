// What a program calls to say what its signals do. Until the library owns a signal, these are the C library's.

#include <dlfcn.h>
#include <signal.h>

#include <atomic>
#include <cerrno>

#include "verbs/held/signals/kept_handlers.h"

#define MRCLAB_EXPORTED extern "C" __attribute__((visibility("default")))

namespace mrclab::held {

namespace {

using MaskFunction = int (*)(int, const sigset_t*, sigset_t*);

template <class Function>
Function real(std::atomic<Function>& found, const char* name) {
  Function function = found.load(std::memory_order_relaxed);
  if (function == nullptr) {
    function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
    found.store(function, std::memory_order_relaxed);
  }
  return function;
}

/// `set` without the signals of the library, in `copy`, if it is there at all.
const sigset_t* reduced(const sigset_t* set, sigset_t& copy) {
  const SignalMask ours = owned_mask();
  if (set == nullptr || ours == 0) return set;
  copy = *set;
  SignalMask mask = 0;
  __builtin_memcpy(&mask, &copy, sizeof(mask));
  mask &= ~ours;
  __builtin_memcpy(&copy, &mask, sizeof(mask));
  return &copy;
}

sighandler_t set_handler(int number, sighandler_t handler, int flags) {
  if (handler == SIG_ERR || number < 1 || number > 64) {
    errno = EINVAL;
    return SIG_ERR;
  }
  struct sigaction action {
  }, before{};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  if (flags == SA_RESTART) sigaddset(&action.sa_mask, number);
  action.sa_flags = flags;
  if (!keep(number, &action, &before) && real_sigaction()(number, &action, &before) != 0)
    return SIG_ERR;
  return before.sa_handler;
}

}  // namespace

}  // namespace mrclab::held

MRCLAB_EXPORTED int sigaction(int number, const struct sigaction* action,
                              struct sigaction* before) {
  using namespace mrclab::held;
  if (keep(number, action, before)) return 0;
  if (action == nullptr) return real_sigaction()(number, action, before);
  struct sigaction copy = *action;
  sigset_t mask;
  copy.sa_mask = *reduced(&action->sa_mask, mask);
  return real_sigaction()(number, &copy, before);
}

MRCLAB_EXPORTED sighandler_t signal(int number, sighandler_t handler) noexcept {
  return mrclab::held::set_handler(number, handler, SA_RESTART);
}
MRCLAB_EXPORTED sighandler_t bsd_signal(int number, sighandler_t handler) {
  return mrclab::held::set_handler(number, handler, SA_RESTART);
}
MRCLAB_EXPORTED sighandler_t ssignal(int number, sighandler_t handler) noexcept {
  return mrclab::held::set_handler(number, handler, SA_RESTART);
}
MRCLAB_EXPORTED sighandler_t sysv_signal(int number, sighandler_t handler) noexcept {
  return mrclab::held::set_handler(number, handler, static_cast<int>(SA_RESETHAND) | SA_NODEFER);
}
MRCLAB_EXPORTED sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept {
  return mrclab::held::set_handler(number, handler, static_cast<int>(SA_RESETHAND) | SA_NODEFER);
}

MRCLAB_EXPORTED int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  using namespace mrclab::held;
  static std::atomic<MaskFunction> found{nullptr};
  sigset_t copy;
  const sigset_t* wanted = how == SIG_UNBLOCK ? set : reduced(set, copy);
  return real(found, "sigprocmask")(how, wanted, before);
}

MRCLAB_EXPORTED int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  using namespace mrclab::held;
  static std::atomic<MaskFunction> found{nullptr};
  sigset_t copy;
  const sigset_t* wanted = how == SIG_UNBLOCK ? set : reduced(set, copy);
  return real(found, "pthread_sigmask")(how, wanted, before);
}
