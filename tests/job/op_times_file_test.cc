// The times of a rank as a file: what was written is read, and nothing else is.

#include <doctest/doctest.h>

#include "fabric/history/evidence_seal.h"
#include "job/measure/op_times_file.h"
#include "tests/job/measured_jobs.h"
#include "tests/support/errors.h"
#include "tests/support/texts.h"

using namespace mrclab;
using namespace mrclab::job;
using namespace mrclab::job::made;
using mrclab::test::error_of;
using mrclab::test::mentions;

namespace {

RankTimes times_of(uint32_t rank, const JobProgram& program) {
  const OpTimes all = ideal_times(program, kByteANanosecond);
  RankTimes times;
  times.rank = rank;
  for (const uint32_t op : program.ops_of(rank)) times.times.push_back(all[op]);
  return times;
}

std::string error_in(const RankTimes& times, const JobProgram& program) {
  return error_of([&] { parse_op_times(op_times_bytes(times, program), "a.times", program); });
}

}  // namespace

TEST_CASE("the times of a rank come back as they were written, and join to those of the job") {
  const PlannedJob plan = straggler_and_reduce();
  const JobProgram program(plan.graph);
  std::vector<RankTimes> ranks;
  for (const uint32_t rank : {1u, 0u}) {
    RankTimes written = times_of(rank, program);
    written.origin = FabricTime::from_us(rank == 1 ? 7 : 5);
    written.died = rank == 1 ? "Retry Counter Exceeded" : "";
    if (rank == 1) written.died_at = FabricTime::from_us(9);
    ranks.push_back(parse_op_times(op_times_bytes(written, program), "a", program));
  }
  CHECK(ranks[0].died == "Retry Counter Exceeded");
  CHECK(ranks[0].died_at == FabricTime::from_us(9));
  CHECK(ranks[1].died_at == FabricTime::never());
  const OpTimes ideal = ideal_times(program, kByteANanosecond);
  const OpTimes all = joined_times(ranks, program);
  REQUIRE(all.size() == ideal.size());
  for (uint32_t i = 0; i < all.size(); ++i) {
    const FabricTime late = FabricTime::from_us(program.graph().op(i).rank == 1 ? 2 : 0);
    CHECK(all[i].begin == ideal[i].begin + late);
    CHECK(all[i].end == ideal[i].end + late);
    CHECK(all[i].begun_by == ideal[i].begun_by);
    CHECK(all[i].ended_by == ideal[i].ended_by);
  }
  CHECK(joined_times(std::span(ranks).first(1), program)[0].begin == FabricTime::never());
  ranks[1].rank = 1;
  CHECK(mentions(error_of([&] { joined_times(ranks, program); }), "rank 1 twice"));
}

TEST_CASE("times that are cut, damaged or of another job are refused") {
  const PlannedJob plan = straggler_and_reduce();
  const JobProgram program(plan.graph);
  const std::string bytes = op_times_bytes(times_of(0, program), program);
  for (size_t length = 0; length < bytes.size(); ++length) {
    CHECK(error_of([&] { parse_op_times(bytes.substr(0, length), "a", program); }) != "no error");
  }
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    CHECK(error_of([&] { parse_op_times(damaged, "a", program); }) != "no error");
  }
  const PlannedJob other = drawn_job(1);
  CHECK(mentions(error_of([&] { parse_op_times(bytes, "a", JobProgram(other.graph)); }),
                 "a: times of another job"));
}

TEST_CASE("times that cannot have happened are refused with their operation") {
  const PlannedJob plan = straggler_and_reduce();
  const JobProgram program(plan.graph);
  RankTimes times = times_of(0, program);
  times.times[0].end = FabricTime::from_ps(-1);
  CHECK(mentions(error_in(times, program), "a time that is none"));
  times = times_of(0, program);
  times.times[0].begin = times.times[0].end + kPicosecond;
  CHECK(mentions(error_in(times, program), "op 0 (compute"));
  CHECK(mentions(error_in(times, program), "an end before its begin"));
  times = times_of(0, program);
  times.times[0].begun_by = program.ops_of(1)[0];
  CHECK(mentions(error_in(times, program), "none of this rank"));
  times = times_of(0, program);
  times.times[0].begun_by = program.ops_of(0).back();
  CHECK(mentions(error_in(times, program), "began later"));
  times = times_of(0, program);
  times.times[0].ended_by = 0;
  CHECK(mentions(error_in(times, program), "not its send"));
}
