#pragma once
// Stops a lab for a moment, so that what happens next can be changed: a fault by hand, a pause.

#include "fabric/base/units.h"

namespace mrclab::lab {

class CommitLimit;
class LiveLab;

/// While it lives, no process of the lab commits anything more, so what happens from open_instant()
/// on can still be changed. The lab waits however long its owner is held up. There is one at a
/// time.
class Standstill {
 public:
  explicit Standstill(LiveLab& lab);
  explicit Standstill(CommitLimit& commits);
  ~Standstill();
  Standstill(const Standstill&) = delete;
  Standstill& operator=(const Standstill&) = delete;

  /// The earliest instant that no process can have committed. Where the lab stands that is the next
  /// picosecond.
  FabricTime open_instant() const { return last_commit_ + kPicosecond; }
  /// The latest instant that a process has committed, or is about to commit.
  FabricTime last_commit() const { return last_commit_; }

 private:
  CommitLimit& commits_;
  FabricTime last_commit_;
};

}  // namespace mrclab::lab
