#include "endpoint/workload/job_work.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "fabric/base/random.h"

namespace mrclab::endpoint {
namespace {

/// A write's id: its operation, and whether it is the last part of it.
constexpr uint64_t make_id(uint32_t op, bool last) { return uint64_t{op} << 1 | (last ? 1 : 0); }

}  // namespace

Ramp job_ramp(uint64_t seed, uint32_t op) {
  const uint64_t random = mix64(mix64(seed) ^ op);
  return {static_cast<uint32_t>(random), static_cast<uint32_t>(random >> 32) | 1};
}

JobWork::JobWork(Config config)
    : config_(std::move(config)),
      messages_(config_.links.size()),
      steps_(config_.plan->planned.steps),
      origin_(config_.at) {
  for (size_t link = 0; link < config_.links.size(); ++link) {
    const Link& to = config_.links[link];
    assert(!to.qps.empty());
    links_[to.to] = queues_.size();
    for (uint32_t number = 0; number < to.qps.size(); ++number) {
      queue_of_[to.qps[number]] = queues_.size();
      queues_.emplace_back();
      queues_.back().link = link;
      queues_.back().number = number;
    }
  }
  if (config_.attempt > 0) return;
  rank_.emplace(config_.plan->program, config_.rank);
  count_steps();
}

void JobWork::count_steps() {
  uint64_t sent = 0;
  for (const uint32_t op : config_.plan->program.ops_of(config_.rank)) {
    ++steps_[config_.plan->step_of(op)].left;
    const job::Op& what = config_.plan->program.graph().op(op);
    if (what.kind == job::OpKind::kSend) sent += what.bytes;
  }
  config_.report.unit = {sent / std::max<uint64_t>(steps_.size(), 1)};
}

void JobWork::start(Verbs& verbs) {
  verbs_ = &verbs;
  origin_ = verbs.now();
  if (died_ || !rank_) return;
  rank_->start(verbs.now(), *this);
  take_arrivals();
}

void JobWork::begin(uint32_t rank, const std::vector<uint32_t>& hosts, uint32_t from_step) {
  if (died_ || rank_ || verbs_ == nullptr) return;
  config_.rank = rank;
  hosts_ = hosts;
  std::map<uint32_t, size_t> queue_to;  // by host
  links_.swap(queue_to);
  for (uint32_t to = 0; to < hosts_.size(); ++to) {
    if (const auto found = queue_to.find(hosts_[to]); found != queue_to.end()) {
      links_[to] = found->second;
    }
  }
  origin_ = verbs_->now();
  done_ = saved_ = from_step;
  rank_.emplace(config_.plan->program, rank);
  count_steps();
  std::vector<uint32_t> before;
  for (const uint32_t op : config_.plan->program.ops_of(rank)) {
    const uint32_t step = config_.plan->step_of(op);
    if (step >= from_step) continue;
    before.push_back(op);
    --steps_[step].left;
  }
  rank_->skip(before);
  rank_->start(origin_, *this);
  take_arrivals();
}

bool JobWork::comes_from(uint32_t op, uint32_t host) const {
  return hosts_.empty() || hosts_[config_.plan->program.graph().op(op).rank] == host;
}

void JobWork::take_arrived(uint32_t send) {
  if (died_) return;
  arrived_.push_back(send);
  if (verbs_ != nullptr) verbs_->wake_at(verbs_->now());
}

void JobWork::take_arrivals() {
  while (!died_ && rank_ && !arrived_.empty()) {
    const uint32_t send = arrived_.front();
    arrived_.pop_front();
    rank_->on_arrived(send, verbs_->now(), *this);
  }
}

void JobWork::on_wake(Verbs& verbs) {
  if (died_) return;
  if (woken_at_ <= verbs.now()) woken_at_ = FabricTime::never();
  end_copies();
  take_arrivals();
  if (!died_ && rank_) rank_->on_wake(verbs.now(), *this);
  if (config_.watchdog > FabricTime::zero()) watch_collectives();
}

void JobWork::wake_at(FabricTime at) {
  if (at == woken_at_ || died_) return;
  woken_at_ = at;
  verbs_->wake_at(at);
}

void JobWork::copy(uint32_t op) {
  const job::RankSites& sites = config_.plan->program.sites();
  copied_at_ = std::max(copied_at_, verbs_->now()) +
               sites.copy_time(config_.plan->program.graph().op(op).bytes);
  copies_.push_back({copied_at_ + sites.latency, op});
  verbs_->wake_at(copies_.back().at);
}

/// The neighbour takes its message when it is woken, as whoever sent it may be in the midst of something.
void JobWork::end_copies() {
  while (!died_ && !copies_.empty() && copies_.front().at <= verbs_->now()) {
    const uint32_t op = copies_.front().op;
    copies_.pop_front();
    neighbours_.at(config_.plan->program.graph().op(op).peer)->take_arrived(op);
    rank_->on_sent(op, verbs_->now(), *this);
  }
}

void JobWork::send(uint32_t op) {
  if (died_) return;
  if (config_.plan->program.is_local(op)) return copy(op);
  const size_t first = links_.at(config_.plan->program.graph().op(op).peer);
  const size_t link = queues_[first].link;
  Queue& queue = queues_[first + messages_[link]++ % config_.links[link].qps.size()];
  queue.waiting.push_back(op);
  pump(queue);
}

/// Posts what slots are free for.
void JobWork::pump(Queue& queue) {
  const Link& link = config_.links[queue.link];
  while (!died_ && !queue.waiting.empty() &&
         queue.posted - queue.acknowledged < link.layout.slots()) {
    const uint32_t op = queue.waiting.front();
    const uint64_t bytes = config_.plan->program.graph().op(op).bytes;
    const uint64_t length = link.layout.part_bytes(bytes, queue.part);
    const uint64_t at = link.layout.offset(queue.number, queue.posted);
    const bool last = queue.part + 1 == link.layout.parts_of(bytes);
    const Memory local = link.memory.subspan(at, length);
    fill_ramp(local, queue.part * (link.layout.slot_bytes() / sizeof(uint32_t)),
              job_ramp(config_.seed, op));
    WriteRequest request;
    request.id = make_id(op, last);
    request.local = local;
    request.remote_va = link.remote_va + at;
    request.rkey = link.remote_rkey;
    request.immediate = op;
    if (!verbs_->post_write(link.qps[queue.number], request)) {
      die(verbs_->now(), "a write to " + link.to_host + " was refused");
      return;
    }
    ++queue.posted;
    ++queue.part;
    if (!last) continue;
    queue.part = 0;
    queue.waiting.pop_front();
  }
}

void JobWork::on_write_complete(Verbs& verbs, QpHandle qp, uint64_t id) {
  const auto found = queue_of_.find(qp);
  if (found == queue_of_.end() || died_) return;
  Queue& queue = queues_[found->second];
  ++queue.acknowledged;
  pump(queue);
  if ((id & 1) != 0 && !died_) rank_->on_sent(static_cast<uint32_t>(id >> 1), verbs.now(), *this);
}

void JobWork::on_ended(uint32_t op) {
  if (!open_.empty()) {
    const auto open = open_.find(config_.plan->program.messages().origin[op]);
    if (open != open_.end() && --open->second.messages == 0) open_.erase(open);
  }
  const uint32_t number = config_.plan->step_of(op);
  Step& step = steps_[number];
  const job::OpTime& time = rank_->times()[config_.plan->program.place(op)];
  step.begun = std::min(step.begun, time.begin);
  if (--step.left > 0) return;
  done_ = number + 1;
  if (config_.checkpoint_every > 0 && done_ % config_.checkpoint_every == 0) saved_ = done_;
  config_.report.record_piece(origin_ + step.begun, origin_ + time.end);
  verbs_->report_step_done(number, time.end - step.begun);
}

/// A collective in this rank lasts from the first of its messages that begins until the last has ended.
void JobWork::on_begun(uint32_t op) {
  if (config_.watchdog == FabricTime::zero()) return;
  const uint32_t origin = config_.plan->program.messages().origin[op];
  if (config_.plan->planned.graph.op(origin).kind != job::OpKind::kCollective) return;
  const FabricTime now = verbs_->now();
  const auto [open, is_new] = open_.try_emplace(origin, Open{now});
  ++open->second.messages;
  if (is_new && watch_at_ == FabricTime::never()) wake_watchdog(now);
}

void JobWork::wake_watchdog(FabricTime since) {
  watch_at_ = since + config_.watchdog;
  verbs_->wake_at(watch_at_);
}

void JobWork::watch_collectives() {
  if (verbs_->now() < watch_at_ || died_) return;
  watch_at_ = FabricTime::never();
  const auto oldest =
      std::min_element(open_.begin(), open_.end(), [](const auto& a, const auto& b) {
        return std::pair(a.second.since, a.first) < std::pair(b.second.since, b.first);
      });
  if (oldest == open_.end()) return;
  const auto& [origin, open] = *oldest;
  if (verbs_->now() - open.since < config_.watchdog) return wake_watchdog(open.since);
  die(verbs_->now(), "watchdog: " + config_.plan->planned.graph.text_of(origin) +
                         " has not ended within " + to_string(config_.watchdog));
}

void JobWork::on_qp_error(Verbs& verbs, QpHandle qp, std::string_view reason) {
  const auto found = queue_of_.find(qp);
  if (found == queue_of_.end()) return;
  die(verbs.now(), "queue pair to " + config_.links[queues_[found->second].link].to_host + ": " +
                       std::string(reason));
}

void JobWork::die(FabricTime now, std::string reason) {
  if (died_ || !rank_ || rank_->finished()) return;
  stop(now, std::move(reason));
  if (watch_ != nullptr) watch_->on_rank_error(config_.attempt, now);
}

void JobWork::stop(FabricTime now, std::string reason) {
  if (died_ || (rank_ && rank_->finished())) return;
  died_ = true;
  died_at_ = now;
  reason_ = std::move(reason);
}

std::optional<JobReport> JobWork::job() const {
  if (!rank_) return std::nullopt;
  JobReport report;
  report.workload = config_.report.workload;
  report.attempt = config_.attempt;
  report.rank.rank = config_.rank;
  report.rank.origin = origin_;
  report.rank.times = rank_->times();
  report.rank.died_at = died_at_;
  report.rank.died = reason_;
  return report;
}

}  // namespace mrclab::endpoint
