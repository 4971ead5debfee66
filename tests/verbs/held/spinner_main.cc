// A program with spins and computing between them, and a host that is played in the program itself: every event of it
// changes a digest, and the last that a spin waits for changes the memory. Prints what the spins saw and the digest, which
// have to be the same whenever ticks fall. spinner spins TICK_US ROUNDS | counts TICK_US BOUND_MS | waits TICK_US PATIENCE_MS

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/verbs/held/spin_shapes.h"
#include "verbs/held/spin/spin.h"

using namespace mrclab::held;

namespace {

spin_words words;
uint64_t events_left = 0;
uint64_t digest = 1;
uint64_t chance = 88172645463325252;

uint64_t next_chance() {
  chance ^= chance << 13;
  chance ^= chance >> 7;
  return chance ^= chance << 17;
}

void note(uint64_t what) {
  digest = (digest ^ what) * 0x9e3779b97f4a7c15;
  digest ^= digest >> 31;
}

void change_memory() {
  const uint64_t value = 1 + next_chance() % 1000;
  for (volatile uint64_t& word : words.word) word = value;
  std::memset(words.block, 5, sizeof(words.block));
  words.plain = 7;
}

bool pass_event() {
  note(events_left);
  if (events_left > 0 && --events_left == 0) change_memory();
  return true;
}

void yield() {
  const Call call;
  pass_event();
}

struct NamedShape {
  const char* name;
  spin_shape shape;
};
const NamedShape kShapes[] = {
    {"load", &spin_load},         {"pause", &spin_pause},
    {"function", &spin_function}, {"compare", &spin_compare},
    {"turns", &spin_turns},       {"scratch", &spin_scratch},
    {"yield", &spin_yield},       {"bounded", &spin_pause_then_yield},
    {"acquire", &spin_acquire},   {"exchange", &spin_exchange},
    {"vector", &spin_vector},     {"float", &spin_float},
};

uint64_t compute(uint64_t rounds) {
  static uint64_t table[512];
  uint64_t value = rounds;
  for (uint64_t i = 0; i < rounds; ++i) {
    value = value * 6364136223846793005 + 1442695040888963407;
    table[value >> 55] ^= value;
  }
  return table[3] ^ value;
}

void clear_words() {
  for (volatile uint64_t& word : words.word) word = 0;
  std::memset(words.block, 1, sizeof(words.block));
  std::memset(words.wanted, 5, sizeof(words.wanted));
  words.plain = 0;
  words.yield = &yield;
}

void play(unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round) {
    for (const NamedShape& shape : kShapes) {
      note(compute(1'000'000 + next_chance() % 3'000'000));  // 2 to 9 ms
      clear_words();
      events_left = 1 + next_chance() % 5;
      const uint64_t seen = shape.shape(&words);
      note(seen);
      if (events_left != 0)
        std::printf("%s ended with %" PRIu64 " events left\n", shape.name, events_left);
      std::printf("%u %s %" PRIu64 " %016" PRIx64 "\n", round, shape.name, seen, digest);
      const Call call;  // what a program does next
    }
  }
}

void not_held(uint64_t address, const char* why) {
  const auto begin = reinterpret_cast<uint64_t>(&spin_for_ever_counting);
  const bool inside = address >= begin && address < begin + 128;
  std::printf("not held %s: %s\n", inside ? "in its loop" : "elsewhere", why);
  std::fflush(stdout);
  change_memory();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  SpinOptions options;
  options.tick_ns = std::strtoull(argv[2], nullptr, 10) * 1000;
  const bool spins = std::strcmp(argv[1], "spins") == 0;
  const uint64_t bound_ns = std::strtoull(argv[3], nullptr, 10) * 1'000'000;
  if (std::strcmp(argv[1], "counts") == 0) options.bound_ns = bound_ns;
  if (std::strcmp(argv[1], "waits") == 0) options.patience_ns = bound_ns;
  if (const int status = start_proving({&pass_event, &not_held}, options)) return status;
  if (const int status = watch_thread()) return status;
  if (spins) {
    play(static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10)));
  } else {
    clear_words();
    std::printf("went on: %d\n", spin_for_ever_counting(&words) > 0);
  }
  leave_thread();
  const SpinCounts counts = spin_counts();
  std::fprintf(stderr,
               "ticks %" PRIu64 " proofs %" PRIu64 " steps %" PRIu64 " events %" PRIu64
               " computing %" PRIu64 " not followed %" PRIu64 "\n",
               counts.ticks, counts.proofs, counts.steps, counts.events, counts.computing,
               counts.unknown);
  return 0;
}
