// A host's load over several queue pairs to one destination.

#include "endpoint/workload/stream_pacer.h"

#include <doctest/doctest.h>

#include <optional>

#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using test::us;

namespace {

struct ManualVerbs : Verbs {
  FabricTime at;
  std::optional<FabricTime> wake;
  FabricTime now() const override { return at; }
  bool post_write(QpHandle, const WriteRequest&) override { return true; }
  bool post_receive(QpHandle, uint64_t, Memory) override { return true; }
  void wake_at(FabricTime when) override { wake = when; }
  void report_verified(uint64_t, uint64_t) override {}
  void report_collective_done(uint32_t, FabricTime) override {}
  void report_step_done(uint32_t, FabricTime) override {}
};

struct Lane : PacedSender {
  int room = 1'000;
  int posted = 0;
  int done = 0;
  bool slow = false;
  bool has_room() const override { return room > 0; }
  uint64_t open() const override { return static_cast<uint64_t>(posted - done); }
  bool post_next(Verbs&) override {
    --room;
    ++posted;
    done += slow ? 0 : 1;
    return true;
  }
};

struct Paced {
  explicit Paced(FabricTime end = us(1'000)) : pacer({us(0), us(1)}, end) {
    for (Lane& lane : lanes) pacer.join(lane, verbs);
  }
  /// Until then, waking when it is asked for.
  void run_until(FabricTime end) {
    pacer.pump(verbs);
    while (verbs.wake && *verbs.wake <= end) {
      verbs.at = *verbs.wake;
      verbs.wake.reset();
      pacer.on_wake(verbs);
    }
  }
  ManualVerbs verbs;
  Lane lanes[4];
  StreamPacer pacer;
};

}  // namespace

TEST_CASE("without congestion message n goes to queue pair n modulo their number, when it is due") {
  Paced host;
  host.run_until(us(10));
  CHECK(host.lanes[0].posted == 3);  // at 0, 4, 8
  CHECK(host.lanes[1].posted == 3);
  CHECK(host.lanes[2].posted == 3);  // at 2, 6, 10
  CHECK(host.lanes[3].posted == 2);
}

TEST_CASE("what a slow path leaves goes over the others, and the whole load is offered") {
  Paced host;
  host.lanes[1].slow = true;  // it completes nothing
  host.lanes[2].room = 5;
  host.run_until(us(99));
  CHECK(host.lanes[1].posted == 1);
  CHECK(host.lanes[2].posted == 5);
  CHECK(host.lanes[0].posted == 47);
  CHECK(host.lanes[3].posted == 47);
}

TEST_CASE("after a stall of all it catches up, and nothing is posted from the end on") {
  Paced host(us(50));
  for (Lane& lane : host.lanes) lane.room = 1;
  host.run_until(us(40));
  CHECK(host.verbs.wake == std::nullopt);  // a completion comes
  host.verbs.at = us(40);
  for (Lane& lane : host.lanes) lane.room = 1'000;
  host.pacer.pump(host.verbs);
  int posted = 0;
  for (const Lane& lane : host.lanes) posted += lane.posted;
  CHECK(posted == 41);
  host.run_until(us(200));
  posted = 0;
  for (const Lane& lane : host.lanes) posted += lane.posted;
  CHECK(posted == 50);
}
