#include "job/plan/plan_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/text/input_error.h"
#include "job/graph/graph_check.h"
#include "job/plan/job_groups.h"
#include "job/plan/model_phases.h"
#include "job/plan/phase_order.h"
#include "job/plan/rank_step.h"
#include "job/plan/traced_job.h"
#include "job/plan/zipf_shares.h"

namespace mrclab::job {
namespace {

std::string group_of(const Phase& phase) {
  if (const auto* work = std::get_if<ExchangeWork>(&phase.work)) return work->group;
  if (const auto* work = std::get_if<SendWork>(&phase.work)) return work->group;
  return "";
}

/// Ranks of several stages are at different micro-batches: in a collective they would wait for each other for ever.
void check_stages(const ExchangeWork& work, const Phase& phase, JobGroups& groups) {
  if (!groups.crosses_stages(work.group)) return;
  throw InputError(fmt::format(
      "phase {}: group {} has ranks of several pp stages, which are at different micro-batches",
      phase.name, work.group));
}

/// And what a pass waits for has to come from the stage that it comes from.
void check_stages(const SendWork& work, const Phase& phase, JobGroups& groups) {
  if (!groups.crosses_stages(work.group)) return;
  const NamedGroups& named = groups.named(work.group);
  const bool forward = phase.pass == Pass::kForward;
  for (uint32_t rank = 0; rank < named.group_of.size(); ++rank) {
    const uint32_t to = neighbours_of(named, rank, work.to).to;
    if (to == kAnyPeer) continue;
    const uint32_t from_stage = groups.place_in("pp", rank), to_stage = groups.place_in("pp", to);
    if (forward ? to_stage == from_stage + 1 : to_stage + 1 == from_stage) continue;
    throw InputError(fmt::format(
        "phase {}: it goes from stage {} to stage {} in the {} pass: expected \"group: pp\" and "
        "\"to: {}\"",
        phase.name, from_stage, to_stage, forward ? "forward" : "backward",
        forward ? "next" : "prev"));
  }
}

void check_stages(const ComputeWork&, const Phase&, JobGroups&) {}

std::vector<bool> passed_on(const std::vector<Phase>& phases, JobGroups& groups) {
  std::vector<bool> passed;
  for (const Phase& phase : phases) {
    const auto* work = std::get_if<SendWork>(&phase.work);
    passed.push_back(work != nullptr && phase.each_microbatch &&
                     groups.crosses_stages(work->group));
  }
  return passed;
}

std::vector<uint32_t> parts_of(const std::vector<Phase>& phases, const PhaseOrder& order) {
  std::vector<uint32_t> parts(phases.size(), 1);
  for (size_t i = 0; i < phases.size(); ++i) {
    const size_t beside = order.waits(i).beside;
    const auto* work = std::get_if<ExchangeWork>(&phases[i].work);
    if (beside == PhaseWaits::kNone || work == nullptr) continue;
    parts[beside] = std::max(parts[beside], work->parts);
  }
  return parts;
}

/// What a collective sends in all its ranks, as message_graph.h has them.
uint64_t packets_of(const Op& op, uint64_t ranks) {
  const auto packets = [](uint64_t bytes) {
    return (bytes + kPlanPacketBytes - 1) / kPlanPacketBytes;
  };
  switch (op.collective) {
    case Collective::kAllReduce: return 2 * (ranks - 1) * ranks * packets(op.bytes / ranks);
    case Collective::kBarrier: return ranks * 10;
    case Collective::kBroadcast: return (ranks - 1) * packets(op.bytes);
    default: return (ranks - 1) * ranks * packets(op.bytes / ranks);
  }
}

/// A chain of virtual stages goes round the ranks of pp, whose schedule takes whole rounds of micro-batches.
void check_virtual_stages(const JobSpec& spec, const std::vector<Phase>& phases,
                          JobGroups& groups) {
  if (spec.virtual_stages == 1) return;
  const uint32_t stages = groups.size_of("pp");
  if (stages < 2) throw InputError("virtual_stages: no group pp of several ranks");
  if (spec.microbatches % stages != 0) {
    throw InputError(fmt::format("virtual_stages: {} microbatches: expected a multiple of pp, {}",
                                 spec.microbatches, stages));
  }
  for (const Phase& phase : phases) {
    const auto* const work = std::get_if<SendWork>(&phase.work);
    if (work == nullptr || !phase.each_microbatch || !groups.crosses_stages(work->group)) continue;
    if (work->group == "pp") continue;
    throw InputError(
        fmt::format("phase {}: between virtual stages: expected \"group: pp\"", phase.name));
  }
}

PlannedJob phases_job(const JobSpec& spec, uint64_t seed) {
  ModelPhases made;
  if (spec.model) made = model_phases(spec);
  const std::vector<Phase>& phases = spec.model ? made.phases : spec.phases;
  JobGroups groups(spec);
  const PhaseOrder order(phases);
  check_phase_groups(phases, groups);
  check_virtual_stages(spec, phases, groups);
  // A model's phases are those of one virtual stage already.
  const uint32_t divisor = spec.model ? 1 : spec.virtual_stages;
  StepPlan plan{
      spec,   phases, order, groups, seed, parts_of(phases, order), passed_on(phases, groups),
      divisor};
  PlannedJob job{spec.name, OpGraph(spec.ranks()), {}, {}, {}, spec.steps, spec.warmup, {}};
  job.notes = std::move(made.notes);
  for (const Phase& phase : phases) job.labels.push_back({phase.name, group_of(phase)});
  job.labels.push_back({"step", ""});
  job.labels.push_back({"save", ""});
  job.labels.push_back({"checkpoint", "all"});
  std::vector<std::vector<Dependency>> before(spec.ranks());
  for (uint32_t step = 0; step < spec.steps; ++step) {
    for (uint32_t rank = 0; rank < spec.ranks(); ++rank) {
      before[rank] = {{RankStep(plan, job, rank, step, before[rank]).add()}};
    }
  }
  return job;
}

RankSites sites_of(const JobSpec& spec) {
  if (!spec.shares_hosts()) return {};
  if (!spec.local) return {spec.hosts, {}, {}};
  return {spec.hosts, spec.local->rate, spec.local->latency};
}

void add_notes(const JobSpec& spec, PlannedJob& job) {
  if (spec.shares_hosts()) {
    job.notes.push_back(fmt::format(
        "{} ranks on {} hosts: messages within a host are copied there{}", spec.ranks(),
        std::set(spec.hosts.begin(), spec.hosts.end()).size(), spec.local ? "" : ", in no time"));
  }
  if (spec.on_error) {
    job.notes.push_back(fmt::format(
        "a NIC of the field takes {} from a loss that is not mended to an error; here the "
        "transport's timers count",
        to_string(spec.on_error->time_to_error())));
  }
  if (spec.scale > 1) {
    job.notes.push_back(
        fmt::format("bytes and computing are 1/{} of what the job states", spec.scale));
  }
  uint32_t most = 0;
  for (uint32_t i = 0; i < job.graph.share_lists(); ++i) {
    most = std::max(most, imbalance_thousandths(job.graph.shares(i)));
  }
  if (most > 0) {
    job.notes.push_back(fmt::format("who receives most of an all_to_all gets {:.2f} times the mean",
                                    most / 1000.0));
  }
}

}  // namespace

/// Every name that phases use is known before any rank comes to it.
void check_phase_groups(const std::vector<Phase>& phases, JobGroups& groups) {
  for (const Phase& phase : phases) {
    if (group_of(phase).empty()) continue;
    try {
      groups.named(group_of(phase));
    } catch (const InputError& error) {
      throw InputError(fmt::format("phase {}: {}", phase.name, error.what()));
    }
  }
  for (const Phase& phase : phases) {
    if (!phase.each_microbatch) continue;
    std::visit([&](const auto& work) { check_stages(work, phase, groups); }, phase.work);
  }
}

uint64_t packets_of(const OpGraph& graph) {
  uint64_t packets = 0;
  for (const Op& op : graph.ops()) {
    if (op.kind == OpKind::kSend) packets += (op.bytes + kPlanPacketBytes - 1) / kPlanPacketBytes;
    if (op.kind != OpKind::kCollective) continue;
    const std::vector<uint32_t>& ranks = graph.groups()[op.group].ranks;
    if (op.rank == ranks.front()) packets += packets_of(op, ranks.size());
  }
  return packets;
}

PlannedJob plan_job(const JobSpec& spec, uint64_t seed) {
  for (const SlowRank& slow : spec.slow) {
    if (slow.rank < spec.ranks()) continue;
    throw InputError(fmt::format("slow rank {}: ranks are 0 to {}", slow.rank, spec.ranks() - 1));
  }
  PlannedJob job = spec.trace ? traced_job(spec, seed) : phases_job(spec, seed);
  job.sites = sites_of(spec);
  add_notes(spec, job);
  check_graph(job.graph);
  const uint64_t packets = packets_of(job.graph);
  if (packets > kMaxPlanPackets && !spec.large) {
    throw InputError(
        fmt::format("a job of {:.1f} million packets: expected at most {}, a smaller "
                    "\"scale\", or \"large: true\"",
                    static_cast<double>(packets) / 1e6, "50 million"));
  }
  return job;
}

}  // namespace mrclab::job
