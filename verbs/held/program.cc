#include "verbs/held/program.h"

#include <cstring>

#include "verbs/held/raw.h"

namespace mrclab::verbs::held {

Program program;

uint64_t machine_ns() {
  timespec now{};
  raw(SYS_clock_gettime, CLOCK_MONOTONIC, word(&now));
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t program_ns() {
  const uint64_t held_ns = now_ps() / 1000;
  if (program.standing.load(std::memory_order_acquire) == Standing::kHeld) return held_ns;
  return held_ns + (machine_ns() - program.left_ns);
}

void say(const char* text, const char* more) {
  char line[400] = "mrclab: ";
  const size_t room = sizeof line - 2;
  std::strncat(line, text, room - std::strlen(line));
  std::strncat(line, more, room - std::strlen(line));
  std::strcat(line, "\n");
  raw(SYS_write, 2, word(line), static_cast<long>(std::strlen(line)));
}

}  // namespace mrclab::verbs::held
