// Jobs that end as a whole and go on, on whole fabrics with real hosts and switches.

#include <doctest/doctest.h>

#include <memory>

#include "endpoint/host/host_node.h"
#include "job/attempt/attempts.h"
#include "job/plan/plan_job.h"
#include "tests/support/fabrics.h"
#include "tests/support/sim_fabric.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using test::SimFabric;
using test::us;

namespace {

/// Three steps of 5us and an all_reduce, each saved, on the first hosts of the fabric.
JobWorkload saved_job(uint32_t ranks, const job::OnError& on_error) {
  JobWorkload job;
  for (uint32_t rank = 0; rank < ranks; ++rank) job.spec.hosts.push_back(rank);
  job.spec.groups = {{"dp", ranks}};
  job.spec.steps = 3;
  job.spec.phases.resize(2);
  job.spec.phases[0].name = "f";
  job.spec.phases[0].work = job::ComputeWork{us(5)};
  job::ExchangeWork grads;
  grads.group = "dp";
  grads.size = {64 * 1024};
  job.spec.phases[1].name = "g";
  job.spec.phases[1].work = grads;
  job.spec.checkpoint = job::Checkpoints{1, us(1)};
  job.spec.on_error = on_error;
  job.plan = std::make_shared<const JobPlan>(job::plan_job(job.spec, 1));
  job.recovery = make_recovery(job.spec, 1, job.plan);
  return job;
}

job::OnError with_watchdog(job::OnError::Action action) {
  job::OnError on;
  on.action = action;
  on.watchdog = us(60);
  on.detect = us(1);
  on.answer = us(40);
  on.restart = us(10);
  return on;
}

/// A host's applications stand still in a step for longer than the watchdog waits.
std::unique_ptr<SimFabric> paused(JobWorkload job, uint32_t host) {
  const Topology topology = test::octet();
  SimFabric::Options options;
  options.workloads = {std::move(job)};
  auto fabric = std::make_unique<SimFabric>(topology, std::move(options));
  fabric->apply(us(8), HostState{topology.host(host), HostWork::kPaused});
  fabric->apply(us(150), HostState{topology.host(host), HostWork::kRunning});
  fabric->run_until(us(600));
  return fabric;
}

const std::vector<job::JobTurn>& turns_of(const std::vector<JobReport>& reports) {
  for (const JobReport& report : reports) {
    if (report.of_launcher) return report.turns;
  }
  static const std::vector<job::JobTurn> kNone;
  return kNone;
}

}  // namespace

TEST_CASE("a collective that waits longer than the watchdog ends all ranks, and they begin again") {
  const auto paused_fabric = paused(saved_job(4, with_watchdog(job::OnError::Action::kRestart)), 2);
  SimFabric& fabric = *paused_fabric;
  const auto turns = turns_of(fabric.host(0).jobs());
  REQUIRE(turns.size() == 1);
  CHECK(turns[0].lost.empty());  // its NIC has answered
  CHECK(turns[0].next == 1);
  CHECK(turns[0].begun > us(150));  // it prepares itself when it works again
  for (uint32_t host = 0; host < 4; ++host) {
    CHECK(fabric.host(host).finished());
    CHECK(fabric.stats(host).bytes_mismatched == 0);
  }
  const std::vector<JobReport> reports = fabric.host(1).jobs();
  REQUIRE(reports.size() == 2);
  CHECK(reports[0].rank.died_at != FabricTime::never());
  CHECK(reports[1].attempt == 1);
  CHECK(reports[1].rank.died_at == FabricTime::never());
  for (const job::OpTime& time : reports[1].rank.times) CHECK(time.end != FabricTime::never());
}

TEST_CASE("with abort all ranks end with the first, and none begins again") {
  const auto paused_fabric = paused(saved_job(4, with_watchdog(job::OnError::Action::kAbort)), 2);
  SimFabric& fabric = *paused_fabric;
  const auto turns = turns_of(fabric.host(0).jobs());
  REQUIRE(turns.size() == 1);
  CHECK(turns[0].next == 0);
  for (uint32_t host = 0; host < 4; ++host) {
    const std::vector<JobReport> reports = fabric.host(host).jobs();
    CHECK(reports[0].rank.died_at < us(200));
    for (const JobReport& report : reports) CHECK(report.attempt == 0);
  }
}

TEST_CASE("a host that stands still is found when the launcher asks, long before a watchdog") {
  job::OnError on = with_watchdog(job::OnError::Action::kAbort);
  on.watchdog.reset();
  CHECK(turns_of(paused(saved_job(4, on), 2)->host(0).jobs()).empty());
  on.heartbeat = us(30);
  const auto paused_fabric = paused(saved_job(4, on), 2);
  const auto turns = turns_of(paused_fabric->host(0).jobs());
  REQUIRE(turns.size() == 1);
  CHECK(turns[0].reporter == 2);
  // It stands still from 8us on, is asked at 30us, and silent at 60us.
  CHECK(turns[0].reported == us(60));
}

