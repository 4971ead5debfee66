// Jobs out of what profilers measured: PyTorch's execution traces and Kineto's, and the lines of NCCL's Inspector.

#include <doctest/doctest.h>

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "job/graph/graph_check.h"
#include "job/import/inspector_file.h"
#include "job/import/json_elements.h"
#include "job/import/pytorch_file.h"
#include "job/import/trace_file.h"
#include "job/measure/inspector_lines.h"
#include "tests/job/measured_jobs.h"
#include "tests/support/errors.h"
#include "tests/support/texts.h"

using namespace mrclab;
using namespace mrclab::job;
using namespace mrclab::job::made;
using mrclab::test::error_of;
using mrclab::test::mentions;

namespace {

/// A folder that goes away with the test.
struct RankFolder {
  RankFolder() {
    std::string name = std::filesystem::temp_directory_path() / "mrclab-ranks-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder = name;
  }
  ~RankFolder() { std::filesystem::remove_all(folder); }
  std::filesystem::path folder;
};

std::vector<FabricTime> computing_of(const OpGraph& graph, uint32_t rank) {
  std::vector<FabricTime> times;
  for (const Op& op : graph.ops()) {
    if (op.rank == rank && op.kind == OpKind::kCompute) times.push_back(op.duration);
  }
  return times;
}

std::string kernel(int ts, int dur, const std::string& args = "") {
  return R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)" + std::to_string(ts) +
         R"(,"dur":)" + std::to_string(dur) + R"(,"args":{)" + args + "}}";
}
std::string exchange(const std::string& name, int in, int out, const std::string& ranks, int size) {
  return R"("Collective name":")" + name + R"(","In msg nelems":)" + std::to_string(in) +
         R"(,"Out msg nelems":)" + std::to_string(out) + R"(,"Group size":)" +
         std::to_string(size) +
         R"(,"dtype":"Float","Process Group Name":"dp","Process Group Ranks":")" + ranks + "\"";
}
std::string kineto(const std::vector<std::string>& events, int rank = 0) {
  std::string text = R"({"schemaVersion":1,"distributedInfo":{"rank":)" + std::to_string(rank) +
                     R"(},"traceEvents":[{"ph":"M","name":"process_name"})";
  for (const std::string& event : events) text += "," + event;
  return text + "],\"traceName\":\"t\"}";
}

}  // namespace

TEST_CASE("a PyTorch execution trace becomes the exchanges of all ranks, in their order") {
  const Trace trace =
      read_trace(MRCLAB_SOURCE_DIR "/tests/job/samples/pytorch-et-resnet_2gpu-comms.json", {});
  CHECK(trace.format == TraceFormat::kPyTorchEt);
  CHECK(trace.graph.ranks() == 2);
  REQUIRE(trace.graph.ops().size() == 2 * 21);
  std::vector<uint64_t> reduced;
  size_t broadcasts = 0;
  for (const Op& op : trace.graph.ops()) {
    if (op.rank != 1) continue;
    if (op.collective == Collective::kAllReduce) reduced.push_back(op.bytes);
    broadcasts += op.collective == Collective::kBroadcast;
  }
  CHECK(broadcasts == 6);
  REQUIRE(reduced.size() == 15);  // three steps of five buckets
  CHECK(reduced[0] == 2'049'000 * 4);
  CHECK(reduced[4] == 2'431'040 * 4);
  CHECK(reduced[5] == reduced[0]);
  CHECK(trace.notes.size() == 2);
}

TEST_CASE("an asynchronous exchange of an execution trace ends where a wait names it") {
  const auto node = [](const std::string& name, const std::string& values,
                       const std::string& group) {
    return R"({"id":1,"name":"record_param_comms","inputs":{"values":[)" + values +
           R"(]},"attrs":[{"name":"collective_name","value":")" + name +
           R"("},{"name":"dtype","value":"Half"},{"name":"in_msg_nelems","value":100},)"
           R"({"name":"out_msg_nelems","value":200},{"name":"pg_name","value":")" +
           group + R"("},{"name":"pg_size","value":2}]})";
  };
  const std::string text = R"({"schema":"1.1.0","nodes":[)" + node("_allgather_base", "0,33", "a") +
                           "," + node("allreduce", "0,34", "b") + "," + node("wait", "33", "") +
                           "," + node("allreduce", "0,35", "b") + "]}";
  const MeasuredRank rank = read_pytorch_et(text, "a.json");
  REQUIRE(rank.exchanges.size() == 3);
  CHECK(rank.exchanges[0].bytes == 400);
  CHECK(rank.exchanges[1].bytes == 200);
  const Trace trace = measured_job(TraceFormat::kPyTorchEt, {rank}, "a.json", {});
  check_graph(trace.graph);
  REQUIRE(trace.graph.ops().size() == 6);
  CHECK(trace.graph.dependencies(trace.graph.op(1)).empty());      // beside the gather
  CHECK(trace.graph.dependencies(trace.graph.op(2)).size() == 2);  // behind both
  const MeasuredRank rooted = read_pytorch_et(
      R"({"schema":"1.1.0","nodes":[)" + node("broadcast", "0,33,0,1", "a") + "]}", "a.json");
  const Trace from = measured_job(TraceFormat::kPyTorchEt, {rooted}, "a.json", {});
  CHECK(from.graph.op(0).peer == 1);
}

