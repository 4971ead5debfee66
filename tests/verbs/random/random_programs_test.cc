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

/// What both sides say went wrong.
struct Complaint {
  char text[2][200];
};

[[noreturn]] void be_side(const WallWorld& world, int side, bool roce, uint64_t from, uint64_t to,
                          Meeting& meeting, Complaint& complaint) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setenv("MRCLAB_VERBS", world.door(static_cast<uint32_t>(side)).c_str(), 1);
  try {
    void* library = ::dlopen(verbs::client_test::library_path().c_str(), RTLD_NOW | RTLD_GLOBAL);
    verbs::client_test::expect(library != nullptr, "dlopen");
    run_random_programs(verbs::client_test::Verbs(library), meeting, side, roce, from, to);
  } catch (const verbs::client_test::Failure& failure) {
    std::strncpy(complaint.text[side], failure.what.c_str(), sizeof complaint.text[side] - 1);
    ::_exit(1);
  }
  ::_exit(0);
}

/// Two processes with random programs in hosts 0 and 1 of a world; killed by the destructor if they run still.
class Programs {
 public:
  Programs(const WallWorld& world, bool roce, uint64_t from, uint64_t to) {
    void* memory =
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared_ = new (memory) Shared{};
    for (int side = 0; side < 2; ++side) {
      sides_[side] = ::fork();
      if (sides_[side] == 0) {
        be_side(world, side, roce, from, to, shared_->meeting, shared_->complaint);
      }
    }
  }
  ~Programs() {
    kill(0);
    kill(1);
    ::munmap(shared_, sizeof(Shared));
  }
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  void kill(int side) {
    if (sides_[side] <= 0) return;
    ::kill(sides_[side], SIGKILL);
    ::waitpid(sides_[side], nullptr, 0);
    sides_[side] = -1;
  }
  /// Looks whether they have ended. False: both have.
  bool running() {
    for (int side = 0; side < 2; ++side) {
      int status = 0;
      if (sides_[side] <= 0 || ::waitpid(sides_[side], &status, WNOHANG) != sides_[side]) continue;
      sides_[side] = -1;
      if (status == 0) continue;
      told_ += shared_->complaint.text[side][0] != 0
                   ? shared_->complaint.text[side]
                   : "side " + std::to_string(side) + " of seed " +
                         std::to_string(shared_->meeting.sides[side].seed.load()) +
                         " died: " + std::to_string(status);
      kill(1 - side);  // It waits for the other.
    }
    return sides_[0] > 0 || sides_[1] > 0;
  }
  /// "" or what went wrong.
  const std::string& told() const { return told_; }

 private:
  struct Shared {
    Meeting meeting;
    Complaint complaint;
  };
  Shared* shared_;
  pid_t sides_[2];
  std::string told_;
};

void serve(WallWorld& world) {
  if (!world.step()) ::usleep(100);
}

std::string run_seeds(WallWorld& world, bool roce, uint64_t from, uint64_t to) {
  Programs programs(world, roce, from, to);
  while (programs.running()) serve(world);
  return programs.told();
}

std::string run_seeds(bool roce, uint64_t from, uint64_t to) {
  WallWorld world(roce);
  return run_seeds(world, roce, from, to);
}

}  // namespace

TEST_CASE("random programs over MRC end as the rules say") {
  CHECK(run_seeds(false, 0, nightly() ? 5000 : 12) == "");
}

TEST_CASE("random programs over RC end as the rules say") {
  CHECK(run_seeds(true, 0, nightly() ? 5000 : 12) == "");
}

TEST_CASE("two pairs of programs in the same hosts do not meet") {
  WallWorld world(true);
  const uint64_t seeds = nightly() ? 20 : 6;
  Programs first(world, true, 1000, 1000 + seeds), second(world, true, 2000, 2000 + seeds);
  for (bool more = true; more;) {
    serve(world);
    const bool one = first.running();
    more = second.running() || one;
  }
  CHECK(first.told() == "");
  CHECK(second.told() == "");
}

TEST_CASE("a program that is killed at any step leaves its host to the next") {
  for (const bool roce : {false, true}) {
    WallWorld world(roce);
    const uint64_t most = nightly() ? 2000 : 16;
    for (uint64_t steps = 0; steps < most; ++steps) {
      Programs victims(world, roce, steps, steps + 100);
      // Steps of this kind are of no fixed length; over many of them a program is met everywhere.
      for (uint64_t i = 0; i < steps * 3 && victims.running(); ++i) serve(world);
      victims.kill(static_cast<int>(steps % 2));
    }
    while (world.anybody()) serve(world);
    CHECK(run_seeds(world, roce, 5, nightly() ? 25 : 8) == "");
  }
}

}  // namespace mrclab::test