TEST_CASE("a job that is not in trouble ends, however often its hosts are asked") {
  job::OnError on = with_watchdog(job::OnError::Action::kRestart);
  on.heartbeat = us(10);
  SimFabric::Options options;
  options.workloads = {saved_job(4, on)};
  SimFabric fabric(test::octet(), std::move(options));
  fabric.run_until(us(300));
  CHECK(turns_of(fabric.host(0).jobs()).empty());
  for (uint32_t host = 0; host < 4; ++host) CHECK(fabric.host(host).finished());
}

TEST_CASE("with several ranks a host an abort ends all of them") {
  JobWorkload job = saved_job(4, with_watchdog(job::OnError::Action::kAbort));
  job.spec.hosts = {0, 0, 1, 1};
  job.plan = std::make_shared<const JobPlan>(job::plan_job(job.spec, 1));
  job.recovery = make_recovery(job.spec, 1, job.plan);
  // The ring from 1 to 2 and from 3 to 0; the barrier's second round goes to the rank after the next.
  CHECK(job.plan->pairs.size() == 2 + 4);
  const auto paused_fabric = paused(std::move(job), 1);
  REQUIRE(turns_of(paused_fabric->host(0).jobs()).size() == 1);
  for (uint32_t host = 0; host < 2; ++host) {
    size_t ended = 0;
    for (const JobReport& report : paused_fabric->host(host).jobs()) {
      ended += !report.of_launcher && report.rank.died_at < us(200);
    }
    CHECK(ended == 2);
  }
}

namespace {

/// Six ranks, two a host, of which the last host loses its power in the first step; all end in time.
std::unique_ptr<SimFabric> without_a_host(job::OnError on) {
  on.watchdog = us(60);
  on.detect = us(1);
  on.answer = us(40);
  on.restart = us(10);
  JobWorkload job = saved_job(6, on);
  job.spec.hosts = {0, 0, 1, 1, 2, 2};
  job.plan = std::make_shared<const JobPlan>(job::plan_job(job.spec, 1));
  job.recovery = make_recovery(job.spec, 1, job.plan);
  const Topology topology = test::octet();
  SimFabric::Options options;
  options.workloads = {std::move(job)};
  auto fabric = std::make_unique<SimFabric>(topology, std::move(options));
  fabric->apply(us(8), HostState{topology.host(2), HostWork::kDown});
  fabric->run_until(us(900));
  return fabric;
}

/// Of a host's ranks in one attempt: their numbers; all of their operations have ended, and no byte was wrong.
std::vector<uint32_t> ended_ranks(SimFabric& fabric, uint32_t host, uint32_t attempt) {
  std::vector<uint32_t> ranks;
  for (const JobReport& report : fabric.host(host).jobs()) {
    if (report.of_launcher || report.attempt != attempt) continue;
    CHECK(report.rank.died_at == FabricTime::never());
    for (const job::OpTime& time : report.rank.times) CHECK(time.end != FabricTime::never());
    ranks.push_back(report.rank.rank);
  }
  CHECK(fabric.stats(host).bytes_mismatched == 0);
  return ranks;
}

}  // namespace

TEST_CASE("all ranks of a lost host begin again on one spare") {
  job::OnError on;
  on.action = job::OnError::Action::kRestart;
  on.spares = {5, 6};
  const auto fabric = without_a_host(on);
  const auto turns = turns_of(fabric->host(0).jobs());
  REQUIRE(turns.size() == 1);
  CHECK(turns[0].lost == std::vector<uint32_t>{2});
  CHECK(turns[0].hosts == std::vector<uint32_t>{0, 0, 1, 1, 5, 5});
  CHECK(ended_ranks(*fabric, 0, 1) == std::vector<uint32_t>{0, 1});
  CHECK(ended_ranks(*fabric, 1, 1) == std::vector<uint32_t>{2, 3});
  CHECK(ended_ranks(*fabric, 5, 1) == std::vector<uint32_t>{4, 5});
  CHECK(ended_ranks(*fabric, 6, 1).empty());
}

TEST_CASE("replicas of a lost host leave together, and the others go on where they are") {
  job::OnError on;
  on.action = job::OnError::Action::kShrink;
  const auto fabric = without_a_host(on);
  const auto turns = turns_of(fabric->host(0).jobs());
  REQUIRE(turns.size() == 1);
  CHECK(turns[0].hosts == std::vector<uint32_t>{0, 0, 1, 1});
  CHECK(turns[0].from_step == 0);
  CHECK(ended_ranks(*fabric, 0, 1) == std::vector<uint32_t>{0, 1});
  CHECK(ended_ranks(*fabric, 1, 1) == std::vector<uint32_t>{2, 3});
}

TEST_CASE("queue pairs for what may go wrong carry nothing while nothing does") {
  job::OnError on = with_watchdog(job::OnError::Action::kRestart);
  on.spares = {5};
  SimFabric::Options with, without;
  with.workloads = {saved_job(4, on)};
  without.workloads = {saved_job(4, on)};
  std::get<JobWorkload>(without.workloads[0]).recovery = nullptr;
  SimFabric ready(test::octet(), std::move(with)), plain(test::octet(), std::move(without));
  ready.run_until(us(200));
  plain.run_until(us(200));
  for (uint32_t host = 0; host < 6; ++host) {
    CHECK(ready.stats(host).data_packets_sent == plain.stats(host).data_packets_sent);
    CHECK(ready.host(host).finished());
  }
}
