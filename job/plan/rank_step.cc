#include "job/plan/rank_step.h"

#include <algorithm>
#include <numeric>

#include "fabric/base/random.h"
#include "job/plan/compute_time.h"
#include "job/plan/node_time.h"
#include "job/plan/zipf_shares.h"

namespace mrclab::job {
namespace {

void append(std::vector<Dependency>& to, const std::vector<Dependency>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// Of whole elements, the part-th of `parts`.
uint64_t piece_of(uint64_t bytes, uint32_t part, uint32_t parts) {
  const uint64_t elements = (bytes + kElementBytes - 1) / kElementBytes;
  const auto until = [&](uint64_t count) { return elements * count / parts * kElementBytes; };
  return until(part + 1) - until(part);
}

}  // namespace

Neighbours neighbours_of(const NamedGroups& groups, uint32_t rank, Direction direction) {
  if (groups.group_of[rank] == NamedGroups::kNone) return {};
  const std::vector<uint32_t>& ranks = groups.groups[groups.group_of[rank]];
  const size_t place = groups.place_of[rank], last = ranks.size() - 1;
  if (last == 0) return {};
  Neighbours found{ranks[place == last ? 0 : place + 1], ranks[place == 0 ? last : place - 1]};
  const bool is_chain = direction == Direction::kNext || direction == Direction::kPrevious;
  if (is_chain && place == last) found.to = kAnyPeer;
  if (is_chain && place == 0) found.from = kAnyPeer;
  const bool is_down = direction == Direction::kPrevious || direction == Direction::kLeft;
  if (is_down) std::swap(found.to, found.from);
  return found;
}

RankStep::RankStep(StepPlan& plan, PlannedJob& job, uint32_t rank, uint32_t step, Waits before)
    : plan_(plan),
      job_(job),
      rank_(rank),
      step_(step),
      before_(std::move(before)),
      gate_(before_),
      done_(plan.phases.size()) {}

uint32_t RankStep::add() {
  const auto first = static_cast<uint32_t>(job_.graph.ops().size());
  add_once(plan_.order.before());
  add_turns();
  add_once(plan_.order.behind());
  // Behind what nothing of the step waits for, the rest has ended as well.
  const auto end = static_cast<uint32_t>(job_.graph.ops().size());
  std::vector<bool> is_waited_for(end - first);
  for (uint32_t i = first; i < end; ++i) {
    for (const Dependency& dependency : job_.graph.dependencies(job_.graph.op(i))) {
      if (dependency.op >= first) is_waited_for[dependency.op - first] = true;
    }
  }
  Waits last;
  for (uint32_t i = first; i < end; ++i) {
    if (!is_waited_for[i - first]) last.push_back({i});
  }
  Op moment;
  moment.lane = kNoLane;
  const uint32_t ended = add_op(moment, plan_.phases.size(), last.empty() ? before_ : last);
  return is_saved(plan_.spec, step_) ? add_checkpoint(ended) : ended;
}

/// The rank saves, and waits until all have.
uint32_t RankStep::add_checkpoint(uint32_t behind) {
  Op save;
  save.duration = plan_.spec.checkpoint->save / plan_.spec.scale;
  const uint32_t saved = add_op(save, plan_.phases.size() + 1, {{behind}});
  std::vector<uint32_t> ranks(plan_.spec.ranks());
  std::iota(ranks.begin(), ranks.end(), 0);
  Op all;
  all.kind = OpKind::kCollective;
  all.collective = Collective::kBarrier;
  all.group = job_.graph.add_group("all", std::move(ranks));
  return add_op(all, plan_.phases.size() + 2, {{saved}});
}

void RankStep::add_once(const std::vector<size_t>& phases) {
  for (const size_t phase : phases) add_phase(phase, {}, {});
}

void RankStep::add_turns() {
  if (plan_.order.in(Pass::kForward).empty() && plan_.order.in(Pass::kBackward).empty()) return;
  const uint32_t stages = plan_.groups.size_of("pp"), stage = plan_.groups.place_in("pp", rank_);
  for (const PassTurn& turn :
       interleaved_turns(stage, stages, plan_.spec.microbatches, plan_.spec.virtual_stages)) {
    add_turn(turn);
  }
}

void RankStep::add_turn(const PassTurn& turn) {
  const std::vector<size_t>& phases = plan_.order.in(turn.pass);
  if (phases.empty()) return;
  const Unit unit{turn.microbatch, turn.chunk};
  Waits gate = gate_;
  // It is the pass before that lets a rank wait for its neighbour: what comes earlier lies there.
  for (const size_t phase : phases) {
    const auto* send = std::get_if<SendWork>(&plan_.phases[phase].work);
    if (send != nullptr && plan_.is_passed_on[phase]) {
      append(gate, add_receives(*send, phase, gate_, unit));
    }
  }
  Waits ends;
  for (const size_t phase : phases) {
    add_phase(phase, gate, unit);
    if (plan_.order.waits(phase).ends_pass) append(ends, done(phase, unit).ends);
  }
  gate_ = ends.empty() ? gate : ends;
}

uint32_t RankStep::key_of(size_t phase, const Unit& unit) const {
  const bool forward = plan_.phases[phase].pass == Pass::kForward;
  const uint32_t last = plan_.spec.virtual_stages - 1;
  return (forward ? unit.chunk : last - unit.chunk) * plan_.spec.microbatches + unit.microbatch;
}

bool RankStep::is_last(size_t phase, const Unit& unit) const {
  return key_of(phase, unit) + 1 == plan_.spec.virtual_stages * plan_.spec.microbatches;
}

const RankStep::Done& RankStep::done(size_t phase, const Unit& unit) const {
  const std::map<uint32_t, Done>& all = done_[phase];
  const auto found = all.find(key_of(phase, unit));
  // Who comes once waits for the micro-batch that came last.
  return found != all.end() ? found->second : std::prev(all.end())->second;
}

const RankStep::Done& RankStep::last_done(size_t phase) const {
  return std::prev(done_[phase].end())->second;
}

RankStep::Waits RankStep::waits_of(size_t phase, const Waits& gate, const Unit& unit) const {
  const PhaseWaits& waits = plan_.order.waits(phase);
  const bool each = plan_.phases[phase].each_microbatch;
  if (waits.with != PhaseWaits::kNone) return done(waits.with, unit).waits;
  Waits all;
  for (const size_t other : waits.after) {
    const bool all_of_it = plan_.phases[other].each_microbatch && !each;
    if (!all_of_it) {
      append(all, done(other, unit).ends);
      continue;
    }
    for (const auto& [number, made] : done_[other]) append(all, made.ends);
  }
  if (waits.begins_pass) append(all, gate);
  return all.empty() ? before_ : all;
}

void RankStep::add_phase(size_t phase, const Waits& gate, const Unit& unit) {
  Done made;
  made.waits = waits_of(phase, gate, unit);
  std::visit([&](const auto& work) { add_work(work, phase, made, unit); },
             plan_.phases[phase].work);
  if (made.ends.empty()) made.ends = made.waits;  // it is no work of this rank
  done_[phase][plan_.phases[phase].each_microbatch ? key_of(phase, unit) : 0] = std::move(made);
}

void RankStep::add_work(const ComputeWork& work, size_t phase, Done& made, const Unit& unit) {
  // What comes once beside a phase of each micro-batch goes with the last one.
  const uint32_t pieces =
      plan_.phases[phase].each_microbatch && !is_last(phase, unit) ? 1 : plan_.parts_of[phase];
  const FabricTime time = compute_time(plan_.spec, plan_.seed, work.time / divisor_of(phase),
                                       {rank_, step_, computed_});
  ++computed_;
  Waits waits = made.waits;
  for (uint32_t k = 0; k < pieces; ++k) {
    Op op;
    const auto until = [&](uint32_t count) {
      return static_cast<int64_t>(static_cast<__int128>(time.ps()) * count / pieces);
    };
    op.duration = FabricTime::from_ps(until(k + 1) - until(k));
    waits = {{add_op(op, phase, waits)}};
    made.pieces.push_back(waits);
  }
  made.ends = waits;
}

void RankStep::add_work(const ExchangeWork& work, size_t phase, Done& made, const Unit& unit) {
  const NamedGroups& named = plan_.groups.named(work.group);
  const uint32_t group = named.group_of[rank_];
  const size_t beside = plan_.order.waits(phase).beside;
  const bool each = plan_.phases[phase].each_microbatch;
  const auto pieces_until = [&](uint32_t part) -> const Waits& {
    const std::vector<Waits>& pieces = (each ? done(beside, unit) : last_done(beside)).pieces;
    return pieces[(pieces.size() * (part + 1) + work.parts - 1) / work.parts - 1];
  };
  if (group == NamedGroups::kNone || named.groups[group].size() < 2) {
    if (beside != PhaseWaits::kNone) {
      made.ends = (each ? done(beside, unit) : last_done(beside)).ends;
    }
    return;
  }
  Waits& lane = lane_ends_[work.group];
  for (uint32_t part = 0; part < work.parts; ++part) {
    Waits waits = beside != PhaseWaits::kNone ? pieces_until(part) : made.waits;
    append(waits, lane);
    const uint64_t bytes =
        piece_of(scaled({work.size.value / divisor_of(phase)}), part, work.parts);
    lane = add_exchange(work, phase, named.groups[group], bytes, waits, unit);
  }
  made.ends = lane;
}

RankStep::Waits RankStep::add_exchange(const ExchangeWork& work, size_t phase,
                                       const std::vector<uint32_t>& ranks, uint64_t bytes,
                                       const Waits& waits, const Unit& unit) {
  const std::optional<NodeSpec>& nodes = plan_.spec.nodes;
  const auto node = [&](uint32_t rank) { return rank / nodes->size; };
  const bool is_within = nodes && std::all_of(ranks.begin(), ranks.end(), [&](uint32_t rank) {
                           return node(rank) == node(ranks.front());
                         });
  Op op;
  if (is_within) {
    op.duration = time_in_node(*nodes, work.collective, bytes, static_cast<uint32_t>(ranks.size()));
    op.lane = kNoLane;  // the group's operations follow each other by what they wait for
    return {{add_op(op, phase, waits)}};
  }
  op.kind = OpKind::kCollective;
  op.collective = work.collective;
  op.group = job_.graph.add_group(work.group, ranks);
  op.peer = ranks.front();
  if (work.collective == Collective::kAllReduce) op.algorithm = plan_.spec.collective.all_reduce;
  if (work.zipf_thousandths > 0) {
    // The popular experts are the same for all who send to them.
    const uint64_t place = uint64_t{step_} << 32 | uint64_t{unit.chunk} << 16 | unit.microbatch;
    const uint64_t key = draw(plan_.seed ^ job_key(plan_.spec.name), NodeId{ranks.front()},
                              PortId{static_cast<uint32_t>(phase)}, DrawPurpose::kWorkload, place);
    op.shares = job_.graph.add_shares(
        zipf_shares(static_cast<uint32_t>(ranks.size()), work.zipf_thousandths, key));
  }
  const bool is_data = work.collective != Collective::kBarrier;
  const uint32_t channels = is_data ? plan_.spec.collective.channels : 1;
  Waits ends;
  for (uint32_t channel = 0; channel < channels; ++channel) {
    op.bytes = piece_of(bytes, channel, channels);
    ends.push_back({add_op(op, phase, waits)});
  }
  return ends;
}

void RankStep::add_work(const SendWork& work, size_t phase, Done& made, const Unit& unit) {
  made.ends = add_sends(work, phase, made.waits, unit);
  if (plan_.is_passed_on[phase]) return;  // received at the beginning of a pass
  append(made.ends, add_receives(work, phase, made.waits, unit));
}

RankStep::Waits RankStep::add_sends(const SendWork& work, size_t phase, const Waits& waits,
                                    const Unit& unit) {
  return add_messages(OpKind::kSend, work, phase, waits, unit);
}

RankStep::Waits RankStep::add_receives(const SendWork& work, size_t phase, const Waits& waits,
                                       const Unit& unit) {
  return add_messages(OpKind::kReceive, work, phase, waits, unit);
}

uint32_t RankStep::peer_in_chain(OpKind kind, const SendWork& work, size_t phase,
                                 uint32_t chunk) const {
  const NamedGroups& named = plan_.groups.named(work.group);
  const std::vector<uint32_t>& ranks = named.groups[named.group_of[rank_]];
  const auto stages = static_cast<int64_t>(ranks.size());
  const int64_t stage = chunk * stages + named.place_of[rank_];
  const bool onward = (plan_.phases[phase].pass == Pass::kForward) == (kind == OpKind::kSend);
  const int64_t other = stage + (onward ? 1 : -1);
  if (other < 0 || other >= stages * plan_.spec.virtual_stages) return kAnyPeer;
  return ranks[static_cast<size_t>(other % stages)];
}

RankStep::Waits RankStep::add_messages(OpKind kind, const SendWork& work, size_t phase,
                                       const Waits& waits, const Unit& unit) {
  const Neighbours peers = neighbours_of(plan_.groups.named(work.group), rank_, work.to);
  const bool chained = plan_.is_passed_on[phase] && plan_.spec.virtual_stages > 1;
  const uint32_t peer = chained                 ? peer_in_chain(kind, work, phase, unit.chunk)
                        : kind == OpKind::kSend ? peers.to
                                                : peers.from;
  Waits ends;
  if (peer == kAnyPeer) return ends;
  for (uint32_t part = 0; part < work.parts; ++part) {
    Op op;
    op.kind = kind;
    op.peer = peer;
    op.tag = static_cast<uint32_t>(phase);
    op.bytes = std::max(kElementBytes, piece_of(scaled(work.size), part, work.parts));
    ends.push_back({add_op(op, phase, waits)});
  }
  return ends;
}

uint32_t RankStep::add_op(Op op, size_t label, Waits waits) {
  op.rank = rank_;
  std::sort(waits.begin(), waits.end());
  waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
  job_.step_of.push_back(step_);
  job_.label_of.push_back(static_cast<uint16_t>(label));
  return job_.graph.add(op, waits);
}

/// Rounded up to whole elements.
uint64_t RankStep::scaled(Bytes size) const {
  const uint64_t unit = plan_.spec.scale * kElementBytes;
  return (size.value + unit - 1) / unit * kElementBytes;
}

}  // namespace mrclab::job
