#include "job/serve/serve_measures.h"

#include <algorithm>
#include <deque>

namespace mrclab::job {
namespace {

constexpr FabricTime kNever = FabricTime::never();

/// An iteration of one rank, as it was.
struct RunIteration {
  FabricTime begin, end;
  FabricTime computing;
};

RunIteration run_iteration(const PlannedIteration& planned, const PlannedJob& job,
                           const OpSpans& spans) {
  RunIteration run{spans.ops[planned.first].begin, FabricTime::zero(), {}};
  for (uint32_t op = planned.first; op < planned.end; ++op) {
    const OpSpan& span = spans.ops[op];
    run.end = std::max(run.end, span.end);
    if (computes(job.graph.op(op)) && span.end != kNever) run.computing += span.end - span.begin;
  }
  return run;
}

class ServeMeter {
 public:
  ServeMeter(const PlannedJob& job, const ServePlan& plan, const OpSpans& spans)
      : job_(job), plan_(plan), spans_(spans), requests_(plan.requests.size()) {}

  std::vector<RequestMeasure> measure() {
    std::vector<std::vector<uint32_t>> of_rank(plan_.iterations.size());
    for (uint32_t i = 0; i < requests_.size(); ++i) {
      measure_prompt(plan_.requests[i], requests_[i]);
      of_rank[plan_.requests[i].decode_rank - plan_.prefill_ranks].push_back(i);
    }
    for (size_t rank = 0; rank < of_rank.size(); ++rank) decode(rank, of_rank[rank]);
    return std::move(requests_);
  }

 private:
  void measure_prompt(const PlannedRequest& planned, RequestMeasure& request) const {
    request.begun = spans_.ops[planned.first_compute].begin;
    request.computed = spans_.ops[planned.last_compute].end;
    request.cached = FabricTime::zero();
    for (const uint32_t receive : planned.receives) {
      request.cached = std::max(request.cached, spans_.ops[receive].end);
    }
  }

  /// Gives the requests of a decode rank the tokens of its iterations.
  void decode(size_t rank, std::vector<uint32_t> coming) {
    std::stable_sort(coming.begin(), coming.end(), [&](uint32_t a, uint32_t b) {
      return requests_[a].cached < requests_[b].cached;
    });
    size_t next = 0;
    std::vector<uint32_t> batch;
    for (const PlannedIteration& planned : plan_.iterations[rank]) {
      const RunIteration run = run_iteration(planned, job_, spans_);
      if (run.begin == kNever) return;
      while (next < coming.size() && batch.size() < plan_.batch &&
             requests_[coming[next]].cached <= run.begin) {
        requests_[coming[next]].joined = run.begin;
        batch.push_back(coming[next++]);
      }
      if (run.end == kNever) return;
      for (const uint32_t number : batch) take_token(requests_[number], run);
      std::erase_if(batch, [&](uint32_t number) {
        if (requests_[number].tokens < plan_.requests[number].request.output) return false;
        requests_[number].last_token = run.end;
        return true;
      });
    }
  }

  static void take_token(RequestMeasure& request, const RunIteration& run) {
    if (request.tokens++ == 0) {
      request.first_token = run.end;
      request.first_computing = run.computing;
    } else {
      request.later_computing += run.computing;
    }
  }

  const PlannedJob& job_;
  const ServePlan& plan_;
  const OpSpans& spans_;
  std::vector<RequestMeasure> requests_;
};

std::vector<MessageTimesOfGroup> message_times_of(const PlannedJob& job, const JobProgram& program,
                                                  const OpTimes& times) {
  std::vector<MessageTimesOfGroup> groups;
  for (const OpLabel& label : job.labels) {
    const auto known = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& group) { return group.group == label.group; });
    if (!label.group.empty() && known == groups.end()) groups.push_back({label.group, 0, 0, {}});
  }
  for (uint32_t i = 0; i < times.size(); ++i) {
    const Op& op = program.graph().op(i);
    if (op.kind != OpKind::kSend || is_notice(op) || times[i].begin == kNever) continue;
    const std::string& name = job.labels[job.label_of[program.messages().origin[i]]].group;
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& one) { return one.group == name; });
    if (group == groups.end()) continue;
    const FabricTime whole = std::min(times[program.partner(i)].end, times[i].end);
    if (whole == kNever) {
      ++group->open;
    } else {
      group->bytes += op.bytes;
      group->times.push_back(whole - times[i].begin);
    }
  }
  for (MessageTimesOfGroup& group : groups) std::sort(group.times.begin(), group.times.end());
  std::erase_if(groups, [](const auto& group) { return group.times.empty() && group.open == 0; });
  return groups;
}

}  // namespace

ServeMeasures measure_serve(const PlannedJob& job, const ServePlan& plan, const JobProgram& program,
                            const OpTimes& times) {
  const OpSpans spans = op_spans(job, program, times);
  return {ServeMeter(job, plan, spans).measure(), message_times_of(job, program, times)};
}

}  // namespace mrclab::job
