#pragma once
// Single steps ask the daemons what happened: over their control sockets, one after the other,
// while the lab stands still.

#include <nlohmann/json.hpp>
#include <optional>

#include "fabric/history/record_watch.h"
#include "live/world/live_lab.h"

namespace mrclab::lab {

class DaemonWatch {
 public:
  /// Records of all processes together that take_records() returns at most.
  static constexpr size_t kMaxRecords = 2000;

  /// `lab` outlives this.
  explicit DaemonWatch(LiveLab& lab) : lab_(lab) {}

  /// From now on every process of the gate counts what matches, starting from 0. Throws SystemError
  /// or RpcError when one does not answer.
  void start(const RecordFilter& filter);
  /// Ends watching. A process that does not answer is ignored here; supervision deals with it.
  void stop();
  /// {"records": [...], "left_out": n}, ordered by time and, within an instant, by process.
  nlohmann::json take_records();

 private:
  LiveLab& lab_;
  bool watching_ = false;
};

}  // namespace mrclab::lab
