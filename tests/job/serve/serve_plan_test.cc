// What a `serve:` entry becomes: who serves whom, how large its messages are, and when its requests have their tokens on a
// network where that can be worked out by hand.

#include <doctest/doctest.h>

#include <algorithm>

#include "job/run/ideal_run.h"
#include "job/serve/cache_size.h"
#include "job/serve/plan_serve.h"
#include "job/serve/serve_keys.h"
#include "job/serve/serve_measures.h"
#include "job/serve/serve_schedule.h"
#include "tests/support/errors.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::job;

namespace {

ServeSpec serve_entry(const std::string& body) {
  const Topology topology = test::octet();
  NameResolver names(topology, 1);
  return read_serve(read_yaml_text(body, "a.yaml"), names);
}

/// llama3-8b: 32 layers, 4 KiB of keys and values a token and layer.
std::string small_entry(const std::string& more) {
  return "{model: {preset: llama3-8b, blocks: 1}, prefill: {hosts: h0, token: 32us}, "
         "decode: {hosts: h1, step: 320us}, " +
         more + "}";
}

struct IdealService {
  PlannedService planned;
  ServeMeasures measures;
};

IdealService run_ideally(const ServeSpec& spec, const IdealNetwork& network) {
  IdealService service{plan_serve(spec, 1), {}};
  const JobProgram program(service.planned.job.graph);
  service.measures = measure_serve(service.planned.job, service.planned.plan, program,
                                   ideal_times(program, network));
  return service;
}

constexpr IdealNetwork kServiceNetwork{BitRate::from_gbps(8), FabricTime::from_ns(100)};

}  // namespace

TEST_CASE("a token's keys and values are as large as models' makers have them") {
  const auto all_layers = [](const char* preset) {
    ServeModel model;
    model.preset = preset;
    return cache_bytes(model_shape(preset), model) * model_shape(preset).layers;
  };
  CHECK(all_layers("llama3-8b") == 128 * 1024);
  CHECK(all_layers("llama3-70b") == 320 * 1024);
  CHECK(all_layers("llama3-405b") == 504 * 1024);
  CHECK(all_layers("qwen3-235b") == 188 * 1024);
  CHECK(all_layers("deepseek-v3") == 61 * (512 + 64) * 2);
  ServeModel deepseek;
  deepseek.preset = "deepseek-v3";
  deepseek.fp8_dispatch = true;
  // DeepEP's message of a token and expert without its head: 7168 and 56 scales; back in BF16.
  CHECK(dispatch_bytes(model_shape("deepseek-v3"), deepseek, 1) == 8 * (7168 + 56 * 4));
  CHECK(combine_bytes(model_shape("deepseek-v3"), 1) == 8 * 14336);
}

TEST_CASE("a service reads back as it was written, and what is wrong with one is refused by name") {
  const std::string body =
      "{name: chat, model: {preset: mixtral-8x7b, blocks: 2, cache: fp8}, prefill: {hosts: 2, token: 100us}, "
      "decode: {hosts: [h6, h5, h4, h7], step: 20ms, batch: 8, ep: 4, spare: 5}, requests: {rate: 2.5/s, "
      "count: 3, spread: 20%}, kv: whole, scale: 1/20, objective: {ttft: 450ms, tpot: 40ms}}";
  const ServeSpec spec = serve_entry(body);
  CHECK(spec.prefill.hosts == std::vector<uint32_t>{0, 1});
  CHECK(spec.decode.hosts == std::vector<uint32_t>{6, 5, 4, 7});
  CHECK(spec.drawn->milli_rate == 2500);
  CHECK_FALSE(spec.kv_by_layer);
  CHECK(serve_entry(serve_text(spec)) == spec);
  const std::string requests = "requests: {rate: 1/s, count: 1}";
  const std::vector<std::pair<std::string, std::string>> cases{
      {small_entry("kv: layers"), "no requests"},
      {small_entry(requests + ", trace: {file: a}"), "\"requests\" and \"trace\""},
      {small_entry("requests: {rate: 0/s, count: 1}"), "requests a second"},
      {small_entry("requests: {rate: 1.2345/s, count: 1}"), "requests a second"},
      {"{model: llama3-8b, prefill: {hosts: 8, token: 1us}, decode: {hosts: 1, step: 1us}, " +
           requests + "}",
       "at most the 0 hosts that are left"},
      {"{model: llama3-8b, prefill: {hosts: h1, token: 1us}, decode: {hosts: [h1], step: 1us}, " +
           requests + "}",
       "h1 twice"},
      {"{model: llama3-8b, prefill: {hosts: 1, token: 1us}, decode: {hosts: 4, step: 1us, ep: 2}, " +
           requests + "}",
       "a model without experts"},
      {"{model: mixtral-8x7b, prefill: {hosts: 1, token: 1us}, decode: {hosts: 4, step: 1us, ep: 3}, " +
           requests + "}",
       "a divisor of the 4 ranks"},
      {"{model: {preset: llama3-8b, blocks: 64}, prefill: {hosts: 1, token: 1us}, decode: {hosts: 1, "
       "step: 1us}, " +
           requests + "}",
       "at most the model's 32 layers"}};
  for (const auto& [entry, expected] : cases) {
    const std::string error = test::error_of([&, entry = entry] { serve_entry(entry); });
    CAPTURE(error);
    CHECK(error.find(expected) != std::string::npos);
  }
}

