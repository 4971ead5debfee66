// Jobs on whole fabrics with real hosts and switches: when operations begin and end, what is verified, and what ends a
// rank.

#include <doctest/doctest.h>

#include <filesystem>

#include "endpoint/host/host_node.h"
#include "endpoint/plan/connection_plan.h"
#include "job/import/goal_file.h"
#include "job/import/trace_file.h"
#include "job/run/ideal_run.h"
#include "tests/support/fabrics.h"
#include "tests/support/sim_fabric.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using test::SimFabric;
using test::us;

namespace {

/// Rank i of it is host i. `step_of` empty: one step.
JobWorkload job_of(job::OpGraph graph, uint32_t steps = 1, std::vector<uint32_t> step_of = {}) {
  JobWorkload job;
  for (uint32_t rank = 0; rank < graph.ranks(); ++rank) job.spec.hosts.push_back(rank);
  job::PlannedJob planned{"test", std::move(graph), {}, {}, {{"all", ""}}, steps};
  planned.step_of = std::move(step_of);
  planned.step_of.resize(planned.graph.ops().size());
  planned.label_of.resize(planned.graph.ops().size());
  job.plan = std::make_shared<const JobPlan>(std::move(planned));
  return job;
}

JobWorkload job_in(const std::string& goal, uint32_t steps = 1,
                   std::vector<uint32_t> step_of = {}) {
  return job_of(job::read_goal_text(goal, "test.goal", {}).graph, steps, std::move(step_of));
}

SimFabric::Options running(JobWorkload job) {
  SimFabric::Options options;
  options.workloads = {std::move(job)};
  return options;
}

const job::OpTime& time_of(const JobReport& report, size_t op) { return report.rank.times.at(op); }

/// h0 computes, sends 600 kB and 8 B, and has an answer; a step each way.
constexpr const char* kThereAndBack =
    "num_ranks 2\n"
    "rank 0 {\na: calc 5000\ns: send 600000b to 1\ns requires a\nt: send 8b to 1\nt requires a\n"
    "r: recv 1000b from 1\n}\n"
    "rank 1 {\nr: recv 600000b from 0\nu: recv 8b from 0\nc: calc 7000\nc requires r\n"
    "s: send 1000b to 0\ns requires c\n}\n";
const std::vector<uint32_t> kTwoSteps{0, 0, 0, 1, 0, 0, 1, 1};

uint64_t verified(SimFabric& fabric) {
  uint64_t bytes = 0;
  for (uint32_t h = 0; h < fabric.topology.host_count(); ++h) {
    CHECK(fabric.stats(h).bytes_mismatched == 0);
    bytes += fabric.stats(h).bytes_verified;
  }
  return bytes;
}

}  // namespace

