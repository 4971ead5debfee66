// Any bytes as a job of others, in each format; what can be read runs on an ideal network to its end, and the parts of its
// step and of its critical path sum to its time. And as a trace of requests, or a file that places ranks.

#include <algorithm>
#include <string>
#include <vector>

#include "fabric/text/input_error.h"
#include "job/graph/graph_check.h"
#include "job/import/chakra_file.h"
#include "job/import/cm_file.h"
#include "job/import/goal_file.h"
#include "job/import/host_file.h"
#include "job/import/measured_folder.h"
#include "job/import/simai_file.h"
#include "job/measure/job_measures.h"
#include "job/run/critical_path.h"
#include "job/run/ideal_run.h"
#include "job/serve/request_trace.h"
#include "tests/fuzz/must.h"

using namespace mrclab;
using namespace mrclab::job;

namespace {

Trace read_as_measured(TraceFormat format, const std::string& text, const std::string& name,
                       const TraceOptions& options) {
  return measured_job(format, read_measured(format, text, name), name, options);
}

Trace read_as(uint8_t format, const std::string& text) {
  static const std::string name = "input";
  TraceOptions options;
  options.ranks = 4;
  options.time_unit = TimeUnit::kNanoseconds;
  switch (format % 8) {
    case 0: return read_cm(text, name, options);
    case 1: return read_simai(text, name, options);
    case 2: return read_goal_text(text, name, options);
    case 3: return read_goal_binary(text, name, options);
    case 5: return read_as_measured(TraceFormat::kPyTorchEt, text, name, options);
    case 6: return read_as_measured(TraceFormat::kKineto, text, name, options);
    case 7: return read_as_measured(TraceFormat::kInspector, text, name, options);
    default: break;
  }
  const size_t half = text.size() / 2;
  return read_chakra({text.substr(0, half), text.substr(half)}, {"input.0", "input.1"}, options);
}

void run_ideally(const OpGraph& graph) {
  constexpr size_t kMostOps = 2'000;
  if (graph.ops().size() > kMostOps) return;
  const JobProgram program(graph);
  if (program.graph().ops().size() > kMostOps * 8) return;
  const OpTimes times = ideal_times(program, {BitRate::from_gbps(800), FabricTime::from_us(5)});
  FabricTime end;
  for (const OpTime& time : times) {
    MUST(time.end != FabricTime::never());
    MUST(time.begin <= time.end);
    end = std::max(end, time.end);
  }
  FabricTime sum;
  for (const PathPiece& piece : critical_path(program.messages(), times))
    sum += piece.end - piece.begin;
  MUST(sum == end);
  PlannedJob plan{.name = "input", .graph = graph, .step_of = {}, .label_of = {}, .labels = {{}}};
  plan.step_of.resize(graph.ops().size());
  plan.label_of.resize(graph.ops().size());
  const JobMeasures measures = measure_job(plan, program, times);
  if (measures.finished == 0) return;  // nothing to do
  const StepMeasure& step = measures.steps[0];
  MUST(step.time() == end);
  MUST(step.compute + step.exposed + step.bubble == end);
  MUST(step.bubble >= FabricTime::zero());
  FabricTime parts;
  for (const PathPart& part : step.path) parts += part.time;
  MUST(parts == end);
}

/// First bytes from here on are for logs of NCCL, files of hosts, and traces of requests.
constexpr uint8_t kNcclLogs = 0xE0, kHostFiles = 0xE8, kRequests = 0xF0;

void read_as_hosts(uint8_t format, const std::string& text) {
  const std::vector<PlacedRank> ranks =
      read_host_file(text, static_cast<HostFileFormat>(format % 3), "input");
  MUST(!ranks.empty() && ranks.size() <= kMaxRanks);
  std::string lines;
  for (const PlacedRank& rank : ranks) {
    MUST(!rank.host.empty() && rank.host.size() <= kMaxHostName);
    lines += rank.host + "\n";
  }
  // A host a line is a list of tasks, in the same order.
  const std::vector<PlacedRank> again = read_host_file(lines, HostFileFormat::kSlurm, "input");
  MUST(again.size() == ranks.size());
  for (size_t i = 0; i < ranks.size(); ++i) MUST(again[i].host == ranks[i].host);
}

void read_as_requests(const std::string& text) {
  constexpr uint32_t kMost = 64;
  const RequestTrace trace = read_requests(text, "input", std::nullopt, kMost);
  MUST(!trace.requests.empty() && trace.requests.size() <= kMost);
  FabricTime last;
  for (const TracedRequest& request : trace.requests) {
    MUST(request.arrival >= last);
    MUST(request.input >= 1 && request.input <= kMaxTokens);
    MUST(request.output >= 1 && request.output <= kMaxTokens);
    last = request.arrival;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    if (data[0] >= kRequests) {
      read_as_requests(text);
      return 0;
    }
    if (data[0] >= kHostFiles) {
      read_as_hosts(data[0] - kHostFiles, text);
      return 0;
    }
    const Trace trace = data[0] >= kNcclLogs
                            ? read_measured_file(TraceFormat::kNccl, text, "input", {})
                            : read_as(data[0], text);
    check_graph(trace.graph);
    run_ideally(trace.graph);
  } catch (const InputError&) {
    // What a user is shown.
  }
  return 0;
}
