#include "job/measure/job_measures.h"

#include <algorithm>
#include <cassert>
#include <map>

#include "job/measure/op_spans.h"
#include "job/measure/step_shares.h"

namespace mrclab::job {
namespace {

FabricTime mean_of(__int128 sum, uint64_t count) {
  return FabricTime::from_ps(static_cast<int64_t>(sum / static_cast<__int128>(count)));
}

class Measuring {
 public:
  Measuring(const PlannedJob& plan, const JobProgram& program, const OpTimes& times)
      : plan_(plan), program_(program), times_(times), spans_(op_spans(plan, program, times)) {
    assert(plan.step_of.size() == plan.graph.ops().size());
    measures_.name = plan.name;
    measures_.ranks = plan.graph.ranks();
    measures_.warmup = plan.warmup;
    measures_.steps.resize(plan.steps);
    last_.resize(plan.steps, kNoOp);
  }

  JobMeasures measure() {
    name_groups();
    find_ends();
    share_out();
    find_stragglers();
    for (uint32_t i = 0; i < plan_.steps; ++i) {
      StepMeasure& step = measures_.steps[i];
      if (step.finished && step.end > step.begin) {
        step.path = path_parts(plan_, program_, times_, last_[i], step.begin);
      }
    }
    measures_.collectives = measure_collectives(plan_, spans_);
    sum_up();
    return std::move(measures_);
  }

 private:
  StepMeasure& step_of(uint32_t op) { return measures_.steps[plan_.step_of[op]]; }

  /// Groups in the order in which operations name them.
  void name_groups() {
    std::map<std::string, uint32_t> known;
    for (uint32_t i = 0; i < plan_.graph.ops().size(); ++i) {
      group_of_.push_back(0);
      if (!exchanges(plan_.graph.op(i))) continue;
      const std::string name = exchange_group(plan_, i);
      const auto next = static_cast<uint32_t>(std::min(known.size(), kMaxExposedGroups - 1));
      const auto [found, is_new] = known.try_emplace(name, next);
      group_of_.back() = found->second;
      if (!is_new) continue;
      if (next < measures_.groups.size()) {
        measures_.groups[next] = "others";
      } else {
        measures_.groups.push_back(name);
      }
    }
  }

  void find_ends() {
    std::vector<bool> open(plan_.steps);
    std::vector<FabricTime> stuck_since(plan_.steps, FabricTime::never());
    std::vector<FabricTime> ends(plan_.steps);
    uint32_t last = kNoOp;
    for (uint32_t i = 0; i < times_.size(); ++i) {
      const Op& op = program_.graph().op(i);
      const uint32_t number = plan_.step_of[program_.messages().origin[i]];
      StepMeasure& step = measures_.steps[number];
      const OpTime& time = times_[i];
      step.first_op = std::min(step.first_op, time.begin);
      if (time.end == FabricTime::never()) {
        open[number] = any_open_ = true;
        continue;
      }
      if (op.kind == OpKind::kSend) step.bytes += op.bytes;
      if (last_[number] == kNoOp || time.end > ends[number]) {
        ends[number] = time.end;
        last_[number] = i;
      }
      if (last == kNoOp || time.end > times_[last].end) last = i;
    }
    for (uint32_t i = 0; i < spans_.ops.size(); ++i) {
      StepMeasure& step = step_of(i);
      const OpSpan& span = spans_.ops[i];
      ++step.ops;
      if (span.end != FabricTime::never()) {
        ++step.ended_ops;
      } else if (span.begin < stuck_since[plan_.step_of[i]]) {
        stuck_since[plan_.step_of[i]] = span.begin;
        step.stuck = i;
      }
    }
    FabricTime before;
    for (uint32_t i = 0; i < plan_.steps; ++i) {
      StepMeasure& step = measures_.steps[i];
      step.begin = before;
      step.finished = !open[i] && step.ops > 0;
      if (!step.finished) continue;
      ++measures_.finished;
      step.end = before = std::max(before, ends[i]);
    }
    if (!any_open_ && last != kNoOp) {
      measures_.jct = times_[last].end;
      measures_.path = path_parts(plan_, program_, times_, last, FabricTime::zero());
    }
  }

