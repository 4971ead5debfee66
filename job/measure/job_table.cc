#include "job/measure/job_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/text/counted_noun.h"
#include "fabric/text/text_wrap.h"
#include "fabric/text/visible_text.h"

namespace mrclab::job {
namespace {

constexpr size_t kColumns = 80;

double percent(FabricTime part, FabricTime whole) {
  return whole > FabricTime::zero()
             ? 100.0 * static_cast<double>(part.ps()) / static_cast<double>(whole.ps())
             : 0;
}
double gbps(BitRate rate) { return static_cast<double>(rate.bps) * 1e-9; }

/// A line that fits, whatever names are in it.
std::string line_of(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return cut_to(visible(text), kColumns) + "\n";
}

std::string range_text(size_t first, size_t last) {
  return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

std::string head_of(const JobMeasures& measures) {
  std::string text = fmt::format("job {}: {}, {} of {} finished", measures.name,
                                 counted_noun(measures.ranks, "rank"), measures.finished,
                                 counted_noun(measures.steps.size(), "step"));
  if (measures.jct != FabricTime::never()) text += ", " + to_string(measures.jct);
  if (const auto ratio = measures.jct_ratio()) {
    text += fmt::format(", {:.3f} x the ideal", *ratio);
  }
  text = line_of(text);
  if (measures.finished == 0) return text;
  const TimeSpread& time = measures.step_time;
  std::string steps = fmt::format("step time {} mean, {} p50, {} p99", to_string(time.mean),
                                  to_string(time.p50), to_string(time.p99));
  if (measures.warmup > 0) steps += fmt::format(", behind {} of warm-up", measures.warmup);
  return text + line_of(steps);
}

/// Several steps as one: means of times, the worst of the rest.
struct StepRow {
  size_t first = 0, last = 0, finished = 0;
  FabricTime time, compute, exposed, bubble, ideal;
  bool has_ideal = true;
  const StepMeasure* slowest = nullptr;  ///< the step with the worst straggler
  const StepMeasure* waiting = nullptr;  ///< the step with the longest standing still for one rank
};

StepRow row_of(const std::vector<StepMeasure>& steps, size_t first, size_t last) {
  StepRow row;
  row.first = first;
  row.last = last;
  for (size_t i = first; i <= last; ++i) {
    const StepMeasure& step = steps[i];
    if (!step.finished) continue;
    ++row.finished;
    row.time += step.time();
    row.compute += step.compute;
    row.exposed += step.exposed;
    row.bubble += step.bubble;
    row.has_ideal = row.has_ideal && step.ideal != FabricTime::never();
    if (row.has_ideal) row.ideal += step.ideal;
    if (row.slowest == nullptr || step.straggler() > row.slowest->straggler()) row.slowest = &step;
    if (row.waiting == nullptr || step.waited > row.waiting->waited) row.waiting = &step;
  }
  return row;
}

std::string text_of(const StepRow& row) {
  const std::string steps = range_text(row.first, row.last);
  if (row.finished == 0) return line_of(fmt::format("{:>8} unfinished", steps));
  std::string ideal, waited;
  if (row.has_ideal && row.ideal > FabricTime::zero()) {
    ideal = fmt::format("{:.3f}", percent(row.time, row.ideal) / 100);
  }
  if (row.waiting->waited_for != kNoRank) {
    waited = fmt::format("{:>4} {:>9}", row.waiting->waited_for, to_string(row.waiting->waited));
  }
  return line_of(fmt::format("{:>8} {:>9} {:>6} {:>6.1f}% {:>6.1f}% {:>5.1f}%  {:>4} {:>6.3f}  {}",
                             steps, to_string(row.time / static_cast<int64_t>(row.finished)), ideal,
                             percent(row.compute, row.time), percent(row.exposed, row.time),
                             percent(row.bubble, row.time), row.slowest->slowest_rank,
                             row.slowest->straggler(), waited));
}

std::string steps_of(const JobMeasures& measures) {
  const size_t count = measures.steps.size();
  const size_t each = std::max<size_t>((count + kMaxStepRows - 1) / kMaxStepRows, 1);
  std::string text =
      line_of("   steps      time  ideal compute exposed bubble  slowest rank  waited for rank");
  for (size_t first = 0; first < count; first += each) {
    text += text_of(row_of(measures.steps, first, std::min(first + each, count) - 1));
  }
  return text;
}

std::string groups_of(const JobMeasures& measures) {
  const FabricTime whole = measures.compute + measures.exposed + measures.bubble;
  std::vector<size_t> order;
  for (size_t i = 0; i < measures.groups.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return measures.exposed_by[a].mean > measures.exposed_by[b].mean;
  });
  std::string text;
  if (order.size() > kMaxGroupRows) order.resize(kMaxGroupRows);
  for (const size_t group : order) {
    const GroupExposure& of = measures.exposed_by[group];
    if (of.mean == FabricTime::zero()) break;
    text += line_of(fmt::format("exposed {:<12} {:>5.1f} % of the steps, at most {} in rank {}",
                                cut_to(measures.groups[group], 12), percent(of.mean, whole),
                                to_string(of.most), of.most_rank));
  }
  return text;
}

std::string collectives_of(const JobMeasures& measures) {
  if (measures.collectives.empty()) return {};
  std::string text =
      line_of("collective                      bytes  ended       p50       p99  busbw Gb/s");
  size_t rows = 0;
  for (const CollectiveMeasure& of : measures.collectives) {
    if (rows++ == kMaxCollectiveRows) {
      text += line_of(fmt::format("and {} more", measures.collectives.size() - kMaxCollectiveRows));
      break;
    }
    const std::string name = fmt::format("{} {} of {}", name_of(of.collective), of.group, of.ranks);
    std::string line = fmt::format("{:<25} {:>11} ", cut_to(name, 25), of.bytes);
    line += of.finished == of.count
                ? fmt::format("{:>6}", of.count)
                : fmt::format("{:>6}", fmt::format("{}/{}", of.finished, of.count));
    if (of.finished > 0) {
      line += fmt::format(" {:>9} {:>9} {:>5.1f} {:>5.1f}", to_string(of.time.p50),
                          to_string(of.time.p99), gbps(of.busbw_p50), gbps(of.busbw_p99));
    }
    text += line_of(line);
  }
  return text;
}

std::string path_of(const JobMeasures& measures) {
  std::vector<PathPart> parts = measures.path;
  std::stable_sort(parts.begin(), parts.end(),
                   [](const PathPart& a, const PathPart& b) { return a.time > b.time; });
  std::string text;
  FabricTime rest;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i >= kMaxPathRows) {
      rest += parts[i].time;
      continue;
    }
    text += fmt::format("{}{} {:.1f} %", i > 0 ? ", " : "critical path: ", job::text_of(parts[i]),
                        percent(parts[i].time, measures.jct));
  }
  if (rest > FabricTime::zero()) {
    text += fmt::format(", {} others {:.1f} %", parts.size() - kMaxPathRows,
                        percent(rest, measures.jct));
  }
  return text.empty() ? text : wrapped_text(visible(text), kColumns, 2);
}

