#include "verbs/held/signals/own_signals.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "verbs/held/signals/kept_handlers.h"

namespace mrclab::held {

namespace {

/// The disposition of the program for one of our signals. Written rarely, read in handlers: readers take the half that
/// `current` names, writers fill the other first.
struct Owned {
  std::atomic<OwnHandler> handler;
  std::atomic<uint32_t> current;
  struct sigaction kept[2];
};
constexpr int kOwned[] = {SIGSEGV, SIGTRAP, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGABRT, kTickSignal};
constexpr int kMostOwned = sizeof(kOwned) / sizeof(kOwned[0]);
Owned owned[kMostOwned];
std::atomic_flag writing = ATOMIC_FLAG_INIT;
std::atomic<EndObserver> end_observer{nullptr};

Owned* find(int signal) {
  for (int i = 0; i < kMostOwned; ++i) {
    if (kOwned[i] == signal) return &owned[i];
  }
  return nullptr;
}

void replace_kept(Owned& slot, const struct sigaction& action) {
  // No handler may come between, which could want the same.
  const SignalMask before = raw_mask(kMaskBlock, ~SignalMask{0});
  while (writing.test_and_set(std::memory_order_acquire)) {
  }
  const uint32_t other = slot.current.load(std::memory_order_relaxed) ^ 1;
  slot.kept[other] = action;
  slot.current.store(other, std::memory_order_release);
  writing.clear(std::memory_order_release);
  raw_mask(kMaskSet, before);
}

/// The program's own fault or abort(), and not a signal of another process.
bool is_own_doing(const siginfo_t* info) {
  return info->si_code > 0 || info->si_pid == static_cast<pid_t>(raw_call(SYS_getpid));
}

void end_by(int signal, const siginfo_t* info) {
  const EndObserver observe = end_observer.load(std::memory_order_acquire);
  if (observe != nullptr && is_own_doing(info)) observe();
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  real_sigaction()(signal, &standard, nullptr);
  // A fault comes again at the same instruction, and the core shows it there.
  if (signal != SIGTRAP && signal != SIGSYS && info->si_code > 0) return;
  raw_call(SYS_tgkill, static_cast<uint64_t>(raw_call(SYS_getpid)),
           static_cast<uint64_t>(raw_call(SYS_gettid)), static_cast<uint64_t>(signal));
  raw_mask(kMaskUnblock, mask_of(signal));
}

/// As the kernel would have called the program.
void forward(Owned& slot, int signal, siginfo_t* info, ucontext_t* context) {
  const struct sigaction kept = slot.kept[slot.current.load(std::memory_order_acquire)];
  const bool from_an_instruction = info->si_code > 0;
  if (kept.sa_handler == SIG_IGN && !from_an_instruction) return;
  const bool again = signal == SIGSEGV && (mask_in(context) & mask_of(kInHandlerSignal)) != 0;
  if (kept.sa_handler == SIG_DFL || kept.sa_handler == SIG_IGN || (again && from_an_instruction)) {
    end_by(signal, info);
    return;
  }
  if ((kept.sa_flags & SA_RESETHAND) != 0) {
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    replace_kept(slot, standard);
  }
  SignalMask mask = mask_in(context);
  SignalMask wanted = 0;
  __builtin_memcpy(&wanted, &kept.sa_mask, sizeof(wanted));
  mask |= without_owned(wanted);
  if (signal == SIGSEGV && (kept.sa_flags & SA_NODEFER) == 0) mask |= mask_of(kInHandlerSignal);
  raw_mask(kMaskSet, mask);
  if ((kept.sa_flags & SA_SIGINFO) != 0) {
    kept.sa_sigaction(signal, info, context);
  } else {
    kept.sa_handler(signal);
  }
}

void enter(int signal, siginfo_t* info, void* context) {
  Owned* slot = find(signal);
  const int saved = errno;
  const OwnHandler handler = slot->handler.load(std::memory_order_acquire);
  auto* frame = static_cast<ucontext_t*>(context);
  const bool ours = handler(info, frame);
  errno = saved;
  if (!ours) forward(*slot, signal, info, frame);
}

}  // namespace

SigactionFunction real_sigaction() {
  static std::atomic<SigactionFunction> found{nullptr};
  SigactionFunction real = found.load(std::memory_order_relaxed);
  if (real == nullptr) {
    real = reinterpret_cast<SigactionFunction>(dlsym(RTLD_NEXT, "sigaction"));
    found.store(real, std::memory_order_relaxed);
  }
  return real;
}

SignalMask owned_mask() {
  SignalMask mask = 0;
  for (int i = 0; i < kMostOwned; ++i) {
    if (owned[i].handler.load(std::memory_order_acquire) != nullptr) mask |= mask_of(kOwned[i]);
  }
  return mask;
}

bool keep(int signal, const struct sigaction* action, struct sigaction* before) {
  Owned* slot = find(signal);
  if (slot == nullptr || slot->handler.load(std::memory_order_acquire) == nullptr) return false;
  const struct sigaction old = slot->kept[slot->current.load(std::memory_order_acquire)];
  if (action != nullptr) {
    const struct sigaction copy = *action;
    replace_kept(*slot, copy);
  }
  if (before != nullptr) *before = old;
  return true;
}

void observe_end(EndObserver observe) { end_observer.store(observe, std::memory_order_release); }

int own_signal(int signal, OwnHandler handler) {
  Owned* slot = find(signal);
  if (slot == nullptr) return EINVAL;
  if (slot->handler.load(std::memory_order_acquire) != nullptr) return EALREADY;
  struct sigaction ours {};
  ours.sa_sigaction = &enter;
  sigfillset(&ours.sa_mask);
  // A fault or a step while these are blocked would end the program, and so would they in the C library's own code.
  for (const int never : {SIGSEGV, SIGTRAP, SIGBUS, SIGFPE, SIGILL, SIGSYS}) {
    sigdelset(&ours.sa_mask, never);
  }
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  if (signal == SIGSEGV) ours.sa_flags |= SA_NODEFER;
  struct sigaction before {};
  if (real_sigaction()(signal, nullptr, &before) != 0) return errno;
  replace_kept(*slot, before);
  slot->handler.store(handler, std::memory_order_release);
  if (real_sigaction()(signal, &ours, nullptr) != 0) {
    slot->handler.store(nullptr, std::memory_order_release);
    return errno;
  }
  raw_mask(kMaskUnblock, mask_of(signal));
  return 0;
}

}  // namespace mrclab::held
