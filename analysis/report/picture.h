#pragma once
// The data of a page about a run beside its verdict, as one JSON object: series over fabric time,
// regions in which faults were on, the states of entropy values, the planes' shares, packets that
// did not make it at once, the story, the pace. The page computes nothing but where to draw it.
//
//   fabric, end_us, rtt_us
//   series   bin_us, planes [plane][bin] Gb/s, lost/trimmed/again [bin] packets, queues: kib
//            [plane][bin], ports, deep (the deepest queues: port, roce, kib, trimmed, marked [bin]), or unknown
//   regions  from_us, until_us, fault (index), label, planes [plane, from_us, until_us]
//   planes   plane, bytes, share
//   evs      rows (host, qp, peer), columns (paths), states, cells (which columns a row has),
//            changes [t_us, row, column, state], left_out, rows_left_out, heard
//   windows  windows that hosts reported: heard, until_us or null, left_out, quadrants and causes
//            (words), flows (from, to, least, median, most, in_flight in KiB, delay_us, target_us, base_us,
//            answers by quadrant, cuts [times, KiB] by cause, points [t_us, window KiB, in flight KiB,
//            longest delay us or null, quadrant or -1, cause of the largest cut or -1, KiB cut])
//   packets  rows, left_out
//   story    t_us, kind, text, packets [[qp, psn]]
//   waits    who waited for whom: from_us, until_us, host, chain (hosts), text
//   jobs     for each job of the verdict: name, groups (word 0: computing), ops [rank, step,
//            from_us, until_us, group], left_out
//   pace     [t_us, dilation or null, slack_ms or null, whose]
//
// All is bounded: 20,000 operations of a job, 400 bins, 128 queue pairs, 20,000 changes, 400 packets, 2,000 instants of pace,
// 24 flows with 400 points of their windows.

#include <span>
#include <string>

#include "analysis/measure/job_result.h"
#include "analysis/measure/queue_depth.h"
#include "analysis/verdict/run_story.h"

namespace mrclab::analysis {

struct PictureInputs {
  StoryInputs story;
  std::span<const PacePoint> pace;
  const QueueDepths& queues;  ///< in bins of the measurements
  std::span<const JobResult> jobs = {};
};

inline constexpr size_t kMaxRowsShown = 128;
inline constexpr size_t kMaxChangesShown = 20'000;
inline constexpr size_t kMaxPacketsShown = 400;
inline constexpr size_t kMaxPaceShown = 2'000;
inline constexpr size_t kMaxRegionsShown = 200;

std::string picture_of(const PictureInputs& in);

}  // namespace mrclab::analysis
