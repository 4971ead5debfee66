// Steady before the first fault, alive after the last heal.

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/checks/checks.h"
#include "tests/support/synthetic_traffic.h"

namespace mrclab::analysis {
namespace {

using test::AnalyzedRun;
using test::kFault;
using test::ScriptedTraffic;
using test::SyntheticRun;
using test::us;

constexpr FabricTime kUpAgain = test::us(500);

/// The link h2:p0 is down between kFault and kUpAgain; its packets are lost.
struct Outage : test::TrafficStory {
  explicit Outage(const char* name) : TrafficStory(name), events_(std::string(name) + ".jsonl") {
    run.add_link_fault("h2:p0", kFault, kUpAgain);
    traffic.lost = [](const SyntheticRun::Sent& s) {
      return s.path.plane == 0 && s.destination == 2 && s.start >= kFault && s.start < kUpAgain;
    };
    std::ofstream(events_.path()).close();
    run.inputs.events = events_.path();
  }
  void ev(int64_t at, const char* state, Path path = {0, 1}) {
    test::write_ev_state(events_.path(), us(at), state, path);
  }

 private:
  test::ScratchFile events_;
};

TEST_CASE("steady says nothing about a run whose baseline varies or does not exist") {
  Outage story("steady");
  CHECK(story.result(ExpectSteady{}) == Result::kPass);
  Outage wild("wild");
  wild.traffic.silent = [](const SyntheticRun::Sent& s) {
    return s.source < 2 && s.start >= us(300) && s.start < us(390);
  };
  const CheckResult check = wild.check(ExpectSteady{});
  CHECK(check.result == Result::kInconclusive);
  REQUIRE(check.measured);
  CHECK(*check.measured > 5);
  Outage early("early");
  early.run.inputs.faults[0].start = us(20);
  CHECK(early.result(ExpectSteady{}) == Result::kInconclusive);
}

TEST_CASE("goodput_back counts from the last heal and fails if goodput stays low") {
  Outage story("back");
  CHECK(story.result(ExpectGoodputBack{us(300)}) == Result::kPass);
  Outage low("low");
  low.traffic.silent = [](const SyntheticRun::Sent& s) {
    return s.source == 0 && s.start >= kFault;
  };
  CHECK(low.result(ExpectGoodputBack{us(300)}) == Result::kFail);
  CHECK(low.result(ExpectGoodputBack{us(600)}) == Result::kInconclusive);  // the run is too short
  Outage late("late");
  late.traffic.silent = [](const SyntheticRun::Sent& s) {
    return s.source == 0 && s.start >= kFault && s.start < us(650);
  };
  CHECK(late.result(ExpectGoodputBack{us(400)}) == Result::kPass);
  CHECK(late.result(ExpectGoodputBack{us(200)}) == Result::kFail);
  Outage open("still-open");
  open.run.inputs.faults[0].healed_at = FabricTime::never();
  CHECK(open.result(ExpectGoodputBack{us(300)}) == Result::kInconclusive);
}

/// What the same traffic delivers without the outage.
Twin twin_of(const Outage& story, const char* name) {
  return [traffic = story.traffic, name] {
    test::TrafficStory twin(name);
    twin.traffic = traffic;
    twin.traffic.lost = [](const SyntheticRun::Sent&) { return false; };
    twin.traffic.write(twin.run.run);
    return TwinRun{twin.run.analyze().measurements.goodput, {}};
  };
}

TEST_CASE("goodput_back holds a run that its own baseline does not clear against its twin") {
  Outage wild("wild-twin");  // no steady baseline, and nothing wrong after the heal
  wild.traffic.silent = [](const SyntheticRun::Sent& s) {
    return s.source < 2 && s.start >= us(300) && s.start < us(390);
  };
  CHECK(wild.result(ExpectGoodputBack{us(300)}) == Result::kInconclusive);
  wild.run.inputs.twin = twin_of(wild, "wild-without");
  CHECK(wild.result(ExpectGoodputBack{us(300)}) == Result::kPass);

  Outage fades("fades");  // the workload itself sends less later on
  fades.traffic.silent = [](const SyntheticRun::Sent& s) {
    return s.source == 0 && s.start >= kFault;
  };
  CHECK(fades.result(ExpectGoodputBack{us(300)}) == Result::kFail);
  fades.run.inputs.twin = twin_of(fades, "fades-without");
  CHECK(fades.result(ExpectGoodputBack{us(300)}) == Result::kPass);

  Outage low("low-twin");  // the outage left less, and the twin shows it
  low.run.inputs.twin = twin_of(low, "low-without");
  low.traffic.silent = [](const SyntheticRun::Sent& s) {
    return s.source == 0 && s.start >= kFault;
  };
  CHECK(low.result(ExpectGoodputBack{us(300)}) == Result::kFail);
}

TEST_CASE("a run that its baseline clears needs no twin") {
  Outage story("no-twin");
  story.run.inputs.twin = []() -> TwinRun { throw std::logic_error("nobody asked for it"); };
  CHECK(story.result(ExpectGoodputBack{us(300)}) == Result::kPass);
}

TEST_CASE("healed is a path that is usable, though its value came back as a backup") {
  Outage story("backup");
  story.traffic.avoids = [](const SyntheticRun::Sent& s) {
    return s.path.plane == 0 && s.destination == 2 && s.start >= us(410);
  };
  story.ev(410, "assumed_bad", {0, 0});
  story.ev(410, "assumed_bad", {0, 1});
  CHECK(story.result(ExpectHealed{}) == Result::kFail);
  story.ev(600, "good", {0, 0});
  CHECK(story.result(ExpectHealed{}) == Result::kFail);  // one of two paths over the wire
  story.ev(620, "good", {0, 1});
  CHECK(story.result(ExpectHealed{}) == Result::kPass);
  story.run.keeps_events = false;  // packets alone do not show why no sender takes a path
  CHECK(story.result(ExpectHealed{}) == Result::kInconclusive);
}

TEST_CASE("evs_good fails for a value that stays bad, and for one that comes back late") {
  Outage story("evs");
  story.ev(410, "assumed_bad");
  const CheckResult bad = story.check(ExpectEvsGood{us(300)});
  CHECK(bad.result == Result::kFail);
  CHECK(bad.note.find("p0/u1") != std::string::npos);
  CHECK(story.result(ExpectEvsGood{us(600)}) == Result::kInconclusive);  // there is time left
  story.ev(700, "good");
  CHECK(story.result(ExpectEvsGood{us(300)}) == Result::kPass);
  CHECK(story.check(ExpectEvsGood{us(300)}).measured == 200);
  CHECK(story.result(ExpectEvsGood{us(150)}) == Result::kFail);
}

TEST_CASE("a value that the operator denies need not be good, one that he allowed again must") {
  Outage story("denied-ev");
  const NodeId host = story.topology.host(0);
  story.ev(410, "denied");
  story.run.inputs.schedule = {{us(410), EvDenial{host, ev_of({0, 1}), {}, true}}};
  CHECK(story.result(ExpectEvsGood{us(300)}) == Result::kPass);
  story.run.inputs.schedule.push_back({us(450), EvDenial{host, ev_of({0, 1}), {}, false}});
  CHECK(story.result(ExpectEvsGood{us(300)}) == Result::kFail);
}

TEST_CASE("evs_good asks nothing of a queue pair that failed") {
  Outage story("dead-qp");
  story.ev(410, "assumed_bad");
  CHECK(story.result(ExpectEvsGood{us(300)}) == Result::kFail);
  std::ofstream out(story.run.inputs.events, std::ios::app);
  out << nlohmann::json{{"t_ps", us(450).ps()},
                        {"node", "h0"},
                        {"kind", "qp_error"},
                        {"qp", 1},
                        {"cause", "retry_exhausted"}}
      << "\n";
  out.close();
  CHECK(story.result(ExpectEvsGood{us(300)}) == Result::kPass);
}

TEST_CASE("evs_good asks nothing of a queue pair whose peer lost its power") {
  Outage story("dead-peer");
  story.ev(410, "assumed_bad");
  story.run.inputs.schedule = {{us(405), HostState{story.topology.host(2), HostWork::kDown}}};
  story.run.inputs.hosts.hosts[0].queues.push_back({Qpn{1}, Qpn{9}, 3});
  CHECK(story.result(ExpectEvsGood{us(300)}) == Result::kFail);
  story.run.inputs.hosts.hosts[0].queues[0].peer = 2;
  CHECK(story.result(ExpectEvsGood{us(300)}) == Result::kPass);
}

TEST_CASE("queues_empty fails when every packet to a port that is not busy waits") {
  Outage story("queues");
  CHECK(story.result(ExpectQueuesEmpty{}) == Result::kPass);
  Outage standing("standing");
  standing.traffic.flows = {};
  for (uint32_t n = 0; n < 200; ++n) {
    SyntheticRun::Sent s;
    s.destination = 2;
    s.psn = n;
    s.path = {0, 0};
    s.start = us(700) + us(1) * n;
    const std::vector<uint8_t> frame = standing.run.run.data_frame(s);
    const FabricTime arrived = standing.run.run.leaves(s) + us(20);
    standing.run.run.record("h2:p0", test::kInbound, arrived, frame, frame.size());
  }
  const CheckResult check = standing.check(ExpectQueuesEmpty{});
  CHECK(check.result == Result::kFail);
  CHECK(check.note.find("h2:p0") != std::string::npos);
}

/// Packets to h2:p0 between two instants, each of which waits so long.
void waits(Outage& story, int64_t from, int64_t until, FabricTime wait, int64_t per_us = 1) {
  for (int64_t n = from * per_us; n < until * per_us; ++n) {
    SyntheticRun::Sent s;
    s.destination = 2;
    s.psn = static_cast<uint32_t>(n);
    s.path = {0, 0};
    s.start = us(1) * n / per_us;
    const std::vector<uint8_t> frame = story.run.run.data_frame(s);
    const FabricTime arrived = story.run.run.leaves(s) + story.run.run.flight() + wait;
    story.run.run.record("h2:p0", test::kInbound, arrived, frame, frame.size());
  }
}

TEST_CASE("a queue that stood before the first fault is not what the fault left") {
  for (const bool longer : {false, true}) {
    Outage story(longer ? "longer" : "as-before");
    story.traffic.flows = {};
    waits(story, 0, 400, us(8));
    waits(story, 500, 980, us(longer ? 20 : 8));
    CHECK(story.result(ExpectQueuesEmpty{}) == (longer ? Result::kFail : Result::kPass));
  }
  // A port that sends all the time is working its queue off, however long the queue is.
  Outage full("full");
  full.traffic.flows = {};
  waits(full, 0, 400, FabricTime::zero());
  waits(full, 500, 980, us(20), 3);
  CHECK(full.result(ExpectQueuesEmpty{}) == Result::kPass);
  // Also where a closed loop keeps every port busy all the time.
  Outage busy("busy");
  busy.traffic.interval = FabricTime::from_ns(150);
  CHECK(busy.result(ExpectQueuesEmpty{}) == Result::kPass);
}

TEST_CASE(
    "a queue of flows that share a full wire stands there, though neither of their ports is full") {
  for (const uint32_t flows : {1u, 2u}) {
    Outage story(flows == 1 ? "own-uplink" : "shared-uplink");
    story.traffic.flows = {};
    for (const bool after : {false, true}) {
      const FabricTime wait = after ? us(20) : FabricTime::zero();
      for (int64_t n = after ? 750 : 0; n < (after ? 1'480 : 600); ++n) {
        for (uint32_t source = 0; source < flows; ++source) {
          SyntheticRun::Sent s;
          s.source = source;
          s.destination = 2 + source;
          s.psn = static_cast<uint32_t>(n);
          s.path = {0, 0};
          s.start = us(2) * n / 3;
          const std::vector<uint8_t> frame = story.run.run.data_frame(s);
          const FabricTime arrived = story.run.run.leaves(s) + story.run.run.flight() + wait;
          story.run.run.record(source == 0 ? "h2:p0" : "h3:p0", test::kInbound, arrived, frame,
                               frame.size());
        }
      }
    }
    // Each port is busy for a little more than half of the time; the uplink of both is full.
    CHECK(story.result(ExpectQueuesEmpty{}) == (flows == 1 ? Result::kFail : Result::kPass));
  }
}

TEST_CASE("one packet that meets no queue is enough, a few that do meet one are not") {
  Outage quick("quick");
  quick.traffic.flows = {};
  waits(quick, 960, 961, FabricTime::zero());
  CHECK(quick.result(ExpectQueuesEmpty{}) == Result::kPass);
  Outage slow("slow");
  slow.traffic.flows = {};
  waits(slow, 955, 958, us(20));
  CHECK(slow.result(ExpectQueuesEmpty{}) == Result::kInconclusive);
}

TEST_CASE("without a fault there is no queue that one could have left, and nothing is judged") {
  Outage story("no-fault");
  story.run.inputs.faults.clear();
  story.traffic.flows = {};
  waits(story, 0, 980, us(20));
  CHECK(story.result(ExpectQueuesEmpty{}) == Result::kInconclusive);
  CHECK(story.result(ExpectHealed{}) == Result::kInconclusive);
  CHECK(story.result(ExpectGoodputBack{}) == Result::kInconclusive);
  CHECK(story.result(ExpectEvsGood{}) == Result::kInconclusive);
}

TEST_CASE("safety and liveness stand for their parts, each a check of its own") {
  Outage story("bundles");
  story.traffic.write(story.run.run);
  story.run.inputs.expectations = {ExpectSafety{}, ExpectLiveness{us(300)}};
  const Verdict verdict = story.run.analyze().verdict;
  std::vector<std::string> names;
  for (const CheckResult& check : verdict.checks) names.push_back(check.name);
  CHECK(names == std::vector<std::string>{"placed_once", "no_silent_loss", "in_order",
                                          "no_qp_error_while_a_path_lives", "accounted", "healed",
                                          "goodput_back", "evs_good", "queues_empty"});
}

}  // namespace
}  // namespace mrclab::analysis
