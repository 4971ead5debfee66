// A run of a job for the tools of others: Chrome traces and the lines of NCCL's Inspector.

#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "job/measure/inspector_lines.h"
#include "job/measure/job_lanes.h"
#include "tests/job/measured_jobs.h"

using namespace mrclab;
using namespace mrclab::job;
using namespace mrclab::job::made;

namespace {

OpSpans spans_of(const PlannedJob& plan) {
  const JobProgram program(plan.graph);
  return op_spans(plan, program, ideal_times(program, kByteANanosecond));
}

}  // namespace

TEST_CASE("bars of one lane do not overlap, whatever the job") {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    const PlannedJob plan = drawn_job(seed);
    const JobLanes lanes = lanes_of(plan, spans_of(plan));
    CHECK(lanes.left_out == 0);
    std::map<std::pair<uint32_t, uint32_t>, FabricTime> free;
    for (const LaneBar& bar : lanes.bars) {
      FabricTime& from = free[{bar.rank, bar.lane}];
      CHECK(bar.begin >= from);
      CHECK(bar.begin <= bar.active);
      CHECK(bar.active <= bar.end);
      CHECK(bar.lane < lanes.lanes[bar.rank].size());
      from = bar.end;
    }
  }
}

TEST_CASE("beyond the limit the earliest bars of all ranks are kept") {
  const PlannedJob plan = straggler_and_reduce();
  const JobLanes lanes = lanes_of(plan, spans_of(plan), 3);
  CHECK(lanes.left_out == 1);
  REQUIRE(lanes.bars.size() == 3);
  CHECK(lanes.bars[2].begin == FabricTime::from_ns(300));
}

TEST_CASE("a Chrome trace has a process a rank and a bar an operation") {
  const PlannedJob plan = straggler_and_reduce();
  std::ostringstream out;
  write_chrome_trace(plan, lanes_of(plan, spans_of(plan)), out);
  const auto trace = nlohmann::json::parse(out.str());
  size_t bars = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    ++bars;
    if (event["pid"] != 1 || event["cat"] != "collective") continue;
    CHECK(event["name"] == "grads (all_reduce dp)");
    CHECK(event["ts"] == doctest::Approx(0.3));
    CHECK(event["dur"] == doctest::Approx(2.5));
    CHECK(event["args"]["waited_us"] == doctest::Approx(0.2));
  }
  CHECK(bars == 4);
}

TEST_CASE("Inspector's lines have the time of each rank, and sizes as Inspector counts them") {
  PlanMaker maker(2);
  const uint32_t dp = maker.group({0, 1});
  for (const Collective kind :
       {Collective::kAllGather, Collective::kBarrier, Collective::kAllReduce}) {
    for (const uint32_t rank : {0u, 1u}) maker.collective(kind, rank, dp, 2000);
  }
  const PlannedJob plan = maker.plan();
  std::ostringstream out;
  CHECK(write_inspector_lines(plan, spans_of(plan), out) == 0);
  std::istringstream lines(out.str());
  std::vector<nlohmann::json> found;
  for (std::string line; std::getline(lines, line);) found.push_back(nlohmann::json::parse(line));
  REQUIRE(found.size() == 4);  // a barrier is none of NCCL's
  const auto& gather = found[1]["coll_perf"];
  CHECK(found[1]["header"]["rank"] == 1);
  CHECK(found[1]["header"]["n_ranks"] == 2);
  CHECK(gather["coll"] == "AllGather");
  CHECK(gather["coll_sn"] == 1);
  CHECK(gather["coll_msg_size_bytes"] == 1000);
  CHECK(gather["coll_exec_time_us"] == doctest::Approx(1.2));  // 1000 bytes, there and back
  CHECK(gather["coll_algobw_gbs"] == doctest::Approx(2000 / 1200.0));
  CHECK(gather["coll_busbw_gbs"] == doctest::Approx(1000 / 1200.0));
  CHECK(found[3]["coll_perf"]["coll_sn"] == 2);
  CHECK(found[3]["coll_perf"]["coll_msg_size_bytes"] == 2000);
  std::ostringstream small;
  CHECK(write_inspector_lines(plan, spans_of(plan), small, 700) == 3);
}
