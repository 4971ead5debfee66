// Two drivers that share a gate (two_drivers.h): carried time, however their processes interleave.

#include "netio/runtime/driver.h"

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/netio/packet/test_listener.h"
#include "tests/netio/runtime/two_drivers.h"

using namespace mrclab;
using namespace mrclab::netio;
using namespace mrclab::netio::test;

TEST_SUITE("root: carried time") {
  TEST_CASE("two nodes on one veth have the same history however their processes interleave") {
    std::map<std::string, std::pair<Log, Log>> histories;
    for (const auto& [host_ticks, leaf_ticks] : {std::pair{1, 1}, {7, 1}, {1, 13}}) {
      TwoNodes nodes(FabricTime::from_us(60));
      REQUIRE(nodes.run(host_ticks, leaf_ticks));
      histories[std::to_string(host_ticks) + "/" + std::to_string(leaf_ticks)] = {nodes.host->log,
                                                                                  nodes.leaf->log};
      CHECK(nodes.host_driver->report().arrivals.late == 0);
      CHECK(nodes.leaf_driver->report().arrivals.late == 0);
      CHECK(nodes.host_driver->report().gaps.count == 0);
      CHECK(nodes.host->log.size() == 50 + 80);  // answers to its 50, and 80 questions
    }
    CHECK(histories["1/1"] == histories["7/1"]);
    CHECK(histories["1/1"] == histories["1/13"]);
  }

  TEST_CASE(
      "frames of one tick cross together, and one by one where somebody looks; the history is the same") {
    Log host, leaf;
    for (const bool watched : {false, true}) {
      TwoNodes nodes(FabricTime::from_us(60));
      for (auto& alone : nodes.gate.alone) alone.store(watched);
      REQUIRE(nodes.run(7, 1));
      const uint64_t frames = nodes.host_driver->report().arrivals.carried;
      CHECK(nodes.host->log.size() == frames);
      const uint64_t messages = nodes.host_socket->statistics().received;
      if (watched) {
        CHECK(messages == frames);
        CHECK(nodes.host->log == host);
        CHECK(nodes.leaf->log == leaf);
      } else {
        CHECK(messages < frames);
      }
      host = nodes.host->log;
      leaf = nodes.leaf->log;
    }
  }

  TEST_CASE("who makes an interface promiscuous and then listens gets every frame by itself") {
    for (const bool at_leaf : {false, true}) {
      TwoNodes nodes(FabricTime::from_us(60));
      nodes.host_driver->send_alone_where(nodes.ports());
      nodes.leaf_driver->send_alone_where(nodes.ports());
      for (int i = 0; i < 4; ++i) nodes.host_driver->tick(), nodes.leaf_driver->tick();
      const FileDescriptor listener =
          listening_socket(at_leaf ? nodes.leaf_ns : nodes.host_ns, at_leaf ? "d0" : "p0");
      REQUIRE(nodes.run(7, 1));
      const Heard heard = all_heard(listener);
      CHECK(heard.frames > 50);
      CHECK(heard.bundles == 0);
    }
  }

  TEST_CASE("a neighbour that is not ours gets every frame by itself") {
    TwoNodes nodes(FabricTime::from_us(60), kNoProcess);
    const FileDescriptor listener = unnoticed_socket(nodes.leaf_ns, "d0");
    bool finished = false;
    for (int i = 0; i < 1000 && !finished; ++i) finished = nodes.host_driver->tick().finished;
    CHECK(finished);
    const Heard heard = all_heard(listener);
    CHECK(heard.frames == 50);
    CHECK(heard.bundles == 0);
  }

  TEST_CASE("a bundle with what is no frame of its wire brings nothing, and is counted") {
    TwoNodes nodes(FabricTime::from_us(60));
    std::vector<uint8_t> bundle(kBundleHeadBytes);
    for (const int length : {100, 100, 200}) {  // the last is longer than what is left
      bundle.resize(bundle.size() + kBundledLengthBytes + 100, 0x33);
      bundle[bundle.size() - 102] = 0;
      bundle[bundle.size() - 101] = static_cast<uint8_t>(length);
    }
    write_bundle_head({}, bundle);
    nodes.leaf_socket->queue(nodes.leaf_socket->ifindex_of("d0"), bundle);
    REQUIRE(nodes.leaf_socket->flush().empty());
    for (int i = 0; i < 1000 && nodes.host_driver->report().arrivals.unknown < 3; ++i) {
      nodes.host_driver->tick();
    }
    CHECK(nodes.host_driver->report().arrivals.unknown == 3);
    CHECK(nodes.host->foreign == 0);
    CHECK(nodes.host->log.empty());
  }

  TEST_CASE("a process that stands still holds its neighbour back instead of losing frames") {
    TwoNodes nodes(FabricTime::from_us(60));
    for (int i = 0; i < 1000; ++i) nodes.host_driver->tick();
    // The leaf has never run: nothing can arrive before its done (-1 ps) plus the lookahead.
    const FabricTime lookahead =
        nodes.topology.lookahead(nodes.topology.port({nodes.topology.host(0), PortId{0}}).in);
    CHECK(nodes.host_driver->committed() == lookahead - FabricTime::from_ps(1));
    CHECK(nodes.gate.slot(0).waits_for.load() == 1);
    REQUIRE(nodes.run(1, 1));
    CHECK(nodes.leaf_driver->report().arrivals.late == 0);
  }

  TEST_CASE("a leash lets no process be further ahead of the slowest one, and changes no history") {
    Log host, leaf;
    {
      TwoNodes free(FabricTime::from_us(60));
      REQUIRE(free.run(1, 1));
      host = free.host->log;
      leaf = free.leaf->log;
    }
    TwoNodes held(FabricTime::from_us(60));
    const FabricTime leash = FabricTime::from_ns(100);  // shorter than the lookahead
    held.gate.leash_ps.store(leash.ps());
    for (int i = 0; i < 1000; ++i) held.host_driver->tick();
    CHECK(held.host_driver->committed() ==
          leash - FabricTime::from_ps(1));  // the leaf has done -1 ps
    CHECK(held.host_driver->report().min_slack_ns == INT64_MAX);
    bool done = false;
    for (int round = 0; round < 1'000'000 && !done; ++round) {
      const bool host_done = held.host_driver->tick().finished;
      REQUIRE(held.host_driver->committed() <= held.gate.slowest_done() + leash);
      done = held.leaf_driver->tick().finished && host_done;
      REQUIRE(held.leaf_driver->committed() <= held.gate.slowest_done() + leash);
    }
    CHECK(done);
    CHECK(held.host->log == host);
    CHECK(held.leaf->log == leaf);
  }

  TEST_CASE("what the gate calls quiet stays quiet, and frames under way are not") {
    TwoNodes nodes(FabricTime::from_us(60));
    int quiet_seen = 0, busy_seen = 0;
    bool done = false;
    for (int round = 0; round < 100'000 && !done; ++round) {
      const std::optional<FabricTime> quiet = nodes.gate.quiet_until();
      ++(quiet ? quiet_seen : busy_seen);
      const size_t host_before = nodes.host->log.size(), leaf_before = nodes.leaf->log.size();
      const bool host_done = nodes.host_driver->tick().finished;
      const bool leaf_done = nodes.leaf_driver->tick().finished;
      done = host_done && leaf_done;
      const FabricTime bound = quiet.value_or(FabricTime::from_ps(-1));
      for (size_t i = host_before; i < nodes.host->log.size(); ++i) {
        REQUIRE(nodes.host->log[i].first >= bound);
      }
      for (size_t i = leaf_before; i < nodes.leaf->log.size(); ++i) {
        REQUIRE(nodes.leaf->log[i].first >= bound);
      }
    }
    CHECK(done);
    CHECK(quiet_seen > 0);
    CHECK(busy_seen > 0);
    CHECK(nodes.gate.quiet_until() == FabricTime::never());
    nodes.gate.set_state(1, ProcessState::kFailed);
    CHECK_FALSE(nodes.gate.quiet_until());
  }

  TEST_CASE("told that nothing starts for a while, processes skip the rounds through the gate") {
    const auto rounds_of = [](bool told, Log& host_log, Log& leaf_log) {
      TwoNodes nodes(FabricTime::from_us(600));  // events end after 36 us
      int rounds = 0;
      for (bool done = false; !done && rounds < 100'000; ++rounds) {
        const std::optional<FabricTime> quiet = nodes.gate.quiet_until();
        if (told && quiet) {
          nodes.gate.quiet_ps.store(std::min(*quiet, FabricTime::from_us(600)).ps());
        }
        const bool host_done = nodes.host_driver->tick().finished;
        done = nodes.leaf_driver->tick().finished && host_done;
      }
      CHECK(nodes.host_driver->report().arrivals.late == 0);
      CHECK(nodes.leaf_driver->report().arrivals.late == 0);
      host_log = nodes.host->log;
      leaf_log = nodes.leaf->log;
      return rounds;
    };
    Log host, leaf, told_host, told_leaf;
    const int rounds = rounds_of(false, host, leaf);
    CHECK(rounds_of(true, told_host, told_leaf) < rounds / 2);
    CHECK(told_host == host);
    CHECK(told_leaf == leaf);
  }

  TEST_CASE("a schedule that is replaced ahead of everybody is executed at its instants") {
    const auto us = [](int64_t at) { return FabricTime::from_us(at); };
    TwoNodes nodes(us(60));
    std::vector<ScheduledEffect> schedule;
    const auto set = [&](std::vector<int64_t> instants) {
      schedule.clear();
      for (const int64_t at : instants) {
        schedule.push_back({us(at), WireState{WireId{0}, false}, schedule.size()});
      }
    };
    set({10, 20, 40});
    for (Driver* driver : {nodes.host_driver.get(), nodes.leaf_driver.get()}) {
      driver->follow_schedule([&] { return Schedule{schedule}; });
    }
    nodes.gate.limit_ps.store(us(30).ps() - 1);
    const auto tick_both = [&](int times) {
      for (int i = 0; i < times; ++i) {
        nodes.host_driver->tick();
        nodes.leaf_driver->tick();
      }
    };
    tick_both(1000);
    REQUIRE(nodes.gate.slowest_done() == us(30) - FabricTime::from_ps(1));
    set({10, 20, 30, 50});
    nodes.gate.schedule.fetch_add(1);
    CHECK_FALSE(nodes.gate.quiet_until());  // the next event of one process is the old schedule's
    tick_both(1);
    const auto quiet = nodes.gate.quiet_until();
    if (quiet) CHECK(*quiet == us(30));
    nodes.gate.limit_ps.store(FabricTime::never().ps());
    REQUIRE(nodes.run(7, 1));
    for (const Chatter* node : {nodes.host.get(), nodes.leaf.get()}) {
      CHECK(node->effects == std::vector{us(10), us(20), us(30), us(50)});
    }
    CHECK(nodes.host_driver->report().late_effects == 0);
    set({10, 20, 30, 45, 50});
    nodes.gate.schedule.fetch_add(1);
    tick_both(1);
    CHECK(nodes.host_driver->report().late_effects == 2);  // 45, and 50 after it once more
  }

  TEST_CASE("whoever stops a lab in the middle of a tick knows how far its processes still go") {
    const FabricTime end = FabricTime::from_us(60);
    for (const bool replaced : {false, true}) {
      CAPTURE(replaced);
      TwoNodes nodes(end);
      std::vector<ScheduledEffect> schedule;
      for (Driver* driver : {nodes.host_driver.get(), nodes.leaf_driver.get()}) {
        driver->follow_schedule([&] { return Schedule{schedule}; });
      }
      std::optional<FabricTime> last;
      // The host has read limit and schedule when its frame is taken in, and has not committed yet.
      nodes.host->on_receive = [&] {
        if (last || nodes.host->log.size() < 20) return;
        last = nodes.gate.stop_everywhere();
        if (!replaced) return;
        schedule = {{*last + kPicosecond, WireState{WireId{0}, false}, 0}};
        nodes.gate.schedule.fetch_add(1);
        nodes.gate.limit_ps.store(FabricTime::never().ps());
      };
      for (int i = 0; i < 1000; ++i) {
        nodes.host_driver->tick();
        if (last && i % 2 == 0) CHECK((replaced || nodes.host_driver->committed() <= *last));
        nodes.leaf_driver->tick();
      }
      REQUIRE(last);
      CHECK(*last < end);
      if (!replaced) {
        CHECK(nodes.gate.slowest_done() <= *last);
        CHECK(nodes.leaf_driver->committed() <= *last);
        nodes.gate.limit_ps.store(end.ps());
      }
      REQUIRE(nodes.run(1, 1));
      CHECK(nodes.host_driver->report().late_effects == 0);
      CHECK(nodes.leaf_driver->report().late_effects == 0);
      CHECK(nodes.host->effects.size() == schedule.size());
    }
  }

  TEST_CASE("a frame without trailer is foreign and one with another wire's is refused") {
    TwoNodes nodes(FabricTime::from_us(60));
    PacketSocket intruder(nodes.host_ns);
    std::vector<uint8_t> frame(300, 0);
    frame[12] = 0x86;
    frame[13] = 0xDD;
    frame[14] = 0x60;
    frame[19] = 100;
    const TimeTrailer forged{
        nodes.gate.lab,     WireId{1},       1, 154, 0, FabricTime::zero(), FabricTime::from_ns(1),
        FabricTime::zero(), DropCause::kNone};
    intruder.queue(intruder.ifindex_of("p0"), frame);
    REQUIRE(intruder.flush().empty());
    write_trailer(forged, std::span(frame).subspan(154).first<kTrailerBytes>());
    intruder.queue(intruder.ifindex_of("p0"), frame);
    REQUIRE(intruder.flush().empty());
    REQUIRE(nodes.run(1, 1));
    CHECK(nodes.leaf->foreign == 1);
    CHECK(nodes.leaf_driver->report().arrivals.foreign == 1);
    CHECK(nodes.leaf_driver->report().arrivals.unknown == 1);
    CHECK(nodes.leaf_driver->report().gaps.count == 0);
  }
}
