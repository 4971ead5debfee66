#include "job/measure/step_shares.h"

#include <algorithm>

namespace mrclab::job {
namespace {

/// Calls take(step, time) for every step that has some of the intervals, in order.
template <class Take>
void for_each_step(const Intervals& intervals, const std::vector<StepWindow>& windows,
                   const Take& take) {
  size_t next = 0;
  for (const StepWindow& window : windows) {
    FabricTime sum;
    while (next < intervals.size() && intervals[next].end <= window.time.begin) ++next;
    for (; next < intervals.size() && intervals[next].begin < window.time.end; ++next) {
      const Interval& one = intervals[next];
      sum += std::min(one.end, window.time.end) - std::max(one.begin, window.time.begin);
      if (one.end > window.time.end) break;  // the next step has the rest
    }
    if (sum > FabricTime::zero()) take(window.step, sum);
  }
}

/// Standing still, and for whom.
struct Wait {
  Interval time;
  uint32_t rank = 0;
  auto operator<=>(const Wait&) const = default;
};

/// What one rank did.
class RankShares {
 public:
  RankShares(const OpSpans& spans, const std::vector<StepWindow>& windows, size_t groups)
      : spans_(spans), windows_(windows), exchanging_(groups) {}

  void add(const Op& op, const OpSpan& span, uint32_t group) {
    const auto known = [&](FabricTime t) { return std::min(t, spans_.horizon); };
    if (computes(op)) {
      computing_.push_back({known(span.begin), known(span.end)});
    } else if (exchanges(op)) {
      exchanging_[group].push_back({known(span.active), known(span.end)});
      if (span.begin < span.active && span.last_rank != op.rank) {
        waits_.push_back({{known(span.begin), known(span.active)}, span.last_rank});
      }
    }
  }

  void finish(uint32_t rank, std::vector<StepShares>& steps) {
    computing_ = joined(std::move(computing_));
    for_each_step(computing_, windows_,
                  [&](uint32_t step, FabricTime time) { steps[step].compute += time.ps(); });
    Intervals busy;
    for (size_t group = 0; group < exchanging_.size(); ++group) {
      const Intervals exposed = without(joined(std::move(exchanging_[group])), computing_);
      for_each_step(exposed, windows_, [&](uint32_t step, FabricTime time) {
        StepShares::Exposed& of = steps[step].by_group[group];
        of.sum += time.ps();
        if (time > of.most) of.most = time, of.most_rank = rank;
      });
      busy.insert(busy.end(), exposed.begin(), exposed.end());
    }
    busy = joined(std::move(busy));
    for_each_step(busy, windows_,
                  [&](uint32_t step, FabricTime time) { steps[step].exposed += time.ps(); });
    busy.insert(busy.end(), computing_.begin(), computing_.end());
    attribute_waits(joined(std::move(busy)), steps);
  }

 private:
  /// Of waits at once the one that began first has the time.
  void attribute_waits(const Intervals& busy, std::vector<StepShares>& steps) {
    std::sort(waits_.begin(), waits_.end());
    std::map<uint32_t, Intervals> by_rank;
    FabricTime covered;
    for (const Wait& wait : waits_) {
      const Interval rest{std::max(wait.time.begin, covered), wait.time.end};
      if (rest.begin < rest.end) by_rank[wait.rank].push_back(rest);
      covered = std::max(covered, wait.time.end);
    }
    for (const auto& [waited_for, intervals] : by_rank) {
      for_each_step(without(joined(intervals), busy), windows_,
                    [&, other = waited_for](uint32_t step, FabricTime time) {
                      steps[step].waited_for[other] += time;
                    });
    }
  }

  const OpSpans& spans_;
  const std::vector<StepWindow>& windows_;
  Intervals computing_;
  std::vector<Intervals> exchanging_;
  std::vector<Wait> waits_;
};

}  // namespace

std::vector<StepShares> step_shares(const PlannedJob& plan, const OpSpans& spans,
                                    const std::vector<StepWindow>& windows,
                                    const std::vector<uint32_t>& group_of, size_t groups) {
  std::vector<StepShares> steps(plan.steps);
  for (StepShares& step : steps) step.by_group.resize(groups);
  std::vector<std::vector<uint32_t>> ops_of(plan.graph.ranks());
  for (uint32_t i = 0; i < spans.ops.size(); ++i) ops_of[plan.graph.op(i).rank].push_back(i);
  for (uint32_t rank = 0; rank < ops_of.size(); ++rank) {
    RankShares shares(spans, windows, groups);
    for (const uint32_t op : ops_of[rank]) {
      shares.add(plan.graph.op(op), spans.ops[op], group_of[op]);
    }
    shares.finish(rank, steps);
  }
  return steps;
}

}  // namespace mrclab::job