  void share_out() {
    std::vector<StepWindow> windows;
    for (uint32_t i = 0; i < plan_.steps; ++i) {
      const StepMeasure& step = measures_.steps[i];
      if (step.finished && step.end > step.begin) windows.push_back({i, {step.begin, step.end}});
    }
    const std::vector<StepShares> shares =
        step_shares(plan_, spans_, windows, group_of_, measures_.groups.size());
    for (uint32_t i = 0; i < plan_.steps; ++i) {
      StepMeasure& step = measures_.steps[i];
      if (!step.finished) continue;
      step.compute = mean_of(shares[i].compute, measures_.ranks);
      step.exposed = mean_of(shares[i].exposed, measures_.ranks);
      step.bubble = step.time() - step.compute - step.exposed;
      for (const StepShares::Exposed& of : shares[i].by_group) {
        step.exposed_by.push_back({mean_of(of.sum, measures_.ranks), of.most, of.most_rank});
      }
      for (const auto& [rank, time] : shares[i].waited_for) {
        if (time > step.waited) step.waited = time, step.waited_for = rank;
      }
    }
  }

  void find_stragglers() {
    std::vector<std::vector<uint32_t>> ops_of(plan_.steps);
    for (uint32_t i = 0; i < spans_.ops.size(); ++i) ops_of[plan_.step_of[i]].push_back(i);
    for (uint32_t i = 0; i < plan_.steps; ++i) {
      std::vector<FabricTime> work(measures_.ranks), end(measures_.ranks);
      for (const uint32_t op : ops_of[i]) {
        const OpSpan& span = spans_.ops[op];
        const uint32_t rank = plan_.graph.op(op).rank;
        if (span.end == FabricTime::never()) continue;
        if (computes(plan_.graph.op(op))) work[rank] += span.end - span.begin;
        end[rank] = std::max(end[rank], span.end);
      }
      uint32_t slowest = 0;
      for (uint32_t rank = 1; rank < measures_.ranks; ++rank) {
        if (std::pair(work[rank], end[rank]) > std::pair(work[slowest], end[slowest]))
          slowest = rank;
      }
      StepMeasure& step = measures_.steps[i];
      step.slowest_rank = slowest;
      step.slowest_compute = work[slowest];
      std::erase(work, FabricTime::zero());
      step.median_compute = spread_of(std::move(work)).p50;
    }
  }

  void sum_up() {
    const bool skips =
        std::any_of(measures_.steps.begin() + std::min<size_t>(plan_.warmup, plan_.steps),
                    measures_.steps.end(), [](const StepMeasure& step) { return step.finished; });
    std::vector<FabricTime> times;
    measures_.exposed_by.resize(measures_.groups.size());
    for (uint32_t i = skips ? plan_.warmup : 0; i < plan_.steps; ++i) {
      const StepMeasure& step = measures_.steps[i];
      if (!step.finished) continue;
      times.push_back(step.time());
      measures_.straggler = std::max(measures_.straggler, step.straggler());
      measures_.compute += step.compute;
      measures_.exposed += step.exposed;
      measures_.bubble += step.bubble;
      for (size_t group = 0; group < step.exposed_by.size(); ++group) {
        GroupExposure& sum = measures_.exposed_by[group];
        const GroupExposure& of = step.exposed_by[group];
        sum.mean += of.mean;
        if (of.most > sum.most) sum.most = of.most, sum.most_rank = of.most_rank;
      }
    }
    measures_.step_time = spread_of(std::move(times));
  }

  const PlannedJob& plan_;
  const JobProgram& program_;
  const OpTimes& times_;
  OpSpans spans_;
  std::vector<uint32_t> group_of_;  ///< by operation of the job
  std::vector<uint32_t> last_;      ///< by step: the message or computation that ended it
  bool any_open_ = false;
  JobMeasures measures_;
};

}  // namespace

double StepMeasure::straggler() const {
  if (median_compute == FabricTime::zero()) return 1;
  return static_cast<double>(slowest_compute.ps()) / static_cast<double>(median_compute.ps());
}

std::optional<double> JobMeasures::jct_ratio() const {
  if (jct == FabricTime::never() || ideal_jct == FabricTime::never() ||
      ideal_jct == FabricTime::zero()) {
    return std::nullopt;
  }
  return static_cast<double>(jct.ps()) / static_cast<double>(ideal_jct.ps());
}

JobMeasures measure_job(const PlannedJob& plan, const JobProgram& program, const OpTimes& times) {
  return Measuring(plan, program, times).measure();
}

void compare_with_ideal(JobMeasures& measures, const PlannedJob& plan, const JobProgram& program,
                        const IdealNetwork& network) {
  const JobMeasures ideal = measure_job(plan, program, ideal_times(program, network));
  measures.ideal_jct = ideal.jct;
  for (size_t i = 0; i < measures.steps.size() && i < ideal.steps.size(); ++i) {
    measures.steps[i].ideal = ideal.steps[i].time();
  }
}

}  // namespace mrclab::job
