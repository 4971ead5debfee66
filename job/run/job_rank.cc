#include "job/run/job_rank.h"

#include <algorithm>

namespace mrclab::job {

JobRank::JobRank(const JobProgram& program, uint32_t rank)
    : program_(program),
      rank_(rank),
      times_(program.ops_of(rank).size()),
      waits_for_(times_.size()),
      arrived_(times_.size()) {
  for (const uint32_t op : program.ops_of(rank)) {
    waits_for_[program.place(op)] = program.graph().op(op).dependencies;
  }
}

bool JobRank::is_own(uint32_t op) const {
  return op < program_.graph().ops().size() && program_.graph().op(op).rank == rank_;
}

void JobRank::skip(std::span<const uint32_t> ops) {
  for (const uint32_t op : ops) {
    time_of(op).begin = time_of(op).end = FabricTime::zero();
    arrived_[program_.place(op)] = true;
    ++ended_;
    for (const Dependency& dependent : program_.dependents(op)) {
      --waits_for_[program_.place(dependent.op)];
    }
  }
}

void JobRank::start(FabricTime now, RankHost& host) {
  origin_ = now;
  now_ = FabricTime::zero();
  for (const uint32_t op : program_.ops_of(rank_)) {
    if (waits_for_[program_.place(op)] > 0 || time_of(op).end != FabricTime::never()) continue;
    make_ready(op);
  }
  settle(host);
}

/// Its dependencies have ended: it is ready now, or at its own time.
void JobRank::make_ready(uint32_t op) {
  const FabricTime at = program_.graph().op(op).not_before;
  if (at > now_) {
    wakes_.push({at, op, false});
  } else {
    ready_.push(op);
  }
}

void JobRank::release(uint32_t op, bool by_start) {
  for (const Dependency& dependent : program_.dependents(op)) {
    if (dependent.on_start != by_start) continue;
    time_of(dependent.op).begun_by = op;  // the last one stays
    if (--waits_for_[program_.place(dependent.op)] == 0) make_ready(dependent.op);
  }
}

void JobRank::begin(uint32_t op) {
  time_of(op).begin = now_;
  release(op, true);
}

void JobRank::begin_message(uint32_t op, RankHost& host) {
  begin(op);
  host.on_begun(op);
}

void JobRank::end(uint32_t op, RankHost& host) {
  time_of(op).end = now_;
  ++ended_;
  host.on_ended(op);
  release(op, false);
}

void JobRank::compute(uint32_t op) {
  begin(op);
  wakes_.push({now_ + program_.graph().op(op).duration, op, true});
}

void JobRank::settle(RankHost& host) {
  while (!ready_.empty()) {
    const uint32_t index = ready_.top();
    ready_.pop();
    const Op& op = program_.graph().op(index);
    if (op.kind == OpKind::kSend) {
      begin_message(index, host);
      host.send(index);
    } else if (op.kind == OpKind::kReceive) {
      begin_message(index, host);
      if (arrived_[program_.place(index)]) end(index, host);
    } else if (op.lane == kNoLane) {
      begin(index);
      if (op.duration == FabricTime::zero()) {
        end(index, host);
      } else {
        wakes_.push({now_ + op.duration, index, true});
      }
    } else if (Lane& lane = lanes_[op.lane]; lane.busy) {
      lane.waiting.push_back(index);
    } else {
      lane.busy = true;
      compute(index);
    }
  }
  if (!wakes_.empty()) host.wake_at(origin_ + wakes_.top().at);
}

void JobRank::on_wake(FabricTime now, RankHost& host) {
  now_ = std::max(now_, now - origin_);
  while (!wakes_.empty() && wakes_.top().at <= now_) {
    const Wake wake = wakes_.top();
    wakes_.pop();
    if (!wake.ends) {
      ready_.push(wake.op);
      continue;
    }
    const uint16_t number = program_.graph().op(wake.op).lane;
    end(wake.op, host);
    if (number == kNoLane) continue;
    Lane& lane = lanes_[number];
    lane.busy = !lane.waiting.empty();
    if (!lane.busy) continue;
    const uint32_t next = lane.waiting.front();
    lane.waiting.pop_front();
    time_of(next).begun_by = wake.op;
    compute(next);
  }
  settle(host);
}

void JobRank::on_sent(uint32_t op, FabricTime now, RankHost& host) {
  if (!is_own(op) || program_.graph().op(op).kind != OpKind::kSend) return;
  if (time_of(op).begin == FabricTime::never() || time_of(op).end != FabricTime::never()) return;
  now_ = std::max(now_, now - origin_);
  end(op, host);
  settle(host);
}

void JobRank::on_arrived(uint32_t send, FabricTime now, RankHost& host) {
  if (send >= program_.graph().ops().size()) return;
  const uint32_t receive = program_.partner(send);
  if (receive == send || !is_own(receive) || arrived_[program_.place(receive)]) return;
  now_ = std::max(now_, now - origin_);
  arrived_[program_.place(receive)] = true;
  if (time_of(receive).begin == FabricTime::never()) return;
  time_of(receive).ended_by = send;
  end(receive, host);
  settle(host);
}

}  // namespace mrclab::job
