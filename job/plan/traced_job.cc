#include "job/plan/traced_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fabric/text/input_error.h"
#include "job/import/trace_file.h"
#include "job/plan/compute_time.h"

namespace mrclab::job {
namespace {

class TracedJobMaker {
 public:
  TracedJobMaker(const JobSpec& spec, uint64_t seed, const Trace& file)
      : spec_(spec),
        seed_(seed),
        file_(file),
        trace_(file.graph),
        job_{spec.name, OpGraph(spec.ranks()),   {},          {},
             {},        spec.steps * file.steps, spec.warmup, {}},
        ended_(spec.ranks(), kNone),
        computed_(spec.ranks()) {
    const OpGraph& trace = trace_;
    if (job_.steps > kMaxSteps) {
      throw InputError(fmt::format("{} steps: expected at most {}", job_.steps, kMaxSteps));
    }
    for (const Group& group : trace.groups()) job_.graph.add_group(group.name, group.ranks);
    is_last_.assign(trace.ops().size(), true);
    for (const Op& op : trace.ops()) {
      for (const Dependency& dependency : trace.dependencies(op)) {
        if (trace.op(dependency.op).rank == op.rank && !dependency.on_start) {
          is_last_[dependency.op] = false;
        }
      }
    }
  }

  PlannedJob make() {
    for (uint32_t turn = 0; turn < spec_.steps; ++turn) add_turn(turn);
    return std::move(job_);
  }

 private:
  static constexpr uint32_t kNone = 0xFFFF'FFFF;

  /// The file once, which may be several steps.
  void add_turn(uint32_t turn) {
    const auto first = static_cast<uint32_t>(job_.graph.ops().size());
    std::fill(computed_.begin(), computed_.end(), 0);
    std::vector<std::vector<Dependency>> last(spec_.ranks());
    for (uint32_t i = 0; i < trace_.ops().size(); ++i) {
      Op op = trace_.op(i);
      const uint32_t step = turn * file_.steps + (file_.step_of.empty() ? 0 : file_.step_of[i]);
      if (op.not_before > FabricTime::zero() && spec_.steps > 1) {
        throw InputError(
            fmt::format("{} begins at {} of the job: expected \"steps: 1\", as such "
                        "times cannot be repeated",
                        trace_.text_of(i), to_string(op.not_before)));
      }
      scale(op, step);
      std::vector<Dependency> waits;
      bool begins_step = true;
      for (const Dependency& dependency : trace_.dependencies(op)) {
        waits.push_back({first + dependency.op, dependency.on_start});
        begins_step = begins_step && trace_.op(dependency.op).rank != op.rank;
      }
      if (begins_step && ended_[op.rank] != kNone) waits.push_back({ended_[op.rank]});
      if (is_last_[i]) last[op.rank].push_back({first + i});
      add(op, step, label_of(trace_.op(i)), waits);
    }
    const uint32_t ended = (turn + 1) * file_.steps - 1;
    for (uint32_t rank = 0; rank < spec_.ranks(); ++rank) end_step(rank, ended, last[rank]);
  }

  /// Behind all that nothing of the rank waits for; in several moments where these are very many.
  void end_step(uint32_t rank, uint32_t step, std::vector<Dependency> last) {
    Op moment;
    moment.rank = rank;
    moment.lane = kNoLane;
    while (last.size() > kMaxDependencies) {
      const auto cut = last.end() - kMaxDependencies;
      const std::vector<Dependency> some(cut, last.end());
      last.erase(cut, last.end());
      last.push_back({add(moment, step, label("step", ""), some)});
    }
    if (last.empty() && ended_[rank] != kNone) last.push_back({ended_[rank]});
    ended_[rank] = add(moment, step, label("step", ""), last);
  }

  uint32_t add(const Op& op, uint32_t step, uint16_t label, const std::vector<Dependency>& waits) {
    job_.step_of.push_back(step);
    job_.label_of.push_back(label);
    return job_.graph.add(op, waits);
  }

  void scale(Op& op, uint32_t step) {
    if (op.kind == OpKind::kCompute) {
      if (op.duration == FabricTime::zero()) return;
      op.duration = compute_time(spec_, seed_, op.duration, {op.rank, step, computed_[op.rank]++});
      return;
    }
    op.not_before = op.not_before / spec_.scale;
    if (spec_.scale == 1) return;
    const uint64_t unit = uint64_t{spec_.scale} * kElementBytes;
    op.bytes = (op.bytes + unit - 1) / unit * kElementBytes;
  }

  uint16_t label_of(const Op& op) {
    switch (op.kind) {
      case OpKind::kCompute: return label("compute", "");
      case OpKind::kCollective:
        return label(std::string(name_of(op.collective)), trace_.groups()[op.group].name);
      default: return label("messages", "p2p");
    }
  }
  uint16_t label(const std::string& text, const std::string& group) {
    const OpLabel wanted{text, group};
    const auto [known, is_new] = labels_.emplace(wanted, static_cast<uint16_t>(labels_.size()));
    if (is_new) {
      if (labels_.size() > 0xFFFF) throw InputError("more than 65535 kinds of operations");
      job_.labels.push_back(wanted);
    }
    return known->second;
  }

  const JobSpec& spec_;
  const uint64_t seed_;
  const Trace& file_;
  const OpGraph& trace_;
  PlannedJob job_;
  std::map<OpLabel, uint16_t> labels_;
  std::vector<bool> is_last_;    ///< by operation of the trace: none of its rank waits for its end
  std::vector<uint32_t> ended_;  ///< by rank: the end of the step before
  std::vector<uint32_t> computed_;  ///< by rank, in the step
};

/// Of a file that is no trace nothing is shown: a scenario may come from somebody who cannot read that file, and the
/// error may go back there.
Trace trace_of(const JobSpec& spec) {
  const TraceSpec& named = *spec.trace;
  try {
    return read_trace(named.file, {named.format, named.time_unit, spec.ranks()});
  } catch (const InputError&) {
    throw InputError(fmt::format(
        "{}: found no job of {} ranks: expected one; \"mrclab job\" says what is wrong with it",
        named.file, spec.ranks()));
  }
}

}  // namespace

PlannedJob traced_job(const JobSpec& spec, uint64_t seed) {
  const Trace trace = trace_of(spec);
  if (trace.graph.ranks() != spec.ranks()) {
    throw InputError(fmt::format("{}: a job of {} ranks, hosts are {}", spec.trace->file,
                                 trace.graph.ranks(), spec.ranks()));
  }
  PlannedJob job = TracedJobMaker(spec, seed, trace).make();
  job.notes = trace.notes;
  if (trace.steps > 1) job.notes.push_back(fmt::format("the file has {} steps", trace.steps));
  return job;
}

}  // namespace mrclab::job
