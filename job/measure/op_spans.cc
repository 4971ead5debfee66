#include "job/measure/op_spans.h"

#include <algorithm>
#include <cassert>
#include <map>

namespace mrclab::job {
namespace {

/// Takes in the messages of each operation: a collective lasts from its first to its last.
void read_times(OpSpans& spans, const JobProgram& program, const OpTimes& times) {
  std::vector<bool> open(spans.ops.size());
  for (uint32_t i = 0; i < times.size(); ++i) {
    const OpTime& time = times[i];
    for (const FabricTime t : {time.begin, time.end}) {
      if (t != FabricTime::never()) spans.horizon = std::max(spans.horizon, t);
    }
    if (is_notice(program.graph().op(i))) continue;
    const uint32_t origin = program.messages().origin[i];
    OpSpan& span = spans.ops[origin];
    span.begin = std::min(span.begin, time.begin);
    if (time.end == FabricTime::never()) open[origin] = true;
    if (span.end == FabricTime::never()) span.end = time.end;
    if (time.end != FabricTime::never()) span.end = std::max(span.end, time.end);
  }
  for (size_t i = 0; i < spans.ops.size(); ++i) {
    if (open[i]) spans.ops[i].end = FabricTime::never();
  }
}

/// The n-th of a group in one rank meets the n-th in the others.
void join_collectives(OpSpans& spans, const OpGraph& job) {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> seen;         // by group and rank
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> instance_of;  // by group and number in it
  for (uint32_t i = 0; i < job.ops().size(); ++i) {
    const Op& op = job.op(i);
    if (op.kind != OpKind::kCollective) continue;
    OpSpan& span = spans.ops[i];
    const uint32_t number = seen[{op.group, op.rank}]++;
    const auto [found, is_new] = instance_of.try_emplace(
        {op.group, number}, static_cast<uint32_t>(spans.collectives.size()));
    span.instance = found->second;
    if (is_new) spans.collectives.push_back({i, span.begin, span.end, op.rank});
    CollectiveSpan& whole = spans.collectives[span.instance];
    if (span.begin > whole.joined) {
      whole.joined = span.begin;
      whole.last_rank = op.rank;
    }
    whole.end = std::max(whole.end, span.end);
  }
  for (OpSpan& span : spans.ops) {
    if (span.instance == kNoInstance) continue;
    // The root of a broadcast may be through before others come: all of its time is then waiting.
    span.active = std::min(spans.collectives[span.instance].joined, span.end);
    span.last_rank = spans.collectives[span.instance].last_rank;
  }
}

}  // namespace

bool is_notice(const Op& message) {
  const bool moves = message.kind == OpKind::kSend || message.kind == OpKind::kReceive;
  return moves && message.tag >= kFirstNoticeTag && message.tag != kAnyTag;
}

bool computes(const Op& op) { return op.kind == OpKind::kCompute && op.lane != kNoLane; }

bool is_within_node(const Op& op) {
  return op.kind == OpKind::kCompute && op.lane == kNoLane && op.duration > FabricTime::zero();
}

OpSpans op_spans(const PlannedJob& plan, const JobProgram& program, const OpTimes& times) {
  assert(times.size() == program.graph().ops().size());
  OpSpans spans;
  spans.ops.resize(plan.graph.ops().size());
  read_times(spans, program, times);
  for (uint32_t i = 0; i < spans.ops.size(); ++i) {
    spans.ops[i].active = spans.ops[i].begin;
    spans.ops[i].last_rank = plan.graph.op(i).rank;
  }
  for (uint32_t i = 0; i < times.size(); ++i) {
    const Op& message = program.graph().op(i);
    const uint32_t origin = program.messages().origin[i];
    if (plan.graph.op(origin).kind != OpKind::kReceive || message.kind != OpKind::kReceive ||
        is_notice(message)) {
      continue;
    }
    OpSpan& span = spans.ops[origin];
    const uint32_t send = program.partner(i);
    if (times[send].begin <= span.begin) continue;
    span.active = times[send].begin;
    span.last_rank = program.graph().op(send).rank;
  }
  join_collectives(spans, plan.graph);
  return spans;
}

std::string exchange_group(const PlannedJob& plan, uint32_t op) {
  const Op& is = plan.graph.op(op);
  if (!exchanges(is)) return {};
  const std::string& group = plan.labels[plan.label_of[op]].group;
  if (!group.empty()) return group;
  return is.kind == OpKind::kCollective ? plan.graph.groups()[is.group].name : "messages";
}

std::string message_group(const PlannedJob& plan, const JobProgram& program, uint32_t message) {
  if (is_notice(program.graph().op(message))) return "words";
  return exchange_group(plan, program.messages().origin[message]);
}

}  // namespace mrclab::job
