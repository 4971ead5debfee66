#include "live/world/commit_limit.h"

#include <algorithm>
#include <stdexcept>

namespace mrclab::lab {

CommitLimit::CommitLimit(netio::GatePage& gate, Bound pending)
    : gate_(gate), pending_(std::move(pending)) {}

void CommitLimit::start() {
  started_ = true;
  publish();
}

void CommitLimit::set(FabricTime limit) {
  limit_ = limit;
  publish();
}

void CommitLimit::set_brake(Bound brake) {
  brake_ = std::move(brake);
  brake_limit_ = brake_();
}

bool CommitLimit::keep_before(FabricTime instant) {
  const Quiesce quiesce(*this);
  if (quiesce.last_commit() >= instant) return false;
  kept_before_ = std::min(kept_before_, instant);
  return true;
}

void CommitLimit::refresh() {
  kept_before_ = FabricTime::never();
  if (brake_) brake_limit_ = brake_();
  publish();
}

FabricTime CommitLimit::combined() const {
  return std::min({limit_, pending_(), kept_before_ - kPicosecond, brake_limit_});
}

void CommitLimit::publish() {
  if (!started_ || stopped_) return;  // go_on() publishes what is decided by then
  gate_.set_limit(combined());
}

FabricTime CommitLimit::stop() {
  if (stopped_) throw std::logic_error("a lab is stopped within a stop");
  stopped_ = true;
  return gate_.stop_everywhere();
}

void CommitLimit::go_on() {
  stopped_ = false;
  publish();
}

Quiesce::Quiesce(CommitLimit& commits) : commits_(commits), last_commit_(commits.stop()) {}

Quiesce::~Quiesce() { commits_.go_on(); }

}  // namespace mrclab::lab
