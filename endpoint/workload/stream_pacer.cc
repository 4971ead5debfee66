#include "endpoint/workload/stream_pacer.h"

namespace mrclab::endpoint {

void StreamPacer::pump(Verbs& caller) {
  while (true) {
    const FabricTime when = times_.due();
    if (caller.now() >= end_ || when >= end_) return;
    if (when > caller.now()) {
      if (!sleeping_) caller.wake_at(when);
      sleeping_ = true;
      return;
    }
    if (!post_one()) return;  // a completion comes
    times_.pass();
  }
}

/// The member with room that has the fewest messages open, from the turn on; their number if there is none.
size_t StreamPacer::next_member(const std::vector<bool>& refused) const {
  size_t best = members_.size();
  for (size_t i = 0; i < members_.size(); ++i) {
    const size_t at = (turn_ + i) % members_.size();
    const PacedSender& sender = *members_[at].sender;
    if (refused[at] || !sender.has_room()) continue;
    if (best == members_.size() || sender.open() < members_[best].sender->open()) best = at;
  }
  return best;
}

bool StreamPacer::post_one() {
  std::vector<bool> refused(members_.size());
  while (true) {
    const size_t at = next_member(refused);
    if (at == members_.size()) return false;
    if (members_[at].sender->post_next(*members_[at].verbs)) {
      turn_ = at + 1;
      return true;
    }
    refused[at] = true;
  }
}

}  // namespace mrclab::endpoint
