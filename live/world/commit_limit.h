#pragma once
// How far the processes of a lab may commit: the earliest of what its parts allow, published on the
// gate page. The owner of the lab sets a limit (a pause, a run to an instant), a brake may slow it down,
// the kernel mirror and power cycles need processes to wait, and a Quiesce stops them all.
//
// LiveLab owns it and calls refresh() in each step.

#include <functional>

#include "fabric/base/units.h"
#include "netio/runtime/gate.h"

namespace mrclab::lab {

class CommitLimit {
 public:
  using Bound = std::function<FabricTime()>;

  /// `pending` returns the instant before which something must be done: called whenever the limit is
  /// published. `gate` outlives this. Nothing is published before start().
  CommitLimit(netio::GatePage& gate, Bound pending);

  void start();
  bool started() const { return started_; }

  /// The owner's limit; never(): none.
  void set(FabricTime limit);
  FabricTime limit() const { return limit_; }
  /// `brake` returns an upper bound on commits and is asked at each refresh(); it never decreases.
  void set_brake(Bound brake);
  /// Keeps all processes from committing `instant` until refresh(), by when `pending` must return it.
  /// False if a process may have committed it already.
  bool keep_before(FabricTime instant);

  void refresh();
  /// What is published when nothing stands still.
  FabricTime combined() const;

  /// Stops all processes until go_on(), and returns the latest instant that one of them has committed
  /// or is about to commit. Throws std::logic_error if they are stopped already.
  FabricTime stop();
  void go_on();

 private:
  void publish();

  netio::GatePage& gate_;
  Bound pending_;
  Bound brake_;
  FabricTime limit_ = FabricTime::never();
  FabricTime brake_limit_ = FabricTime::never();
  FabricTime kept_before_ = FabricTime::never();
  bool started_ = false;
  bool stopped_ = false;
};

/// Stops a lab for a moment, so that what happens next can be changed: a fault by hand, a pause. While it lives, no
/// process of the lab commits anything more, so what happens from open_instant() on can still be changed. The lab
/// waits however long its owner is held up. There is one at a time.
class Quiesce {
 public:
  explicit Quiesce(CommitLimit& commits);
  ~Quiesce();
  Quiesce(const Quiesce&) = delete;
  Quiesce& operator=(const Quiesce&) = delete;

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
