// When a queue pair of RC had to fail: its one path was dead, or stood, and no other one counts.

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/checks/checks.h"
#include "fabric/ecmp.h"
#include "fabric/pause_frame.h"
#include "tests/support/synthetic_traffic.h"

namespace mrclab::analysis {
namespace {

using test::AnalyzedRun;
using test::SyntheticRun;
using test::us;

constexpr int64_t kFails = 700;  // us
constexpr Qpn kOwn{1}, kRemote{0x100};

/// A flow of RC whose packets and answers cross the same T1.
Path one_flow(const Topology& topology) {
  Path flow{0, 0, Chosen::kByFlow};
  while (path_between(topology, 0, 2, flow)->uplink != path_between(topology, 2, 0, flow)->uplink) {
    ++flow.uplink;
  }
  return flow;
}

/// h0 sends to h2 by RC and fails at 700 us, after retries for 200 us.
struct OneFailure {
  explicit OneFailure(const char* name, bool sends = true)
      : topology(test::quad()),
        run(topology, name),
        events(std::string(name) + ".jsonl"),
        flow(one_flow(topology)),
        uplink(path_between(topology, 0, 2, flow)->uplink) {
    run.inputs.retry_span = us(50);
    run.inputs.rc_retry_span = us(200);
    HostReport& host = run.inputs.hosts.hosts[0];
    host.queues.push_back({kOwn, kRemote, 2});
    host.qps_in_error = 1;
    std::ofstream(events.path()) << nlohmann::json{{"t_ps", us(kFails).ps()},
                                                   {"node", "h0"},
                                                   {"kind", "qp_error"},
                                                   {"qp", kOwn.value},
                                                   {"cause", "Retry Counter Exceeded"},
                                                   {"detail", "to h2"}}
                                 << "\n";
    run.inputs.events = events.path();
    SyntheticRun::Sent s;
    s.source = 0;
    s.destination = 2;
    s.psn = 7;
    s.path = flow;
    s.start = us(100);
    s.qp = kRemote.value;
    if (sends) run.run.delivered(s);
  }
  std::string port(uint32_t of_uplink) const { return "p0.t0-0:u" + std::to_string(of_uplink); }
  CheckResult check() { return run.check(ExpectNoQpErrorWhileAPathLives{}); }

  Topology topology;
  AnalyzedRun run;
  test::ScratchFile events;
  Path flow;
  uint32_t uplink;  ///< that the hash chooses
};

TEST_CASE("a queue pair of RC that fails while its path works is wrong, whatever else is broken") {
  OneFailure story("rc-healthy");
  CHECK(story.check().result == Result::kFail);
  CHECK(story.check().note.find("its path " + to_string(story.flow)) != std::string::npos);
  OneFailure other("rc-other-uplink");
  other.run.add_link_fault(other.port(1 - other.uplink).c_str(), us(400), us(800));
  CHECK(other.check().result == Result::kFail);
}

TEST_CASE("a queue pair of RC fails rightly when its own path was dead, though others lived") {
  OneFailure story("rc-dead");
  story.run.add_link_fault(story.port(story.uplink).c_str(), us(520), us(690));
  const CheckResult check = story.check();
  CHECK(check.result == Result::kPass);
  CHECK(check.note.find("rightly") != std::string::npos);
  OneFailure before("rc-dead-before");
  before.run.add_link_fault(before.port(before.uplink).c_str(), us(300), us(499));
  CHECK(before.check().result == Result::kFail);
}

TEST_CASE("the judge follows a flow of RC to the uplink that its T0 has left") {
  OneFailure story("rc-moved");
  const PortRef own = *story.topology.find_port(story.port(story.uplink));
  story.run.inputs.schedule = {{us(450), PortCarrier{own, false}}};
  CHECK(story.check().result == Result::kFail);
  story.run.add_link_fault(story.port(1 - story.uplink).c_str(), us(600), us(800));
  CHECK(story.check().result == Result::kPass);
}

TEST_CASE("with adaptive routing every uplink is a queue pair's path") {
  OneFailure story("rc-adaptive");
  story.topology.lossless.adaptive = true;
  story.run.add_link_fault(story.port(1 - story.uplink).c_str(), us(600), us(800));
  CHECK(story.check().result == Result::kPass);
}

TEST_CASE(
    "a queue pair of RC fails rightly when a port of its path stood paused, or its receiver") {
  for (const bool long_enough : {true, false}) {
    OneFailure story(long_enough ? "rc-paused" : "rc-paused-shortly");
    FramePool pool;
    const auto pauses = [&](int64_t at, uint16_t quanta) {
      const Frame frame = make_pause(
          pool, story.topology.port(*story.topology.find_port("p0.t0-0:d0")).mac, quanta);
      story.run.run.record("h0:p0", test::kInbound, us(at), frame.bytes(), frame.bytes().size());
    };
    pauses(550, kPauseQuanta);
    pauses(long_enough ? 660 : 640, 0);
    CHECK(story.check().result == (long_enough ? Result::kPass : Result::kFail));
  }
  OneFailure slow("rc-slow");
  FaultSpan stall;
  stall.description = stall.kind = "pcie_stall";
  stall.start = us(510);
  stall.healed_at = us(690);
  stall.receivers = {{slow.topology.host(2), us(510), us(690)}};
  slow.run.inputs.faults.push_back(stall);
  CHECK(slow.check().result == Result::kPass);
}

TEST_CASE("without a packet of the queue pair nothing tells which transport it has") {
  OneFailure story("rc-unseen", false);
  CHECK(story.check().result == Result::kInconclusive);
  story.run.inputs.rc_retry_span = FabricTime::zero();
  CHECK(story.check().result == Result::kFail);
}

}  // namespace
}  // namespace mrclab::analysis
