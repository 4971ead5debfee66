// What is wrong with a `job:` entry is reported where it stands, with what would be right.

#include <doctest/doctest.h>

#include "job/plan/job_keys.h"
#include "job/plan/plan_job.h"
#include "tests/support/errors.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::job;

TEST_CASE("mistakes in a job are refused by name") {
  const Topology topology = test::octet();
  const std::string compute = "{c: {compute: 1us}}";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"{hosts: all}", "no work"},
      {"{hosts: [h1, h2, h1], phases: [" + compute + "]}", "h1 twice"},
      {"{hosts: h1, phases: [" + compute + "]}", "1 hosts"},
      {"{hosts: all, groups: {tp: 3, dp: 4}, phases: [" + compute + "]}",
       "groups multiply to 12, ranks are 8"},
      {"{hosts: all, groups: {xx: 8}, phases: [" + compute + "]}", "a size of the group \"xx\""},
      {"{hosts: all, groups: {a: [[0, 1], [1, 2]]}, phases: [" + compute + "]}",
       "group a has rank 1 twice"},
      {"{hosts: all, groups: {a: [[0, 9]]}, phases: [" + compute + "]}", "ranks are 0 to 7"},
      {"{hosts: all, phases: [" + compute + ", " + compute + "]}", "a second phase \"c\""},
      {"{hosts: all, phases: [{c: {compute: 1us, barrier: {}}}]}", "a second work \"barrier\""},
      {"{hosts: all, phases: [{c: {after: []}}]}", "no work"},
      {"{hosts: all, phases: [{c: {compute: 0us}}]}", "a time above 0"},
      {"{hosts: all, phases: [{c: {compute: 1us, after: d}}]}", "\"d\", which does not exist"},
      {"{hosts: all, phases: [{c: {compute: 1us, after: d}}, {d: {compute: 1us, after: c}}]}",
       "phases wait for each other: c -> d -> c"},
      {"{hosts: all, phases: [{x: {barrier: {}}}, {y: {barrier: {}, beside: x}}]}",
       "x does not compute"},
      {"{hosts: all, phases: [{x: {all_reduce: {}}}]}", "no \"size\""},
      {"{hosts: all, phases: [{x: {all_reduce: {size: 1MiB, skew: zipf 1}}}]}",
       "skew of all_reduce"},
      {"{hosts: all, phases: [{x: {all_to_all: {size: 1MiB, skew: 0.5}}}]}",
       "zipf and an exponent"},
      {"{hosts: all, phases: [{x: {all_reduce: {size: 1MiB, group: dp}}}]}",
       "the group \"dp\": expected one of all"},
      {"{hosts: all, groups: {pp: 2, dp: 4}, phases: [{x: {barrier: {}, each: microbatch}}]}",
       "ranks of several pp stages"},
      {"{hosts: all, groups: {pp: 2, dp: 4}, phases: [{x: {send: {to: prev, size: 8B}, each: microbatch}}]}",
       "from stage 1 to stage 0 in the forward pass"},
      {"{hosts: all, phases: [" + compute + "], trace: x}", "\"phases\" and \"trace\""},
      {"{hosts: all, trace: no-such-file}", "no-such-file"},
      {"{hosts: all, warmup: 1, phases: [" + compute + "]}", "fewer than the 1 steps"},
      {"{hosts: all, scale: 1/0, phases: [" + compute + "]}", "such as 1/1000"},
      {"{hosts: all, slow: [{rank: 8, by: 1%}], phases: [" + compute + "]}", "a rank below 8"},
      {"{hosts: all, nodes: {size: 3, rate: 1Gb/s}, phases: [" + compute + "]}",
       "a size that divides the 8 ranks"},
      {"{hosts: all, model: {preset: llama4}}", "llama3-"},
      {"{hosts: all, groups: {ep: 8}, model: {preset: llama3-8b}}", "has no experts: ep is 8"},
      {"{hosts: all, model: {preset: llama3-8b, peak: 3}}", "such as 989Tflop/s"}};
  for (const auto& row : cases) {
    const std::string body = row.first, expected = row.second;  // clang 14 captures no binding
    CAPTURE(body);
    NameResolver names(topology, 1);
    const std::string error = test::error_of(
        [&, text = body] { plan_job(read_job(read_yaml_text(text, "a.yaml"), names), 1); });
    CAPTURE(error);
    CHECK(error.find(expected) != std::string::npos);
    if (body.find("no-such-file") == std::string::npos) CHECK(error.starts_with("a.yaml:1:"));
  }
}
