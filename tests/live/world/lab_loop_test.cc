#include "live/world/lab_loop.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

namespace mrclab::lab {
namespace {

/// A loop that writes down what it does.
struct WrittenLoop {
  explicit WrittenLoop(LabLoop::Ends ends)
      : loop(
            [this] {
              said += "step ";
              return alive;
            },
            [this] { said += "notice "; }, ends) {
    loop.add([this] { said += "first "; });
    loop.add([this] { said += "second "; });
    loop.add_check([this] {
      said += "check ";
      if (full) throw std::runtime_error("disk full");
    });
  }

  std::string said;
  bool alive = true;
  bool full = false;
  LabLoop loop;
};

}  // namespace

TEST_CASE("a turn is the lab's step, the checks, the faults of others, and the rules as added") {
  WrittenLoop of(LabLoop::Ends::kWithProcesses);
  CHECK(of.loop.turn());
  CHECK(of.said == "step check notice first second ");
  of.said.clear();
  of.full = true;
  CHECK_THROWS_WITH(of.loop.turn(), "disk full");
  CHECK(of.said == "step check ");
}

TEST_CASE("without processes a run's loop ends at once, and that of a lab that stays goes on") {
  WrittenLoop run(LabLoop::Ends::kWithProcesses), stays(LabLoop::Ends::kNever);
  run.alive = stays.alive = false;
  CHECK_FALSE(run.loop.turn());
  CHECK(run.said == "step ");
  CHECK(stays.loop.turn());
  CHECK(stays.said == "step check notice first second ");
}

}  // namespace mrclab::lab
