#include "netio/record/process_report.h"

#include <algorithm>

#include "fabric/history/report_json.h"

namespace mrclab::netio {

void ProcessReport::add_earlier(const ProcessReport& earlier) {
  for (const auto count :
       {&ProcessReport::frames_sent, &ProcessReport::frames_received, &ProcessReport::late_frames,
        &ProcessReport::foreign_frames, &ProcessReport::unknown_frames,
        &ProcessReport::failed_sends, &ProcessReport::ring_drops, &ProcessReport::late_effects,
        &ProcessReport::frame_pool_exhausted, &ProcessReport::gap_count,
        &ProcessReport::capture_records, &ProcessReport::capture_skipped,
        &ProcessReport::events_dropped}) {
    this->*count += earlier.*count;
  }
  gaps.insert(gaps.end(), earlier.gaps.begin(), earlier.gaps.end());
  failed_send_reasons.insert(failed_send_reasons.end(), earlier.failed_send_reasons.begin(),
                             earlier.failed_send_reasons.end());
  min_slack_ns = std::min(min_slack_ns, earlier.min_slack_ns);
}

std::vector<HistoryStream> ProcessReport::streams() const {
  auto streams = history_from_text(history);
  if (!streams) throw ReportError("history: expected lines of name, count and hash");
  return std::move(*streams);
}

}  // namespace mrclab::netio
