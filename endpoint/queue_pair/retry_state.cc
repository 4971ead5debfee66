#include "endpoint/queue_pair/retry_state.h"

#include <algorithm>

namespace mrclab::endpoint {
namespace {

/// Doubled so often, but no further than to hours: 25 doublings of the API's longest timeout would
/// not fit into fabric time.
FabricTime backed_off(FabricTime wait, uint32_t doublings) {
  constexpr FabricTime kLongest = FabricTime::from_ms(3'600'000);
  for (; doublings > 0 && wait < kLongest; --doublings) wait = wait * 2;
  return wait;
}

}  // namespace

FabricTime RetryState::timeout() const {
  const uint32_t doublings =
      retries_ > policy_.linear_retries ? retries_ - policy_.linear_retries : 0;
  return backed_off(policy_.ack_timeout, doublings);
}

FabricTime RetryState::tail_interval(FabricTime shortest) const {
  return std::min(backed_off(shortest, retries_), std::max(shortest, timeout()));
}

bool RetryState::begins_retry(FabricTime waited, FabricTime now) {
  if (retries_ > 0 && now - last_timeout_ < waited) return false;
  last_timeout_ = now;
  return true;
}

std::optional<Sequence> RetryState::release_refused(FabricTime now) {
  if (refused_.empty() || refused_.front().due > now) return std::nullopt;
  return refused_.pop().sequence;
}

}  // namespace mrclab::endpoint
