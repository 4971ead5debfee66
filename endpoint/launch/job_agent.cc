#include "endpoint/launch/job_agent.h"

#include <algorithm>

namespace mrclab::endpoint {

JobAgent::JobAgent(Config config) : config_(std::move(config)) {
  if (config_.self == config_.launcher) launcher_.emplace(*config_.spec, config_.later);
  for (size_t i = 0; i < config_.out.size(); ++i) {
    const Line& line = config_.out[i];
    out_[line.qp] = i;
    line_to_[{line.host, line.number}] = i;
  }
  for (size_t i = 0; i < config_.in.size(); ++i) in_[config_.in[i].qp] = i;
  for (const std::vector<JobWork*>& ranks : config_.attempts) {
    for (JobWork* work : ranks) work->watch_by(*this);
  }
}

void JobAgent::start(Verbs& verbs) {
  verbs_ = &verbs;
  if (launcher_) launcher_->start(verbs.now(), *this);
  if (report_at_ != FabricTime::never()) verbs.wake_at(std::max(report_at_, verbs.now()));
}

void JobAgent::on_rank_error(uint32_t attempt, FabricTime now) {
  if (attempt != attempt_) return;
  // The agent reports the first error of its host's ranks.
  report_at_ = std::min(report_at_, now + config_.spec->on_error->detect / config_.spec->scale);
  if (verbs_ != nullptr) verbs_->wake_at(report_at_);
}

void JobAgent::on_wake(Verbs& verbs) {
  const FabricTime now = verbs.now();
  take_own();
  if (now >= report_at_) {
    report_at_ = FabricTime::never();
    tell_launcher({Word::Kind::kError, attempt_});
  }
  if (now >= ready_at_) {
    ready_at_ = FabricTime::never();
    tell_launcher({Word::Kind::kReady, attempt_, step_to_begin_with()});
  }
  if (launcher_) launcher_->on_wake(now, *this);
}

void JobAgent::tell_launcher(const Word& word) {
  if (launcher_) {
    own_.emplace_back(word, false);
    verbs_->wake_at(verbs_->now());
    return;
  }
  last_word_ = word;
  const auto line = line_to_.find({config_.launcher, line_back_});
  if (line != line_to_.end()) write(line->second, word);
}

void JobAgent::tell(uint32_t host, uint32_t line, const Word& word) {
  if (host == config_.self) {
    own_.emplace_back(word, true);
    verbs_->wake_at(verbs_->now());
    return;
  }
  if (const auto found = line_to_.find({host, line}); found != line_to_.end()) {
    write(found->second, word);
  }
}

void JobAgent::write(size_t number, const Word& word) {
  const Line& line = config_.out[number];
  WriteRequest request;
  request.id = number;
  request.local = line.memory;
  request.remote_va = line.remote_va;
  request.rkey = line.remote_rkey;
  request.immediate = bits_of(word);
  if (verbs_->post_write(line.qp, request)) ++under_way_;
}

/// Words within the host, in their order, when whatever led to them is over.
void JobAgent::take_own() {
  const size_t now = own_.size();  // what these lead to comes with the next wake
  for (size_t i = 0; i < now; ++i) {
    const auto [word, to_agent] = own_.front();
    own_.pop_front();
    if (to_agent) {
      take_order(word);
      if (launcher_) launcher_->on_told(config_.self, verbs_->now(), *this);
    } else if (launcher_) {
      launcher_->on_word(config_.self, word, verbs_->now(), *this);
    }
  }
}

void JobAgent::on_write_complete(Verbs& verbs, QpHandle qp, uint64_t) {
  if (under_way_ > 0) --under_way_;
  const auto line = out_.find(qp);
  if (line == out_.end()) return;
  if (launcher_) {
    launcher_->on_told(config_.out[line->second].host, verbs.now(), *this);
  } else {
    last_word_.reset();
  }
}

void JobAgent::on_write_failed(Verbs&, QpHandle, uint64_t, std::string_view) {
  if (under_way_ > 0) --under_way_;
}

void JobAgent::on_qp_error(Verbs& verbs, QpHandle qp, std::string_view) {
  const auto found = out_.find(qp);
  if (found == out_.end()) return;
  const Line& line = config_.out[found->second];
  if (launcher_) {
    launcher_->on_unreachable(line.host, line.number, verbs.now(), *this);
    return;
  }
  if (line.number != line_back_) return;
  ++line_back_;
  if (last_word_ && last_word_->kind == Word::Kind::kReady) tell_launcher(*last_word_);
}

void JobAgent::on_receive_immediate(Verbs& verbs, QpHandle qp, uint32_t immediate) {
  const auto line = in_.find(qp);
  const std::optional<Word> word = job::word_of(immediate);
  if (line == in_.end() || !word) return;
  if (launcher_) {
    launcher_->on_word(config_.in[line->second].host, *word, verbs.now(), *this);
    return;
  }
  line_back_ = std::max(line_back_, config_.in[line->second].number);
  take_order(*word);
}

void JobAgent::take_order(const Word& word) {
  switch (word.kind) {
    case Word::Kind::kEnd:
      report_at_ = FabricTime::never();
      if (word.attempt >= config_.attempts.size()) return;
      for (JobWork* work : config_.attempts[word.attempt]) {
        work->stop(verbs_->now(), job::kEndedByLauncher);
      }
      return;
    case Word::Kind::kReplace:
      if (word.b < config_.spec->on_error->spares.size()) losses_.replaced[word.a] = word.b;
      return;
    case Word::Kind::kDrop: losses_.dropped.insert(word.a); return;
    case Word::Kind::kPrepare: return prepare(word.attempt);
    case Word::Kind::kGo: return go(word);
    case Word::Kind::kAsk:
      return tell_launcher({Word::Kind::kAsk, word.attempt, have_ended(word.attempt) ? 1u : 0u});
    case Word::Kind::kError:
    case Word::Kind::kReady: return;
  }
}

bool JobAgent::have_ended(uint32_t attempt) const {
  if (attempt >= config_.attempts.size()) return false;
  size_t begun = 0;
  for (const JobWork* work : config_.attempts[attempt]) {
    if (!work->has_begun()) continue;  // this host has fewer ranks than others
    if (!work->finished()) return false;
    ++begun;
  }
  return begun > 0;
}

void JobAgent::prepare(uint32_t attempt) {
  const job::OnError& on = *config_.spec->on_error;
  attempt_ = attempt;
  report_at_ = FabricTime::never();
  const bool loads = on.action == job::OnError::Action::kRestart;
  ready_at_ = verbs_->now() + (loads ? on.load / config_.spec->scale : FabricTime::zero());
  verbs_->wake_at(ready_at_);
}

/// The step that ranks of this host can go on with: in a job that restarts the one behind their newest checkpoint, in one
/// that shrinks the one behind the last that all of them ended. 0 for a host that had no rank before.
uint32_t JobAgent::step_to_begin_with() const {
  const bool restarts = config_.spec->on_error->action == job::OnError::Action::kRestart;
  uint32_t step = 0;
  for (const std::vector<JobWork*>& ranks : config_.attempts) {
    std::optional<uint32_t> of_all, of_any;
    for (const JobWork* work : ranks) {
      if (!work->has_begun()) continue;
      of_all = std::min(of_all.value_or(work->steps_done()), work->steps_done());
      of_any = std::max(of_any.value_or(0), work->steps_saved());
    }
    step = std::max(step, (restarts ? of_any : of_all).value_or(0));
  }
  return step;
}

void JobAgent::go(const Word& word) {
  if (word.attempt != attempt_ || word.attempt >= config_.attempts.size()) return;
  const std::vector<JobWork*>& ranks = config_.attempts[word.attempt];
  const std::vector<uint32_t> hosts = losses_.hosts(*config_.spec);
  std::vector<uint32_t> mine;
  for (uint32_t rank = 0; rank < hosts.size(); ++rank) {
    if (hosts[rank] == config_.self && mine.size() < ranks.size()) mine.push_back(rank);
  }
  for (size_t i = 0; i < mine.size(); ++i) {
    for (size_t k = 0; k < mine.size(); ++k) {
      if (i != k) ranks[i]->copy_to(mine[k], *ranks[k]);
    }
  }
  for (size_t i = 0; i < mine.size(); ++i) ranks[i]->begin(mine[i], hosts, word.a);
}

bool JobAgent::finished() const {
  return under_way_ == 0 && own_.empty() && report_at_ == FabricTime::never() &&
         ready_at_ == FabricTime::never() && (!launcher_ || launcher_->at_rest());
}

std::optional<JobReport> JobAgent::job() const {
  if (!launcher_) return std::nullopt;
  JobReport report;
  report.workload = config_.workload;
  report.of_launcher = true;
  report.turns = launcher_->turns();
  return report;
}

}  // namespace mrclab::endpoint