TEST_CASE("a Kineto trace becomes computing and exchanges that overlap as they were measured") {
  const std::string all = exchange("allreduce", 1000, 1000, "[0, 1]", 2);
  const Trace trace =
      measured_job(TraceFormat::kKineto,
                   {read_kineto(kineto({kernel(5000, 100), kernel(5100, 50, all), kernel(5120, 20),
                                        kernel(5160, 40), kernel(5200, 10, all), kernel(5210, 5)}),
                                "a.json")},
                   "a.json", {});
  check_graph(trace.graph);
  CHECK(trace.graph.ranks() == 2);
  // 100 before; 20 beside the first; then 50, the kernel's 40 and 10 in which the host kept the GPU waiting; 5.
  CHECK(computing_of(trace.graph, 1) ==
        std::vector{FabricTime::from_us(100), FabricTime::from_us(20), FabricTime::from_us(50),
                    FabricTime::from_us(5)});
  const JobProgram program(trace.graph);
  const auto end_at = [&](BitRate rate) {
    FabricTime end;
    for (const OpTime& time : ideal_times(program, {rate, {}})) end = std::max(end, time.end);
    return end;
  };
  // 4000 bytes at 8 Gb/s: 4 us each, and the first hides under 20.
  CHECK(end_at(BitRate::from_gbps(8)) == FabricTime::from_us(175 + 4));
  // At 0.32 Gb/s: 100 us each: only the first 20 are hidden.
  CHECK(end_at({320'000'000}) == FabricTime::from_us(175 + 100 + 80));
}

TEST_CASE("a Kineto trace has the steps that its profiler marked") {
  const auto mark = [](int number, int ts, const std::string& category) {
    return R"({"ph":"X","cat":")" + category + R"(","name":"ProfilerStep#)" +
           std::to_string(number) + R"(","ts":)" + std::to_string(ts) + R"(,"dur":9})";
  };
  const std::string all = exchange("allreduce", 1000, 1000, "[0, 1]", 2);
  const std::vector<std::string> work{kernel(5000, 100), kernel(5100, 50, all), kernel(5200, 30),
                                      kernel(5240, 60), kernel(5300, 10, all)};
  const auto steps_of = [&](std::vector<std::string> events) {
    events.insert(events.end(), work.begin(), work.end());
    const Trace trace =
        measured_job(TraceFormat::kKineto, {read_kineto(kineto(events), "a")}, "a", {});
    check_graph(trace.graph);
    std::string text = std::to_string(trace.steps) + ":";
    for (uint32_t i = 0; i < trace.step_of.size(); ++i) {
      const Op& op = trace.graph.op(i);
      if (op.rank > 0) continue;
      text += (op.kind == OpKind::kCompute ? " c" : " x") + std::to_string(trace.step_of[i]);
    }
    return text;
  };
  // The second mark of the GPU is in the midst of computing; the host is ahead of it.
  CHECK(steps_of({mark(4, 4990, "gpu_user_annotation"), mark(5, 5220, "gpu_user_annotation"),
                  mark(5, 5230, "gpu_user_annotation"), mark(5, 5010, "user_annotation")}) ==
        "2: c0 x0 c0 c1 x1");
  CHECK(steps_of({mark(5, 5150, "user_annotation"), mark(4, 5000, "user_annotation")}) ==
        "2: c0 x0 c1 x1");
  CHECK(steps_of({mark(4, 4990, "user_annotation")}) == "1:");
  CHECK(steps_of({}) == "1:");
}

TEST_CASE("one rank stands for others in the groups that lie as its own do") {
  const std::string tensor = exchange("allreduce", 8, 8, "[0, 1]", 2);
  const std::string data = exchange("reduce_scatter_tensor", 8, 4, "[0, 2, ...]", 4);
  const MeasuredRank rank = read_kineto(kineto({kernel(0, 1, tensor), kernel(2, 1, data)}), "a");
  TraceOptions options;
  options.ranks = 16;
  const Trace trace = measured_job(TraceFormat::kKineto, {rank}, "a", options);
  check_graph(trace.graph);
  const auto group = [&](uint32_t index) {
    return trace.graph.groups()[trace.graph.op(index).group].ranks;
  };
  for (uint32_t i = 0; i < trace.graph.ops().size(); ++i) {
    if (trace.graph.op(i).kind != OpKind::kCollective || trace.graph.op(i).rank != 11) continue;
    const bool is_tensor = trace.graph.op(i).collective == Collective::kAllReduce;
    CHECK(group(i) ==
          (is_tensor ? std::vector<uint32_t>{10, 11} : std::vector<uint32_t>{9, 11, 13, 15}));
  }
  options.ranks = 12;
  CHECK(mentions(error_of([&] { measured_job(TraceFormat::kKineto, {rank}, "a", options); }),
                 "12 ranks: expected a multiple of 8"));
}