TEST_CASE("a request's times are those of its prompt, its cache's way and its iterations") {
  // One layer of 32: a token of a prompt takes 1 us and leaves 4096 B, an iteration takes 10 us.
  ServeSpec spec =
      serve_entry(small_entry("requests: {rate: 1/s, count: 1, input: 10, output: 3}"));
  const IdealService service = run_ideally(spec, kServiceNetwork);
  const PlannedRequest& planned = service.planned.plan.requests.at(0);
  const RequestMeasure& measure = service.measures.requests.at(0);
  CHECK(planned.cache_bytes == 40960);
  CHECK(measure.begun == planned.request.arrival);
  CHECK(measure.computed - measure.begun == FabricTime::from_us(10));
  CHECK(measure.cached - measure.computed == FabricTime::from_ns(40960 + 100));
  // Iterations begin when the schedule's faster network would have brought the cache: some are over by then.
  CHECK(measure.joined >= measure.cached);
  CHECK(measure.joined - measure.cached < FabricTime::from_us(10));
  CHECK(measure.first_token - measure.joined == FabricTime::from_us(10));
  CHECK(measure.last_token - measure.first_token == FabricTime::from_us(20));
  CHECK(measure.tokens == 3);
  CHECK(measure.fabric_ttft() == FabricTime::from_ns(40960 + 100));
  CHECK(measure.fabric_tpot() == FabricTime::zero());
  REQUIRE(service.measures.messages.size() == 1);
  CHECK(service.measures.messages[0].group == "kv");
  CHECK(service.measures.messages[0].times == std::vector<FabricTime>{FabricTime::from_ns(41060)});
}

TEST_CASE("bytes, computing and gaps between requests shrink by one factor") {
  const std::string requests = "requests: {rate: 100/s, count: 20, input: 1000, spread: 30%}";
  const PlannedService whole = plan_serve(serve_entry(small_entry(requests)), 7);
  const PlannedService tenth = plan_serve(serve_entry(small_entry(requests + ", scale: 1/10")), 7);
  CHECK(tenth.plan.compression == 10 * whole.plan.compression);
  REQUIRE(whole.plan.requests.size() == 20);
  for (size_t i = 0; i < 20; ++i) {
    const PlannedRequest& a = whole.plan.requests[i];
    const PlannedRequest& b = tenth.plan.requests[i];
    CHECK(a.request.input == b.request.input);
    CHECK(a.request.input >= 700);
    CHECK(a.request.input <= 1300);
    CHECK(std::abs(a.request.arrival.us() - 10 * b.request.arrival.us()) < 0.001);
    CHECK(a.cache_bytes / 10 <= b.cache_bytes);
    CHECK(b.cache_bytes < a.cache_bytes / 10 + kElementBytes);
  }
  // 20 gaps with a mean of 10 ms / 32 each.
  CHECK(whole.plan.requests.back().request.arrival > FabricTime::from_ms(2));
  CHECK(whole.plan.requests.back().request.arrival < FabricTime::from_ms(20));
  CHECK(plan_serve(serve_entry(small_entry(requests)), 8).plan.requests[0].request.arrival !=
        whole.plan.requests[0].request.arrival);
}

TEST_CASE("requests go to the rank that has least to do, and no batch is larger than stated") {
  const ServeSpec spec = serve_entry(
      "{model: {preset: llama3-8b, blocks: 1}, prefill: {hosts: 2, token: 32us}, "
      "decode: {hosts: 2, step: 32ms, batch: 2}, requests: {rate: 1000/s, count: 8, input: 10, output: 4}}");
  const Requests requests = requests_of(spec, 3);
  const ServeSchedule schedule = serve_schedule(spec, requests.list);
  std::vector<int> of_prefill(2), of_decode(2);
  for (const ServedBy& by : schedule.served_by) ++of_prefill[by.prefill], ++of_decode[by.decode];
  CHECK(of_prefill == std::vector<int>{4, 4});
  CHECK(of_decode == std::vector<int>{4, 4});
  for (const auto& iterations : schedule.iterations) {
    CHECK(iterations.size() >= 8 + spec.decode.spare);
    for (const ScheduledIteration& one : iterations) CHECK(one.most_tokens <= 2);
  }
  // A batch of two: of four requests at a rank the last two wait until the first two have their four tokens.
  const IdealService service = run_ideally(spec, {BitRate::from_gbps(800), FabricTime::from_us(1)});
  std::vector<FabricTime> joined;
  for (size_t i = 0; i < 8; ++i) {
    if (schedule.served_by[i].decode == 0) joined.push_back(service.measures.requests[i].joined);
    CHECK(service.measures.requests[i].tokens == 4);
  }
  std::sort(joined.begin(), joined.end());
  CHECK(joined[2] - joined[0] >= FabricTime::from_ms(4));
}

TEST_CASE("ranks that share experts have their iterations together, with two exchanges a layer") {
  const ServeSpec spec = serve_entry(
      "{model: {preset: mixtral-8x7b, blocks: 2}, prefill: {hosts: 1, token: 32us}, "
      "decode: {hosts: 4, step: 320us, ep: 2}, requests: {rate: 1000/s, count: 2, input: 10, output: 2}}");
  const IdealService service = run_ideally(spec, kServiceNetwork);
  const ServePlan& plan = service.planned.plan;
  REQUIRE(plan.iterations.size() == 4);
  CHECK(plan.iterations[0].size() == plan.iterations[1].size());
  const PlannedIteration& first = plan.iterations[0][0];
  CHECK(first.end - first.first == 8);  // 2 layers: computing, there, computing, back
  const Op& dispatch = service.planned.job.graph.op(first.first + 1);
  CHECK(dispatch.kind == OpKind::kCollective);
  CHECK(dispatch.bytes == 2 * 4096 * 2);  // one token to two experts
  for (const RequestMeasure& request : service.measures.requests) {
    REQUIRE(request.tokens == 2);
    // Of its iteration 20 us are computing; four exchanges, of which half stays, take 8192 ns and the way there and back.
    CHECK(request.fabric_tpot() == FabricTime::from_ns(8192 + 200) * 4);
  }
}
