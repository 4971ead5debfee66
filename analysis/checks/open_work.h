#pragma once
// What is not finished when a window ends. An operation that is open has taken the time so far and may take any
// longer. So it counts once it has taken longer than every finished one: what hangs must not pass because it
// never ends. One that is younger was cut by the end of the window and is left out.

#include <cstdint>
#include <vector>

#include "analysis/checks/judged_run.h"

namespace mrclab::analysis {

/// Times of operations of one kind, and those that are open.
class OperationTimes {
 public:
  void finished(FabricTime time);
  void open(FabricTime so_far);

  uint64_t finished() const { return finished_; }
  /// Open operations that have taken longer than every finished one.
  uint64_t hanging() const;
  FabricTime longest_open() const { return longest_open_; }
  /// Over the finished ones and those that hang; zero if there is none.
  FabricTime mean() const;

 private:
  uint64_t finished_ = 0;
  FabricTime sum_, longest_, longest_open_;
  std::vector<FabricTime> open_;
};

/// By host number: does the host, or a peer of its queue pairs, have unfinished messages, a queue pair
/// in error, or no power? Then its work was not done when the run ended.
std::vector<bool> hosts_with_open_work(const JudgedRun& run);

}  // namespace mrclab::analysis
