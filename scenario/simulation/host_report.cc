#include "scenario/simulation/host_report.h"

namespace mrclab::lab {

analysis::HostReport host_report(const std::string& host, const endpoint::HostAccount& account) {
  const endpoint::HostStats& stats = account.stats;
  analysis::HostReport report;
  report.host = host;
  report.qps = stats.qps + stats.qps_ended;
  report.qps_in_error = stats.qps_in_error;
  report.bytes_verified = stats.bytes_verified;
  report.bytes_wrong = stats.bytes_mismatched;
  report.access_violations = stats.memory_faults;
  report.bytes_placed = stats.goodput_bytes();
  for (const endpoint::QueueCounts& q : account.queues) {
    report.queues.push_back(
        {q.local, q.remote, q.peer, q.posted, q.completed, q.failed, q.out_of_order, q.in_error});
  }
  for (const endpoint::QpErrorCount& error : stats.qp_errors) {
    report.error += (report.error.empty() ? "" : ", ") + error.reason;
  }
  return report;
}

}  // namespace mrclab::lab
