// Sizes of models against those that their makers state (job/plan/model_shape.h names the places), and the phases that they become.

#include "job/plan/model_shape.h"

#include <doctest/doctest.h>

#include "job/plan/model_phases.h"
#include "job/plan/plan_job.h"

using namespace mrclab;
using namespace mrclab::job;

namespace {

double giga(uint64_t count) { return static_cast<double>(count) / 1e9; }

JobSpec model_job(const char* preset, std::vector<GroupKind> groups, uint32_t ranks) {
  JobSpec spec;
  for (uint32_t rank = 0; rank < ranks; ++rank) spec.hosts.push_back(rank);
  spec.groups = std::move(groups);
  spec.model.emplace();
  spec.model->preset = preset;
  return spec;
}

}  // namespace

TEST_CASE("models have the parameters that their names and papers give") {
  const auto close = [](double found, double stated) {
    return doctest::Approx(stated).epsilon(0.01) == found;
  };
  CHECK(close(giga(parameters(model_shape("llama3-8b"))), 8.03));
  CHECK(close(giga(parameters(model_shape("llama3-70b"))), 70.6));
  CHECK(close(giga(parameters(model_shape("llama3-405b"))), 405.9));
  CHECK(close(giga(parameters(model_shape("gpt3-175b"))), 175.2));
  CHECK(close(giga(parameters(model_shape("mixtral-8x7b"))), 46.7));
  CHECK(close(giga(active_parameters(model_shape("mixtral-8x7b"))), 12.9));
  CHECK(close(giga(parameters(model_shape("deepseek-v3"))), 671));
  CHECK(close(giga(active_parameters(model_shape("deepseek-v3"))), 37.5));
  CHECK(close(giga(parameters(model_shape("qwen3-235b"))), 235));
  CHECK(close(giga(active_parameters(model_shape("qwen3-235b"))), 22));
}

TEST_CASE("what a rank exchanges is what papers give") {
  ModelSpec spec{.preset = "llama3-405b"};
  LayerCost cost = layer_cost(model_shape("llama3-405b"), spec, {.tp = 8, .pp = 16, .dp = 64});
  CHECK(cost.tensor_bytes == 268'435'456);   // 268 MB
  CHECK(cost.boundary_bytes == 33'554'432);  // 33.6 MB
  // A rank's shard: 3.17 G parameters, gathered in 6.3 GB and reduced in 12.7 GB.
  CHECK(giga(cost.dense_parameters * 126 / 16) == doctest::Approx(3.17).epsilon(0.01));
  spec.preset = "gpt3-175b";
  cost = layer_cost(model_shape("gpt3-175b"), spec, {.tp = 8, .pp = 8, .dp = 192});
  CHECK(cost.tensor_bytes == 50'331'648);
  CHECK(cost.boundary_bytes == 6'291'456);
  spec.preset = "deepseek-v3";
  spec.fp8_dispatch = true;
  cost = layer_cost(model_shape("deepseek-v3"), spec, {.ep = 64, .pp = 16});
  CHECK(giga(cost.dispatch_bytes) == doctest::Approx(0.242).epsilon(0.01));
  CHECK(giga(cost.combine_bytes) == doctest::Approx(0.470).epsilon(0.01));
}

TEST_CASE("a step of Llama 3 405B computes as long as 6 P T / (N F)") {
  // 8192 ranks at 430 TFLOP/s, 16 Mi tokens: 11.6 s (Llama 3, table 4). Of one rank: 32 sequences of 8192.
  JobSpec spec = model_job("llama3-405b", {{"tp", 8}, {"pp", 16}, {"dp", 8}}, 1024);
  spec.model->mfu = {Probability::kOne};
  spec.model->peak_flops = 430'000'000'000'000;
  spec.model->blocks = 128;
  FabricTime computing;
  for (const Phase& phase : model_phases(spec).phases) {
    if (const auto* work = std::get_if<ComputeWork>(&phase.work)) computing += work->time;
  }
  const double seconds = (computing * 32).us() / 1e6;
  CHECK(seconds == doctest::Approx(11.6).epsilon(
                       0.03));  // 8 layers in each of 16 stages are 128, of which 126 exist
}

TEST_CASE("the phases of every model make a job that can be run") {
  for (const ModelShape& shape : model_shapes()) {
    CAPTURE(shape.name);
    const bool experts = shape.experts > 0;
    JobSpec spec = model_job(std::string(shape.name).c_str(),
                             {{"tp", 2}, {"cp", 2}, {experts ? "ep" : "dp", 2}, {"pp", 2}}, 16);
    spec.microbatches = 2;
    spec.scale = 100'000;
    spec.model->sequence = 4096;
    const PlannedJob job = plan_job(spec, 1);
    REQUIRE(job.notes.size() >= 2);
    CHECK(job.notes[1].find("layers of a stage") != std::string::npos);
    uint32_t moved = 0;
    for (const Op& op : job.graph.ops()) {
      moved += op.kind == OpKind::kCollective && op.collective == Collective::kAllToAll;
    }
    // Two blocks, forward and backward, there and back, two micro-batches, in all ranks.
    CHECK(moved == (experts ? 2u * 2 * 2 * 2 * 16 : 0u));
  }
}