std::string stuck_of(const JobMeasures& measures, const PlannedJob& plan) {
  if (measures.finished == measures.steps.size()) return {};
  std::string text = line_of("unfinished: " + unfinished_text(measures));
  size_t rows = 0;
  for (size_t i = 0; i < measures.steps.size() && rows < kMaxUnfinishedRows; ++i) {
    const StepMeasure& step = measures.steps[i];
    if (step.finished || step.stuck == kNoOp) continue;
    ++rows;
    text +=
        wrapped_text(visible(fmt::format("step {}: {} of {} operations ended; {} did not", i,
                                         step.ended_ops, step.ops, plan.graph.text_of(step.stuck))),
                     kColumns, 2);
  }
  return text;
}

}  // namespace

std::string unfinished_text(const JobMeasures& measures, size_t most_ranges) {
  std::string text;
  size_t ranges = 0, more = 0;
  for (size_t i = 0; i < measures.steps.size(); ++i) {
    if (measures.steps[i].finished) continue;
    size_t last = i;
    while (last + 1 < measures.steps.size() && !measures.steps[last + 1].finished) ++last;
    if (ranges++ < most_ranges) {
      text += (text.empty() ? "" : ", ") + range_text(i, last);
    } else {
      more += last - i + 1;
    }
    i = last;
  }
  if (text.empty()) return text;
  if (more > 0) text += fmt::format(" and {} more", more);
  const bool one = measures.steps.size() - measures.finished == 1;
  return (one ? "step " : "steps ") + text;
}

std::string to_table(const JobMeasures& measures, const PlannedJob& plan) {
  std::string text = head_of(measures);
  if (!measures.steps.empty()) text += steps_of(measures);
  return text + groups_of(measures) + collectives_of(measures) + path_of(measures) +
         stuck_of(measures, plan);
}

}  // namespace mrclab::job
