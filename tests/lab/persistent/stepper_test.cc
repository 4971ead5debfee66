#include "lab/persistent/stepper.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "tests/support/times.h"

namespace mrclab::lab {
namespace {

using test::ns;
constexpr FabricTime kLookahead = FabricTime::from_ns(100);

/// A lab that executes each order at once: events at instants, some of which the watched node has.
/// An event may cause another at the watched node, a lookahead later, which is not scheduled before.
struct ToyLab {
  std::map<FabricTime, bool> events;  ///< instant, at the watched node
  std::vector<FabricTime> starts;     ///< events of others that reach the watched node
  uint64_t records = 0;
  FabricTime done = FabricTime::from_ps(-1);

  void run_to(FabricTime limit) {
    while (!events.empty() && events.begin()->first <= limit) {
      const auto [at, watched] = *events.begin();
      events.erase(events.begin());
      records += watched;
      if (std::find(starts.begin(), starts.end(), at) != starts.end()) {
        events[at + kLookahead] = true;
      }
    }
    done = limit;
  }

  Stepper::View view() const {
    netio::GatePage::Quiet quiet{FabricTime::never(), FabricTime::never()};
    for (const auto& [at, watched] : events) {
      quiet.next = std::min(quiet.next, at);
      if (watched) quiet.watched = std::min(quiet.watched, at);
    }
    return {done, quiet, records};
  }

  /// Where it stands afterwards.
  FabricTime step(Stepper& stepper) {
    for (int i = 0; i < 1000 && stepper.result() == Stepper::Result::kUnderWay; ++i) {
      stepper.advance_view(view());
      if (stepper.limit() > done) run_to(stepper.limit());
    }
    return done;
  }
};

StepGoal goal_from(const ToyLab& lab, uint64_t instants = 1) {
  return {lab.done, kLookahead, instants, FabricTime::from_ms(1)};
}

TEST_CASE("a step ends exactly at the next event of what is watched") {
  ToyLab lab{{{ns(10), false}, {ns(30), true}, {ns(31), true}, {ns(500), true}}, {}};
  for (const int64_t expected : {30, 31, 500}) {
    Stepper stepper(goal_from(lab));
    lab.records = 0;
    CHECK(lab.step(stepper) == ns(expected));
    CHECK(stepper.result() == Stepper::Result::kFound);
  }
}

TEST_CASE("a step does not miss what a frame that nobody has started yet will do") {
  ToyLab lab{{{ns(10), false}, {ns(150), true}}, {ns(10)}};  // arrives at 110
  Stepper stepper(goal_from(lab));
  CHECK(lab.step(stepper) == ns(110));
}

TEST_CASE("several steps stop at the last of them, silent instants do not count") {
  ToyLab lab{{{ns(1), true}, {ns(2), false}, {ns(3), true}, {ns(4), true}}, {}};
  Stepper stepper(goal_from(lab, 2));
  CHECK(lab.step(stepper) == ns(3));
  CHECK(stepper.instants() == 2);
}

TEST_CASE("a stepper waits for the slowest process and for frames under way") {
  Stepper stepper({ns(0), kLookahead, 1, ns(1000)});
  Stepper::View view{ns(-1), netio::GatePage::Quiet{ns(5), ns(5)}, 0};
  stepper.advance_view(view);
  CHECK(stepper.limit() == ns(0));  // a process is behind
  view.slowest = ns(0);
  view.quiet.reset();
  stepper.advance_view(view);
  CHECK(stepper.limit() == ns(0));  // a frame is under way
  view.quiet = {ns(5), ns(5)};
  stepper.advance_view(view);
  CHECK(stepper.limit() == ns(5));
  view.records = 3;
  stepper.advance_view(view);
  CHECK(stepper.result() == Stepper::Result::kUnderWay);  // counted, but not all are there
  view.slowest = ns(5);
  stepper.advance_view(view);
  CHECK(stepper.result() == Stepper::Result::kFound);
}

TEST_CASE("a step that finds nothing says why and stands at an exact instant") {
  ToyLab idle;
  Stepper nothing(goal_from(idle));
  idle.step(nothing);
  CHECK(nothing.result() == Stepper::Result::kNothingPending);

  ToyLab lab{{{ns(10), false}, {ns(5000), true}}, {}};
  Stepper bounded({lab.done, kLookahead, 1, ns(2000)});
  CHECK(lab.step(bounded) == ns(2000));
  CHECK(bounded.result() == Stepper::Result::kAtMost);
}

TEST_CASE("what comes from outside and is due at once still moves the lab on") {
  Stepper stepper({ns(7), kLookahead, 1, ns(1000)});
  stepper.advance_view({ns(7), netio::GatePage::Quiet{ns(7), ns(7)}, 0});
  CHECK(stepper.limit() == ns(7) + FabricTime::from_ps(1));
}

}  // namespace
}  // namespace mrclab::lab
