#include "netio/runtime/effect_feed.h"
#include "fabric/topology/build_topology.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "fabric/history/evidence_seal.h"
#include "netio/runtime/schedule_file.h"
#include "netio/system/file_descriptor.h"
#include "tests/netio/temporary_directory.h"

using namespace mrclab;
using netio::EffectFeed;

namespace {

const Topology& topology() {
  static const Topology built = build_topology({.name = "two", .t1 = 0, .hosts_per_t0 = 2});
  return built;
}

FabricTime us(int64_t at) { return FabricTime::from_us(at); }

ScheduledEffect carrier(int64_t at, uint32_t host, bool up, uint64_t sequence = 0) {
  return {us(at), PortCarrier{{topology().host(host), PortId{0}}, up}, sequence, 0, up};
}

std::vector<bool> only(uint32_t host) {
  std::vector<bool> mine(topology().nodes.size(), false);
  mine[topology().host(host).value] = true;
  return mine;
}

std::vector<FabricTime> handed_out(EffectFeed& feed, FabricTime until) {
  std::vector<FabricTime> instants;
  feed.hand_out(until,
                [&](NodeId, const ScheduledEffect& effect) { instants.push_back(effect.at); });
  return instants;
}

}  // namespace

TEST_CASE("effects are handed out once, when they are due, to the nodes of this process") {
  EffectFeed feed;
  CHECK(feed.next() == FabricTime::never());
  const std::vector schedule{carrier(1, 0, false), carrier(2, 1, false), carrier(3, 0, true)};
  CHECK(feed.replace(topology(), only(0), {schedule}, FabricTime::from_ps(-1)) == 0);
  CHECK(feed.next() == us(1));
  CHECK(feed.next(topology().host(1)) == FabricTime::never());
  CHECK(handed_out(feed, us(1) - FabricTime::from_ps(1)).empty());
  CHECK(handed_out(feed, us(2)) == std::vector{us(1)});
  CHECK(handed_out(feed, us(2)).empty());
  CHECK(feed.next() == us(3));
}

TEST_CASE("what is not due yet can be replaced, and what came too late is counted") {
  EffectFeed feed;
  feed.replace(topology(), only(0), {{carrier(1, 0, false, 0), carrier(9, 0, true, 1)}}, us(-1));
  handed_out(feed, us(5));
  // The same past with other numbers, and another future.
  CHECK(feed.replace(topology(), only(0), {{carrier(1, 0, false, 7), carrier(6, 0, true, 8)}},
                     us(5)) == 0);
  CHECK(handed_out(feed, us(10)) == std::vector{us(6)});
  CHECK(feed.replace(topology(), only(0), {{carrier(1, 0, false), carrier(4, 0, true)}}, us(10)) ==
        1);
  CHECK(handed_out(feed, us(11)) == std::vector{us(4)});
  CHECK(feed.replace(topology(), only(0), {{carrier(1, 0, false)}}, us(11)) == 1);
}

TEST_CASE("what is settled may leave the schedule, and is not handed out again") {
  EffectFeed feed;
  const auto down = carrier(1, 0, false), up = carrier(3, 0, true), again = carrier(4, 0, false);
  feed.replace(topology(), only(0), {{down, up, again, carrier(9, 0, true)}}, us(-1));
  CHECK(handed_out(feed, us(5)).size() == 3);
  // Up to 3 nothing is in force; then, up to 4, a state is that this process has already.
  CHECK(feed.replace(topology(), only(0), {{again, carrier(7, 0, true)}, us(3)}, us(5)) == 0);
  CHECK(feed.replace(topology(), only(0), {{again, carrier(8, 0, true)}, us(4)}, us(6)) == 0);
  CHECK(handed_out(feed, us(10)) == std::vector{us(8)});

  // Replaces a process that was killed: it needs the effects that are still in force.
  EffectFeed successor;
  successor.replace(topology(), only(0), {{again, carrier(8, 0, true)}, us(4)}, us(-1));
  CHECK(handed_out(successor, us(10)) == std::vector{us(4), us(8)});
}

TEST_CASE("a schedule survives its way to the daemons, and nonsense is refused by name") {
  const netio::test::TemporaryDirectory directory;
  const auto file = directory / "schedule";
  const std::vector schedule{carrier(1, 0, false, 0), carrier(2, 1, true, 1)};
  netio::write_schedule_file({schedule, us(1)}, file);
  CHECK(netio::read_schedule_file(topology(), file).settled == us(1));
  const auto read = netio::read_schedule_file(topology(), file).effects;
  REQUIRE(read.size() == 2);
  for (size_t i = 0; i < 2; ++i) {
    CHECK(read[i].at == schedule[i].at);
    CHECK(read[i].effect == schedule[i].effect);
    CHECK(read[i].sequence == schedule[i].sequence);
  }
  for (const char* bad : {"1000 0 0 0 port_carrier 99/0 0\n", "settled \n", "settled 1us\n"}) {
    netio::write_file(file, fmt::format("{}1 lines, crc32 {:08x}\n", bad, checksum(0, bad)));
    CHECK_THROWS_WITH(netio::read_schedule_file(topology(), file),
                      doctest::Contains("bad schedule line"));
  }
}

TEST_CASE(
    "a part of a schedule is none, wherever it was cut, and neither is one with another byte") {
  const netio::test::TemporaryDirectory directory;
  const auto file = directory / "schedule";
  netio::write_schedule_file({{carrier(1, 0, false, 0), carrier(2, 1, true, 1)}}, file);
  const std::string whole = netio::read_file(file);
  const auto refused = [&](const std::string& text) {
    netio::write_file(file, text);
    CHECK_THROWS_WITH(netio::read_schedule_file(topology(), file),
                      doctest::Contains("cut or changed"));
  };
  for (size_t size = 0; size < whole.size(); ++size) refused(whole.substr(0, size));
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string other = whole;
    other[at] = static_cast<char>(other[at] ^ 1);
    refused(other);
  }
  netio::write_file(file, whole);
  CHECK(netio::read_schedule_file(topology(), file).effects.size() == 2);
}
