// Hosts whose NIC pauses without end are blamed; who passes pauses on is not.

#include <doctest/doctest.h>

#include "analysis/blame/blame.h"
#include "analysis/blame/blame_hosts.h"
#include "tests/support/pauses.h"

using namespace mrclab;
using namespace mrclab::analysis;
using test::ns;
using test::Pauses;
using test::pausing_fabric;
using test::ps;
using test::us;

namespace {

struct Storms : Pauses {
  using Pauses::Pauses;
  FabricTime rtt = topology.base_rtt;
  FabricTime storm = rtt * kStormRtts;  ///< the shortest that there is
  PacketTables tables;

  void deliver(FabricTime t) { tables.deliveries.push_back({t, 0, 4096, 0}); }
  std::vector<Blame> blames() {
    tables.pauses = in_order();
    std::vector<Blame> found;
    blame_pausers(topology, PacketHistory(tables), found);
    return found;
  }
};

/// As Storms, with a packet that arrives long after all pauses.
Storms calm_afterwards(Topology topology = pausing_fabric()) {
  Storms storms(std::move(topology));
  storms.deliver(us(2'000));
  return storms;
}

}  // namespace

TEST_CASE(
    "a NIC that pauses its switch for 4 base RTTs without a gap is blamed, for less it is not") {
  REQUIRE(kStormRtts == 4);
  for (const bool enough : {true, false}) {
    Storms storms = calm_afterwards();
    const FabricTime until = us(100) + storms.storm - (enough ? ps(0) : ps(1));
    storms.stands("p0.t0-1:d1", us(100), until);
    const std::vector<Blame> blames = storms.blames();
    REQUIRE(blames.size() == (enough ? 1 : 0));
    if (!enough) continue;
    CHECK(blames[0].kind == "host");
    CHECK(blames[0].component == "h3");
    CHECK(blames[0].symptom == Symptom::kPausesWithoutEnd);
    CHECK(blames[0].from == us(100));
    CHECK(blames[0].until == until);
    CHECK(blames[0].times == 1);
    CHECK(blames[0].bad == 1);
    CHECK(blames[0].of == 1);
    CHECK(blames[0].evidence == "its NIC held the port toward it back for " +
                                    to_string(storms.storm) +
                                    " and took less than a packet in that time");
  }
}

TEST_CASE("a gap between two pauses is a packet that the NIC took: neither is a storm") {
  Storms storms = calm_afterwards();
  storms.stands("p0.t0-1:d1", us(100), us(100) + storms.storm - ps(1));
  storms.stands("p0.t0-1:d1", us(100) + storms.storm, us(100) + storms.storm * 2 - ps(1));
  CHECK(storms.blames().empty());
}

TEST_CASE("who is made to stand and passes that on is not blamed, only who began") {
  Storms storms = calm_afterwards();
  storms.stands("p0.t0-1:d1", us(100), us(300));  // h3 asks
  storms.stands("p0.t1-0:d1", us(110), us(900));  // p0.t0-1 asks, for longer
  storms.stands("p0.t0-0:u0", us(120), us(900));
  storms.stands("h0:p0", us(130), us(900));  // its switch asks h0
  const std::vector<Blame> blames = storms.blames();
  REQUIRE(blames.size() == 1);
  CHECK(blames[0].component == "h3");
  CHECK(blames[0].until == us(300));
}

TEST_CASE("a switch that holds its hosts back is not blamed for that, nor are they") {
  Storms storms = calm_afterwards();
  storms.stands("h0:p0", us(100), us(900));
  storms.stands("h1:p0", us(100), us(900));
  CHECK(storms.blames().empty());
}

TEST_CASE("storms of one host with 20 base RTTs between them, or less, are one blame") {
  for (const bool near : {true, false}) {
    Storms storms = calm_afterwards();
    const FabricTime second = us(250) + storms.rtt * 20 + (near ? ps(0) : ps(1));
    storms.stands("p0.t0-1:d1", us(100), us(250));
    storms.stands("p0.t0-1:d1", second, second + us(100));
    const std::vector<Blame> blames = storms.blames();
    REQUIRE(blames.size() == (near ? 1 : 2));
    CHECK(blames.front().from == us(100));
    CHECK(blames.back().until == second + us(100));
    CHECK(blames.front().times == (near ? 2 : 1));
    CHECK(blames.front().bad == (near ? 2 : 1));
    CHECK(blames[0].evidence.find("back for 150us and") != std::string::npos);
    if (near) continue;
    CHECK(blames[0].until == us(250));
    CHECK(blames[1].evidence.find("back for 100us and") != std::string::npos);
    CHECK(blames[1].from == second);
    CHECK(blames[1].times == 1);
  }
}

TEST_CASE("a NIC that pauses all its ports at once does that one time, as long as the longest") {
  Storms storms = calm_afterwards(pausing_fabric(2, 2, 2, 2));
  storms.stands("p0.t0-1:d1", us(100), us(200));
  storms.stands("p1.t0-1:d1", us(110), us(190));
  storms.stands("p0.t0-1:d1", us(200) + ps(1), us(300));  // once more
  const std::vector<Blame> blames = storms.blames();
  REQUIRE(blames.size() == 1);
  CHECK(blames[0].times == 2);
  CHECK(blames[0].bad == 3);
  CHECK(blames[0].until == us(300));
  CHECK(blames[0].evidence.find("back for 100us and") != std::string::npos);
}

TEST_CASE("a storm whose ports overlap lasts until the last of them goes on") {
  Storms storms = calm_afterwards(pausing_fabric(2, 2, 2, 2));
  storms.stands("p0.t0-1:d1", us(100), us(300));
  storms.stands("p1.t0-1:d1", us(110), us(190));
  CHECK(storms.blames().at(0).until == us(300));
}

TEST_CASE("each host that storms is blamed for itself, in their order") {
  Storms storms = calm_afterwards();
  storms.stands("p0.t0-1:d1", us(100), us(200));
  storms.stands("p0.t0-0:d0", us(110), us(260));
  const std::vector<Blame> blames = storms.blames();
  REQUIRE(blames.size() == 2);
  CHECK(blames[0].component == "h0");
  CHECK(blames[0].from == us(110));
  CHECK(blames[1].component == "h3");
  CHECK(blames[1].from == us(100));
}

TEST_CASE("what the last pause asked for counts only as long as something was seen") {
  for (const bool long_enough : {true, false}) {
    Storms storms;
    storms.asks("p0.t0-1:d1", us(100), kPauseQuanta);
    storms.deliver(us(100) + storms.storm - (long_enough ? ps(0) : ps(1)));
    CHECK(storms.blames().size() == (long_enough ? 1 : 0));
  }
  Storms repeated;  // nothing arrives any more: it is the pauses that are seen
  repeated.asks("p0.t0-1:d1", us(100), kPauseQuanta);
  repeated.asks("p0.t0-1:d1", us(250), kPauseQuanta);
  repeated.deliver(us(50));
  REQUIRE(repeated.blames().size() == 1);
  CHECK(repeated.blames()[0].until == us(250) - ns(700));
  Storms none;
  none.deliver(us(500));
  CHECK(none.blames().empty());
}

TEST_CASE("a storm is among all blames, in the order in which they begin") {
  Storms storms = calm_afterwards();
  storms.stands("p0.t0-1:d1", us(100), us(200));
  storms.stands("p0.t0-0:d0", us(90), us(260));
  storms.tables.pauses = storms.in_order();
  EventHistory events(storms.topology);
  events.finish();
  const std::vector<Blame> blames =
      find_blame(storms.topology, PacketHistory(storms.tables), events);
  REQUIRE(blames.size() == 2);
  CHECK(blames[0].component == "h0");
  CHECK(blames[1].component == "h3");
  CHECK(name_of(blames[1].symptom) == "pauses without end");
}