TEST_CASE("a folder has a file a rank, whose messages meet") {
  const RankFolder at;
  const std::filesystem::path& folder = at.folder;
  const auto peer = [](const std::string& name, const std::string& key, int rank) {
    return exchange(name, 10, 10, "[0, 1]", 2) + ",\"" + key + "\":" + std::to_string(rank);
  };
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
  };
  write("b.json", kineto({kernel(0, 9), kernel(9, 3, peer("send", "Dst Rank", 1))}, 0));
  write("a.json", kineto({kernel(0, 12, peer("recv", "Src Rank", 0)), kernel(12, 7)}, 1));
  const Trace trace = read_trace(folder, {});
  CHECK(trace.graph.ranks() == 2);
  CHECK(trace.graph.ops().size() == 4);
  CHECK(trace.graph.op(1).kind == OpKind::kSend);
  CHECK(trace.graph.op(1).bytes == 40);
  CHECK(computing_of(trace.graph, 1) == std::vector{FabricTime::from_us(7)});
  write("a.json", kineto({kernel(0, 12)}, 2));
  CHECK(mentions(error_of([&] { read_trace(folder, {}); }), "no file of rank 1"));
  write("a.json", kineto({kernel(0, 12)}, 0));
  CHECK(mentions(error_of([&] { read_trace(folder, {}); }), "rank 0 twice"));
}

TEST_CASE("what is written as Inspector's lines is read back as sizes, groups and gaps") {
  PlanMaker maker(3);
  const uint32_t all = maker.group({0, 1, 2}), two = maker.group({0, 2});
  for (const uint32_t rank : {0u, 1u, 2u}) maker.collective(Collective::kAllGather, rank, all, 900);
  maker.compute(0, 700);
  for (const uint32_t rank : {0u, 2u}) maker.collective(Collective::kAllReduce, rank, two, 2000);
  const PlannedJob plan = maker.plan();
  const JobProgram program(plan.graph);
  std::ostringstream out;
  const OpSpans spans = op_spans(plan, program, ideal_times(program, kByteANanosecond));
  write_inspector_lines(plan, spans, out);
  const std::vector<MeasuredRank> ranks = read_inspector(out.str(), "a.log");
  REQUIRE(ranks.size() == 3);
  REQUIRE(ranks[0].exchanges.size() == 2);
  CHECK(ranks[1].exchanges.size() == 1);
  const auto& of = ranks[0].exchanges;
  CHECK(of[0].bytes == 900);
  CHECK(of[1].bytes == 2000);
  CHECK(of[1].ranks == std::vector<uint32_t>{0, 2});
  CHECK(of[1].begin_ns - of[0].end_ns == 700);
  const Trace trace = measured_job(TraceFormat::kInspector, ranks, "a.log", {});
  check_graph(trace.graph);
  CHECK(computing_of(trace.graph, 0) == std::vector{FabricTime::from_ns(700)});
  const std::string lines = out.str();
  CHECK(mentions(error_of([&] { read_inspector(lines.substr(0, lines.find('\n')), "a.log"); }),
                 "lines of 1 of its 3 ranks"));
  CHECK(mentions(error_of([&] { read_inspector("\n{\"coll_perf\":{}}\n", "a.log"); }),
                 "a.log:2: header: expected rank below n_ranks"));
}

TEST_CASE("JSON that is none, too deep or of another shape is refused") {
  const auto error_in = [](const std::string& text) {
    return error_of([&] { read_kineto(text, "a.json"); });
  };
  CHECK(mentions(error_in("[1]"), "found a list"));
  CHECK(mentions(error_in("7"), "found no object"));
  CHECK(error_in("{\"traceEvents\":[{}") == "a.json: byte 19: no JSON");
  CHECK(mentions(error_in("{\"traceEvents\":{}}"), "expected a list"));
  CHECK(mentions(error_in("{\"traceEvents\":[" + std::string(100, '[')), "nests too deep"));
  CHECK(mentions(error_in("{\"a\":" + std::string(100, '[')), "nests too deep"));
  CHECK(mentions(error_in("{\"traceEvents\":[]}"), "no kernel of a GPU"));
  CHECK(mentions(error_in(kineto({kernel(0, -1)})), "event 2 of traceEvents: ts and dur"));
  CHECK(mentions(error_in(kineto({kernel(0, 1, exchange("allreduce", 1, 1, "[0, 1]", 3))})),
                 "group \"dp\" of size 3"));
  CHECK(mentions(error_of([&] {
                   read_pytorch_et(
                       "{\"schema\":\"1.0.1\",\"nodes\":[{\"name\":"
                       "\"record_param_comms\",\"id\":4}]}",
                       "a.json");
                 }),
                 "node 4: no collective_name: schema \"1.0.1\" is too old"));
}
