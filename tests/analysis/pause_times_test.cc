// When ports stood paused, to the picosecond: what pauses add up to, and what ends them.

#include <doctest/doctest.h>

#include "analysis/measure/pause_use.h"
#include "tests/support/pauses.h"

using namespace mrclab;
using namespace mrclab::analysis;
using test::ns;
using test::Pauses;
using test::ps;
using test::us;

namespace {

/// A pause of 512 ns.
constexpr uint16_t kShort = 100;

}  // namespace

TEST_CASE("a pause that is repeated before it is over, or as it ends, goes on without a gap") {
  for (const auto& [late, spans] : {std::pair{ps(-1), 1u}, {ps(0), 1u}, {ps(1), 2u}}) {
    Pauses pauses;
    pauses.asks("h1:p0", us(10), kShort);
    pauses.asks("h1:p0", us(10) + ns(512) + late, kShort);
    const PauseTimes times = pauses.times();
    REQUIRE(times.spans().size() == spans);
    CHECK(times.spans().front().from == us(10));
    CHECK(times.spans().back().until == us(10) + ns(1'024) + late);
    CHECK(times.paused(pauses.port("h1:p0"), us(0), us(1'000)) ==
          ns(1'024) + std::min(late, ps(0)));
  }
}

TEST_CASE("what lets a port go on that does not stand changes nothing, and may come twice") {
  Pauses pauses;
  pauses.asks("h1:p0", us(5), 0);
  pauses.asks("h1:p0", us(10), kPauseQuanta);
  pauses.asks("h1:p0", us(20), 0);
  pauses.asks("h1:p0", us(30), 0);
  const PauseTimes times = pauses.times();
  REQUIRE(times.spans().size() == 1);
  CHECK(times.spans()[0] == PausedSpan{pauses.port("h1:p0"), us(10), us(20)});
}

TEST_CASE("a pause is of its port alone") {
  Pauses pauses;
  pauses.asks("p0.t0-0:u0", us(10), kPauseQuanta);
  pauses.asks("p0.t0-0:u1", us(20), 0);
  pauses.asks("h1:p0", us(30), 0);
  CHECK(pauses.times().paused(pauses.port("p0.t0-0:u0"), us(0), us(100)) == us(90));
}

TEST_CASE("a pause that takes effect at the end of the run, or later, is none") {
  Pauses pauses;
  pauses.asks("h0:p0", us(1'000) - ps(1), kPauseQuanta);
  pauses.asks("h1:p0", us(1'000), kPauseQuanta);
  pauses.asks("h2:p0", us(1'001), kPauseQuanta);
  const PauseTimes times = pauses.times();
  REQUIRE(times.spans().size() == 1);
  CHECK(times.spans()[0].port == pauses.port("h0:p0"));
  CHECK(times.spans()[0].length() == ps(1));
}

TEST_CASE("a port whose carrier comes back stands only once it is asked again") {
  Pauses pauses;
  const PortRef port = pauses.port("h1:p0");
  pauses.asks("h1:p0", us(10), kPauseQuanta);
  pauses.asks("h1:p0", us(60), kPauseQuanta);
  pauses.schedule = {{us(30), PortCarrier{port, false}}, {us(40), PortCarrier{port, true}}};
  const PauseTimes times = pauses.times();
  REQUIRE(times.spans().size() == 2);
  CHECK(times.spans()[0] == PausedSpan{port, us(10), us(30)});
  CHECK(times.spans()[1].from == us(60));
}

TEST_CASE("a pause that takes effect as the carrier goes, or as it is taken back, is none") {
  Pauses pauses;
  pauses.asks("h0:p0", us(10), kPauseQuanta);
  pauses.asks("h1:p0", us(10), kPauseQuanta);
  pauses.asks("h1:p0", us(10), 0);
  pauses.schedule = {{us(10), PortCarrier{pauses.port("h0:p0"), false}}};
  CHECK(pauses.times().spans().empty());
}

TEST_CASE("the time between two instants is that of all spans, each as far as it is inside") {
  Pauses pauses;
  pauses.stands("h1:p0", us(10), us(20));
  pauses.stands("h1:p0", us(30), us(40));
  pauses.stands("h1:p0", us(50), us(60));
  const PauseTimes times = pauses.times();
  const PortRef port = pauses.port("h1:p0");
  CHECK(times.paused(port, us(15), us(52)) == us(17));
  CHECK(times.paused(port, us(20), us(30)) == us(0));
  CHECK(times.paused(port, us(32), us(33)) == us(1));
  CHECK(times.paused(port, us(52), us(15)) == us(0));
}

TEST_CASE("the last pause before an instant is one that began before it, in force or not") {
  Pauses pauses;
  pauses.stands("h1:p0", us(10), us(20));
  pauses.stands("h1:p0", us(30), us(40));
  const PauseTimes times = pauses.times();
  const PortRef port = pauses.port("h1:p0");
  CHECK(times.last_before(port, us(10)) == nullptr);
  CHECK(times.last_before(port, us(10) + ps(1))->from == us(10));
  CHECK(times.last_before(port, us(30))->from == us(10));
  CHECK(times.last_before(port, us(30) + ps(1))->from == us(30));
  CHECK(times.last_before(port, us(900))->from == us(30));
  CHECK(times.last_before(pauses.port("h0:p0"), us(900)) == nullptr);
}

TEST_CASE("spans stand in the order in which they begin, at one instant in that of ports") {
  Pauses pauses;
  pauses.stands("p0.t0-0:u1", us(10), us(20));
  pauses.stands("p0.t0-0:u0", us(10), us(20));
  pauses.stands("h0:p0", us(15), us(20));
  pauses.stands("h3:p0", us(5), us(20));
  const PauseTimes times = pauses.times();
  std::string order;
  for (const PausedSpan& span : times.spans()) order += pauses.name(span.port) + ' ';
  CHECK(order == "h3:p0 p0.t0-0:u0 p0.t0-0:u1 h0:p0 ");
}

TEST_CASE("the use of pauses adds up the spans of a port, and names the first of equal ports") {
  Pauses pauses;
  pauses.stands("p0.t0-0:u0", us(100), us(130));
  pauses.stands("h1:p0", us(200), us(210));
  pauses.stands("h1:p0", us(220), us(240));
  pauses.stands("h0:p0", us(300), us(305));
  const auto use = pause_use(pauses.topology, pauses.times());
  REQUIRE(use);
  CHECK(use->ports == 3);
  CHECK(use->longest == us(30));
  CHECK(use->longest_port == "h1:p0");
  CHECK(use->first_pauser == "p0.t1-0");  // who asked, not who stood
}
