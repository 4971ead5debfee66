#include "analysis/checks/open_work.h"

#include <algorithm>

namespace mrclab::analysis {

void OperationTimes::finished(FabricTime time) {
  ++finished_;
  sum_ += time;
  longest_ = std::max(longest_, time);
}

void OperationTimes::open(FabricTime so_far) {
  open_.push_back(so_far);
  longest_open_ = std::max(longest_open_, so_far);
}

uint64_t OperationTimes::hanging() const {
  return static_cast<uint64_t>(
      std::count_if(open_.begin(), open_.end(), [&](FabricTime t) { return t > longest_; }));
}

FabricTime OperationTimes::mean() const {
  FabricTime sum = sum_;
  for (const FabricTime t : open_) sum += t > longest_ ? t : FabricTime::zero();
  const auto count = static_cast<int64_t>(finished_ + hanging());
  return count == 0 ? FabricTime::zero() : sum / count;
}

std::vector<bool> hosts_with_open_work(const JudgedRun& run) {
  std::vector<bool> open(run.topology.host_count());
  std::vector<std::pair<uint32_t, uint32_t>> joined;
  for (uint32_t host = 0; host < open.size(); ++host) {
    open[host] = run.lost_power(host, run.measurements.end);
  }
  for (const HostReport& report : run.hosts.hosts) {
    const auto node = run.topology.find_node(report.host);
    if (!node) continue;
    const uint32_t host = run.topology.node(*node).index;
    for (const QueueReport& queue : report.queues) {
      joined.emplace_back(host, queue.peer);
      const bool done = queue.completed + queue.failed >= queue.posted;
      if (!done || queue.failed > 0 || queue.in_error) open[host] = open[queue.peer] = true;
    }
  }
  for (bool spreads = true; spreads;) {
    spreads = false;
    for (const auto& [a, b] : joined) {
      if (open[a] == open[b]) continue;
      open[a] = open[b] = spreads = true;
    }
  }
  return open;
}

}  // namespace mrclab::analysis
