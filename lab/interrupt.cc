#include "lab/interrupt.h"

#include <csignal>
#include <initializer_list>

namespace mrclab::lab {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;  // a signal handler can reach nothing else

void note_interrupt(int) { g_interrupted = 1; }

}  // namespace

InterruptGuard::InterruptGuard() {
  g_interrupted = 0;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, note_interrupt);
}

InterruptGuard::~InterruptGuard() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_DFL);
}

bool InterruptGuard::interrupted() { return g_interrupted != 0; }

}  // namespace mrclab::lab
