#include "endpoint/plan/own_connections.h"

#include <numeric>

namespace mrclab::endpoint {

OwnConnections::OwnConnections(const std::vector<ConnectionPlan>& plan, uint32_t hosts)
    : plan_(plan), first_(size_t{hosts} + 1) {
  for (const ConnectionPlan& connection : plan) {
    ++first_[connection.initiator.host + 1];
    ++first_[connection.acceptor.host + 1];
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  places_.resize(first_.back());
  std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
  for (uint32_t place = 0; place < plan.size(); ++place) {
    places_[next[plan[place].initiator.host]++] = place;
    places_[next[plan[place].acceptor.host]++] = place;
  }
}

}  // namespace mrclab::endpoint