TEST_CASE("hosts compute and send as a job says, byte for byte, over any number of queue pairs") {
  for (const uint32_t qps : {1u, 3u}) {
    CAPTURE(qps);
    JobWorkload job = job_in(kThereAndBack, 2, kTwoSteps);
    job.qps = qps;
    job.at = us(3);
    SimFabric fabric(test::pair(), running(std::move(job)));
    fabric.run_until(FabricTime::from_ms(2));
    REQUIRE(fabric.host(0).finished());
    REQUIRE(fabric.host(1).finished());
    CHECK(verified(fabric) == 600'000 + 8 + 1000);
    const JobReport a = fabric.host(0).jobs().at(0), b = fabric.host(1).jobs().at(0);
    CHECK(a.rank.origin == us(3));
    CHECK(a.rank.died.empty());
    CHECK(time_of(a, 0).end == us(5));
    CHECK(time_of(a, 1).begin == us(5));
    CHECK(time_of(a, 1).begun_by == 0);
    // 600 kB at 2 x 100 Gb/s take 24 us without headers; the acknowledgement comes after the arrival.
    CHECK(time_of(b, 0).end > us(5 + 24));
    CHECK(time_of(b, 0).end < us(5 + 24 + 8));
    CHECK(time_of(b, 0).ended_by == 1);
    CHECK(time_of(a, 1).end > time_of(b, 0).end);
    CHECK(time_of(b, 2).begin == time_of(b, 0).end);
    CHECK(time_of(b, 2).end == time_of(b, 0).end + us(7));
    CHECK(time_of(a, 3).end > time_of(b, 2).end);
    // A small message waits behind a large one on its own queue pair only.
    CHECK((time_of(b, 1).end < time_of(b, 0).end) == (qps > 1));
    const WorkReport work = fabric.host(1).work().at(0);
    REQUIRE(work.done == 2);
    CHECK(work.samples[0].to == us(3) + std::max(time_of(b, 0).end, time_of(b, 1).end));
    CHECK(work.samples[1].from == us(3) + time_of(b, 2).begin);
    CHECK(work.samples[1].to == us(3) + time_of(b, 3).end);
    CHECK(fabric.observer(1).count("step_done") == 2);
  }
}

TEST_CASE("a ring that others wrote as messages takes its ideal time and what the wire adds") {
  const auto sample =
      std::filesystem::path(MRCLAB_SOURCE_DIR) / "tests/job/samples/chakra/custom_allreduce";
  const JobWorkload job = job_of(job::read_trace(sample, {}).graph);
  const job::JobProgram& program = job.plan->program;
  SimFabric fabric(test::octet(), running(job));
  fabric.run_until(FabricTime::from_ms(5));
  FabricTime last;
  uint64_t sent = 0;
  for (const job::Op& op : program.graph().ops()) {
    if (op.kind == job::OpKind::kSend) sent += op.bytes;
  }
  for (uint32_t h = 0; h < 8; ++h) {
    REQUIRE(fabric.host(h).finished());
    const JobReport report = fabric.host(h).jobs().at(0);
    for (const job::OpTime& time : report.rank.times) {
      last = std::max(last, time.end);
    }
  }
  CHECK(verified(fabric) == sent);
  const BitRate line{fabric.topology.host_rate.bps * fabric.topology.planes};
  // A frame is 4,096 bytes of payload and its headers: a twentieth more covers them.
  const BitRate payload{line.bps / 105 * 100};
  // Neighbours of one T0 are nearer than half of the base RTT, which is that of the longest path.
  const auto end_on = [&](BitRate rate, FabricTime latency) {
    FabricTime end;
    for (const job::OpTime& time : job::ideal_times(program, {rate, latency})) {
      end = std::max(end, time.end);
    }
    return end;
  };
  CHECK(last > end_on(line, FabricTime::zero()));
  CHECK(last < end_on(payload, fabric.topology.base_rtt / 2));
}

TEST_CASE("a job over wires that lose ends, and every byte is what was sent") {
  SimFabric fabric(test::pair(), running(job_in(kThereAndBack, 2, kTwoSteps)));
  for (const char* port : {"h0:p0", "h1:p1"}) {
    const Link& link = fabric.topology.link(fabric.link_of(port));
    for (const WireId wire : {link.a_to_b(), link.b_to_a()}) {
      fabric.apply(us(0), random_loss(wire, test::percent(5)));
    }
  }
  fabric.run_until(FabricTime::from_ms(5));
  CHECK(fabric.stats(0).retransmissions > 0);
  CHECK(fabric.host(0).work().at(0).done == 2);
  CHECK(fabric.host(1).work().at(0).done == 2);
  CHECK(verified(fabric) == 600'000 + 8 + 1000);
}

TEST_CASE("a rank whose NIC has lost all ports dies, and its report says when and why") {
  SimFabric fabric(test::pair(), running(job_in(kThereAndBack, 2, kTwoSteps)));
  for (const char* port : {"h0:p0", "h0:p1"}) fabric.set_link(us(10), fabric.link_of(port), false);
  fabric.run_until(FabricTime::from_ms(10));
  const job::RankTimes rank = fabric.host(0).jobs().at(0).rank;
  CHECK(rank.died == "queue pair to h1: Retry Counter Exceeded");
  CHECK(rank.died_at > us(10));
  CHECK(rank.died_at < FabricTime::from_ms(10));
  CHECK(rank.times[0].end == us(5));
  CHECK(rank.times[1].end == FabricTime::never());
  CHECK(fabric.host(0).finished());
  CHECK(!fabric.host(1).finished());
  CHECK(fabric.host(0).work().at(0).done == 0);
}

TEST_CASE("a paused rank gets what arrived when it goes on; one without power is reported dead") {
  SimFabric fabric(test::pair(), running(job_in(kThereAndBack, 2, kTwoSteps)));
  const NodeId slow = fabric.topology.host(1);
  fabric.apply(us(0), HostState{slow, HostWork::kPaused});
  fabric.apply(us(100), HostState{slow, HostWork::kRunning});
  fabric.apply(us(103), HostState{slow, HostWork::kDown});
  fabric.run_until(us(102));
  CHECK(verified(fabric) == 600'000 + 8);
  const job::RankTimes awake = fabric.host(1).jobs().at(0).rank;
  CHECK(awake.origin == us(100));
  CHECK(awake.times[0].end == FabricTime::zero());
  fabric.run_until(us(200));
  const job::RankTimes gone = fabric.host(1).jobs().at(0).rank;
  CHECK(gone.died == "its host lost power");
  CHECK(gone.died_at == us(103));
  CHECK(gone.times[2].end == FabricTime::never());
}

TEST_CASE("messages larger than a queue pair's slots go through them again and again") {
  SimFabric fabric(test::pair(), running(job_in("num_ranks 2\nrank 0 {\ns: send 9000001b to 1\n}\n"
                                                "rank 1 {\nr: recv 9000001b from 0\n}\n")));
  fabric.run_until(FabricTime::from_ms(2));
  CHECK(fabric.host(1).finished());
  CHECK(verified(fabric) == 9'000'001);
  // 16 slots of 256 KiB, whatever is sent.
  const std::vector<WorkloadSpec> specs{
      job_in("num_ranks 2\nrank 0 {\ns: send 9000001b to 1\n}\n"
             "rank 1 {\nr: recv 9000001b from 0\n}\n")};
  CHECK(plan_connections(fabric.topology, specs, 1).at(0).region.size == Bytes{4 << 20});
}
