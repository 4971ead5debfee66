// Jobs put together at random: what is accepted comes to its end, whatever waits for what.

#include <doctest/doctest.h>

#include <array>

#include "job/plan/job_keys.h"
#include "job/plan/plan_job.h"
#include "job/run/ideal_run.h"
#include "tests/support/fabrics.h"
#include "tests/support/property.h"

using namespace mrclab;
using namespace mrclab::job;

namespace {

/// Uniform from 0 to `most`.
int pick(int most) { return *rc::gen::inRange(0, most + 1); }

template <size_t N>
std::string one_word(const std::array<const char*, N>& words) {
  return words[static_cast<size_t>(pick(static_cast<int>(N) - 1))];
}

std::string random_work(const std::string& group) {
  const std::string of_group = "{group: " + group, parts = std::to_string(1 + pick(3));
  switch (pick(4)) {
    case 0:
      return "send: " + of_group + ", size: 1KiB, parts: " + parts +
             ", to: " + one_word<4>({"next", "prev", "right", "left"}) + "}";
    case 1: return "all_reduce: " + of_group + ", size: 64B, parts: " + parts + "}";
    case 2: return "all_to_all: {size: 1KiB, skew: zipf 1}";
    default: return "compute: 1us";
  }
}

/// The body of a job of eight ranks, which may be none that can be run.
std::string random_entry() {
  const bool pipelined = pick(2) > 0;
  const std::string groups = pipelined ? "{tp: 2, pp: 2, dp: 2}" : "{tp: 4, ep: 2}";
  std::string phases;
  bool in_backward = false;
  for (int i = 0, count = 1 + pick(7); i < count; ++i) {
    std::string body = random_work(pipelined ? one_word<3>({"tp", "pp", "dp"})
                                             : one_word<3>({"tp", "ep", "tp+ep"}));
    in_backward = in_backward || pick(3) == 0;
    if (pick(1) == 0) body += ", each: microbatch";
    if (in_backward) body += ", pass: backward";
    if (i > 0 && pick(2) == 0) {
      body += ", " + one_word<4>({"after", "after", "beside", "with"}) + ": p" +
              std::to_string(pick(i - 1));
    }
    phases += std::string(i > 0 ? ", " : "") + "{p" + std::to_string(i) + ": {" + body + "}}";
  }
  return "{hosts: all, groups: " + groups +
         ", steps: 2, microbatches: " + std::to_string(1 + pick(4)) +
         ", collective: {all_reduce: tree, channels: 2}, phases: [" + phases + "]}";
}

std::optional<PlannedJob> planned(const std::string& body) {
  const Topology topology = test::octet();
  NameResolver names(topology, 1);
  try {
    return plan_job(read_job(read_yaml_text(body, "a.yaml"), names), 1);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("whatever a job is put together from, all of it ends") {
  const IdealNetwork network{BitRate::from_gbps(8), FabricTime::from_ns(100)};
  const std::string counterexample = test::counterexample(
      [&] {
        const std::string body = random_entry();
        RC_LOG() << body;
        const std::optional<PlannedJob> job = planned(body);
        RC_PRE(job.has_value());
        for (const OpTime& time : ideal_times(JobProgram(job->graph), network)) {
          RC_ASSERT(time.end != FabricTime::never());
        }
      },
      100);
  CHECK(counterexample == "");
}
