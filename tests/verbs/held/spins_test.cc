// Threads that never call, in real programs: what they see does not depend on when ticks fall, nor on what else this
// machine does; and the program's own signals, faults and clocks beside the library's.

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/nightly.h"
#include "tests/verbs/held/program_runs.h"
#include "verbs/held/tsc/trapped_instruction.h"
#if defined(__x86_64__)
#include "verbs/held/spin/stepping.h"
#endif

namespace {

using namespace mrclab::test;

struct Shell {
  std::string output;
  int code;
};
Shell shell(const std::string& command) {
  Shell result{"", -1};
  FILE* out = popen(("timeout 240 " + command + " 2>/dev/null").c_str(), "r");
  REQUIRE(out != nullptr);
  std::array<char, 4096> bytes;
  for (size_t n; (n = fread(bytes.data(), 1, bytes.size(), out)) > 0;) {
    result.output.append(bytes.data(), n);
  }
  const int status = pclose(out);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

constexpr std::array<const char*, 2> kSpinners{"held_spinner_plain", "held_spinner_optimized"};

}  // namespace

#if defined(__x86_64__)
TEST_CASE("a step is known also where a hypervisor has lost what the debug register says of it") {
  const auto is_step = [](int code, int64_t trap) {
    siginfo_t info{};
    info.si_code = code;
    ucontext_t context{};
    context.uc_mcontext.gregs[REG_TRAPNO] = trap;
    return mrclab::held::is_step(info, context);
  };
  CHECK(is_step(TRAP_TRACE, 1));
  CHECK(is_step(TRAP_BRKPT, 1));
  CHECK_FALSE(is_step(TRAP_BRKPT, 3));
  CHECK_FALSE(is_step(SI_KERNEL, 3));  // INT3
  CHECK_FALSE(is_step(TRAP_HWBKPT, 1));
  CHECK_FALSE(is_step(SI_USER, 1));
}
#endif

TEST_CASE("the instructions that a thread can be made to fault at are known with any prefix") {
  using mrclab::held::Trapped;
  const auto found = [](const uint8_t(&bytes)[15], unsigned known) {
    const auto result = mrclab::held::trapped_instruction(bytes, known);
    return std::pair{result.what, static_cast<int>(result.length)};
  };
  CHECK(found({0x0f, 0x31}, 2) == std::pair{Trapped::kRdtsc, 2});
  CHECK(found({0x48, 0x0f, 0x31}, 15) == std::pair{Trapped::kRdtsc, 3});
  CHECK(found({0x0f, 0x01, 0xf9}, 3) == std::pair{Trapped::kRdtscp, 3});
  CHECK(found({0x66, 0xf3, 0x0f, 0x01, 0xf9}, 15) == std::pair{Trapped::kRdtscp, 5});
  CHECK(found({0x0f, 0xa2}, 2) == std::pair{Trapped::kCpuid, 2});
  // Cut off, others, prefixes without end.
  CHECK(found({0x0f, 0x31}, 1).first == Trapped::kNone);
  CHECK(found({0x0f, 0x01, 0xf9}, 2).first == Trapped::kNone);
  CHECK(found({0x0f, 0x01, 0xd0}, 15).first == Trapped::kNone);
  CHECK(found({0xf4}, 15).first == Trapped::kNone);
  CHECK(found({0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
               0x66},
              15)
            .first == Trapped::kNone);
  CHECK(found({}, 0).first == Trapped::kNone);
}

#ifdef MRCLAB_HELD_DECODER
TEST_CASE("a spin sees the same whenever ticks fall, whatever the environment and the machine do") {
  for (const std::string spinner : kSpinners) {
    // A run of all shapes takes a second: by day each of the other ticks and environments has one of the two programs.
    const bool plain = spinner == kSpinners.front();
    const Shell first = shell(built(spinner) + " spins 200 1");
    CHECK(first.code == 0);
    CHECK(first.output.find("0 float ") != std::string::npos);
    CHECK(first.output.find("events left") == std::string::npos);
    if (plain || nightly()) {
      CHECK(shell(built(spinner) + " spins 5000 1").output == first.output);
    }
    const Load load;
    if (!plain || nightly()) {
      CHECK(shell("env UNRELATED=of_another_length " + built(spinner) + " spins 50 1").output ==
            first.output);
    }
    if (plain || nightly()) {
      CHECK(shell("setarch -R " + built(spinner) + " spins 50 1").output == first.output);
    }
  }
}

TEST_CASE("a loop that counts is not held, and where it is, is reported") {
  for (const std::string spinner : kSpinners) {
    // After its processor's time, or where others have that, after this machine's.
    for (const char* bound : {" counts 200 300", " waits 200 600"}) {
      CAPTURE(bound);
      const Shell run = shell(built(spinner) + bound);
      CHECK(run.code == 0);
      CHECK(
          run.output ==
          "not held in its loop: goes round in a loop that counts or computes, without a call\nwent on: 1\n");
    }
  }
}

TEST_CASE("every store of an instruction is foreseen") {
  const Shell run = shell(built("held_spinner_stores"));
  CHECK(run.code == 0);
  CHECK(run.output ==
        "wrong 0; steps over 150: 1, stores over 100: 1, unmodelled under 12: 1\nthrough fs: 1\n");
}

TEST_CASE("a watched program's clocks, faults, handlers and masks are its own") {
  const std::array<std::array<std::string, 2>, 9> expected{{
      {"answers",
       "ff000000 40000000 00040810 00400020\n1 1 1000000000 1000 1\nfound 1, outside 0, another 0\n"},
      {"clocks",
       "trapped 1\n1000 1001 core 0\n123456789abcdef\nrandom numbers and a core's number are offered: 0\n"
       "another program: 0\ntrapped again 1\n"},
      {"vdso", "patched 0\ntimespec_get 77\ndirect 0 77 1\n"},
      {"faults", "its own handler: 1\nfaults 500\nnested -11\ndefault -11 ignored -11\n"},
      {"divisions", "divisions 60\n"},
      {"overflow", "sigaltstack 0 1\noverflows 5\n"},
      {"breakpoints", "traps 20 default -5\n"},
      {"masked", "cycle 1000 spun, blocked 1 0\n"},
      {"alarms", "alarms 50\n"},
  }};
  const Load load;
  for (const auto& [part, output] : expected) {
    for (const char* way : {"", " replaced"}) {
      INFO(part, way);
      const Shell run = shell(built("held_spinner_signals") + " " + part + way);
      CHECK(run.code == 0);
      CHECK(run.output == output);
    }
  }
}
#endif
