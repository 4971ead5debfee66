// When a queue pair of RC had to fail: its one path was dead, or stood, and no other one counts.

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/checks/checks.h"
#include "fabric/packet/pause_frame.h"
#include "fabric/paths/ecmp.h"
#include "tests/support/synthetic_traffic.h"

namespace mrclab::analysis {
namespace {

using test::AnalyzedRun;
using test::ns;
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
    fails(us(kFails), "h0", kOwn, "to h2");
    run.inputs.events = events.path();
    if (sends) send(flow);
  }
  void send(Path path) {
    SyntheticRun::Sent s;
    s.source = 0;
    s.destination = 2;
    s.psn = 7;
    s.path = path;
    s.start = us(100);
    s.qp = kRemote.value;
    run.run.delivered(s);
  }
  /// The wire that leaves this port loses all, the other direction nothing.
  void lose_frames_of(const char* leaves, FabricTime from, FabricTime until) {
    FaultSpan fault;
    fault.description = fault.kind = "wire_loss";
    fault.start = from;
    fault.healed_at = until;
    fault.impairments = {{topology.port(*topology.find_port(leaves)).out, from, until}};
    run.inputs.faults.push_back(fault);
  }
  void fails(FabricTime t, const char* host, Qpn qp, const char* whom) {
    std::ofstream(events.path(), std::ios::app)
        << nlohmann::json{{"t_ps", t.ps()},
                          {"node", host},
                          {"kind", "qp_error"},
                          {"qp", qp.value},
                          {"cause", "Retry Counter Exceeded"},
                          {"detail", whom}}
        << "\n";
  }
  /// A pause frame about so many quanta arrives at a port.
  void paused(const char* port, FabricTime at, uint16_t quanta) {
    FramePool pool;
    const Frame frame = make_pause(pool, topology.port(*topology.find_port(port)).mac, quanta);
    run.run.record(port, test::kInbound, at, frame.bytes(), frame.bytes().size());
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
    story.paused("h0:p0", us(550), kPauseQuanta);
    story.paused("h0:p0", us(650) - (long_enough ? ns(0) : ns(1)), 0);  // half of 200 us
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

TEST_CASE("a pause counts at any port of the path from its sender on, and at no other") {
  const OneFailure built("rc-pause-ports");
  const std::string other = built.port(1 - built.uplink);
  const std::string own = built.port(built.uplink);
  const struct {
    const char* name;
    const char* port;
    bool on_path;
  } rows[] = {{"rc-pause-uplink", own.c_str(), true},
              {"rc-pause-last-hop", "p0.t0-1:d0", true},
              {"rc-pause-other-uplink", other.c_str(), false},
              {"rc-pause-other-plane", "h0:p1", false},
              {"rc-pause-way-back", "h2:p0", false}};
  for (const auto& row : rows) {
    OneFailure story(row.name);
    story.paused(row.port, us(550), kPauseQuanta);
    CAPTURE(row.name);
    CHECK(story.check().result == (row.on_path ? Result::kPass : Result::kFail));
  }
}

TEST_CASE("a pause before the last retries began counts only as far as it reaches into them") {
  for (const bool half : {true, false}) {
    OneFailure story(half ? "rc-pause-half" : "rc-pause-before");
    story.paused("h0:p0", us(400), kPauseQuanta);
    story.paused("h0:p0", us(600) - story.topology.host_latency - (half ? ns(0) : ns(1)), 0);
    CHECK(story.check().result == (half ? Result::kPass : Result::kFail));
  }
}

TEST_CASE("a queue pair of RC fails rightly when the way of its answers was dead") {
  OneFailure story("rc-dead-back");
  story.lose_frames_of("h2:p0", us(550), us(560));
  CHECK(story.check().result == Result::kPass);
}

TEST_CASE(
    "one of MRC fails rightly only when all ways there, or all ways of its answers, are dead") {
  OneFailure story("mrc-dead-back", false);
  story.send({0, 0});  // the transport is MRC's, though RC's retries are given as well
  story.run.add_link_fault("p0.t0-0:u0", us(660), us(690));
  CHECK(story.check().result == Result::kFail);
  story.lose_frames_of("h2:p0", us(660), us(690));
  CHECK(story.check().result == Result::kFail);
  story.lose_frames_of("h2:p1", us(660), us(690));
  CHECK(story.check().result == Result::kPass);
}

TEST_CASE("a failure that names no peer is wrong, whatever was broken") {
  OneFailure story("rc-no-peer");
  story.run.add_link_fault(story.port(story.uplink).c_str(), us(520), us(690));
  std::ofstream(story.events.path()) << "";
  story.fails(us(kFails), "h0", kOwn, "");
  CHECK(story.check().result == Result::kFail);
}

TEST_CASE("a queue pair of RC fails rightly when its partner did before, and not for another one") {
  for (const bool partner : {true, false}) {
    OneFailure story(partner ? "rc-partner" : "rc-stranger");
    // h2's queue pair tries for 200 us as well, and in the first of them the link is dead.
    story.run.add_link_fault("h2:p0", us(460), us(490));
    const Qpn failed = partner ? kRemote : Qpn{0x101};
    HostReport& host = story.run.inputs.hosts.hosts[2];
    host.queues.push_back({failed, partner ? kOwn : Qpn{2}, 0});
    host.qps_in_error = 1;
    SyntheticRun::Sent back;
    back.source = 2;
    back.destination = 0;
    back.path = story.flow;
    back.start = us(100);
    back.qp = partner ? kOwn.value : 2;
    story.run.run.delivered(back);
    std::ofstream(story.events.path()) << "";
    story.fails(us(650), "h2", failed, "to h0");
    story.fails(us(kFails), "h0", kOwn, "to h2");
    const CheckResult check = story.check();
    CHECK(check.result == (partner ? Result::kPass : Result::kFail));
  }
}

TEST_CASE("a queue pair fails rightly when its host or its peer was without power by then") {
  for (const char* host : {"h0", "h2"}) {
    for (const bool by_then : {true, false}) {
      OneFailure story((std::string("rc-power-") + host + (by_then ? "" : "-late")).c_str());
      HostState down;
      down.host = *story.topology.find_node(host);
      down.work = HostWork::kDown;
      story.run.inputs.schedule = {{us(kFails) + (by_then ? ns(0) : ns(1)), down}};
      CAPTURE(host);
      CHECK(story.check().result == (by_then ? Result::kPass : Result::kFail));
    }
  }
}

TEST_CASE("without a packet of the queue pair nothing tells which transport it has") {
  OneFailure story("rc-unseen", false);
  CHECK(story.check().result == Result::kInconclusive);
  story.run.inputs.rc_retry_span = FabricTime::zero();
  CHECK(story.check().result == Result::kFail);
}

}  // namespace
}  // namespace mrclab::analysis
