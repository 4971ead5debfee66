// Random programs of verbs in two hosts of a simulated fabric, through our library, the doors and the transport.

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <new>

#include <doctest/doctest.h>

#include "tests/support/nightly.h"
#include "tests/verbs/random/random_sides.h"
#include "tests/verbs/support/wall_world.h"

namespace mrclab::test {
namespace {

constexpr unsigned kSeconds = 120;  ///< that nothing may take

/// What both sides say went wrong.
struct Complaint {
  char text[2][200];
};

[[noreturn]] void be_side(const WallWorld& world, int side, bool roce, uint64_t from, uint64_t to,
                          Meeting& meeting, Complaint& complaint) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setenv("MRCLAB_VERBS", world.door(static_cast<uint32_t>(side)).c_str(), 1);
  ::alarm(kSeconds + static_cast<unsigned>(to - from) / 10);
  try {
    void* library = ::dlopen(verbs::test::library_path().c_str(), RTLD_NOW | RTLD_GLOBAL);
    verbs::test::expect(library != nullptr, "dlopen");
    run_random_programs(verbs::test::Verbs(library), meeting, side, roce, from, to);
  } catch (const verbs::test::Failure& failure) {
    std::strncpy(complaint.text[side], failure.what.c_str(), sizeof complaint.text[side] - 1);
    ::_exit(1);
  }
  ::_exit(0);
}

/// "" or what went wrong.
std::string run_seeds(bool roce, uint64_t from, uint64_t to) {
  WallWorld world(roce);
  struct Shared {
    Meeting meeting;
    Complaint complaint;
  };
  void* memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* shared = new (memory) Shared{};
  pid_t sides[2];
  for (int side = 0; side < 2; ++side) {
    sides[side] = ::fork();
    if (sides[side] == 0) {
      be_side(world, side, roce, from, to, shared->meeting, shared->complaint);
    }
  }
  std::string told;
  int running = 2;
  while (running > 0) {
    if (!world.step()) ::usleep(100);
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, WNOHANG);
    if (ended != sides[0] && ended != sides[1]) continue;
    --running;
    if (status == 0) continue;
    const int side = ended == sides[1];
    told += shared->complaint.text[side][0] != 0
                ? shared->complaint.text[side]
                : "side " + std::to_string(side) + " died: " + std::to_string(status);
    if (running > 0) ::kill(sides[1 - side], SIGKILL);  // It waits for the other.
  }
  ::munmap(memory, sizeof(Shared));
  return told;
}

}  // namespace

TEST_CASE("random programs over MRC end as the rules say") {
  CHECK(run_seeds(false, 0, nightly() ? 5000 : 60) == "");
}

TEST_CASE("random programs over RC end as the rules say") {
  CHECK(run_seeds(true, 0, nightly() ? 5000 : 60) == "");
}

}  // namespace mrclab::test
