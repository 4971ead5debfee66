#pragma once
// The load that a host offers to another one, for all queue pairs between them together. Each message goes to the queue
// pair that has the fewest open, of several to the one whose turn it is: so a path that is free takes what one that flows
// share leaves. Without congestion message n goes to queue pair n modulo their number.

#include <cstdint>
#include <vector>

#include "endpoint/base/application.h"
#include "endpoint/workload/arrival_times.h"

namespace mrclab::endpoint {

/// One of the queue pairs.
class PacedSender {
 public:
  virtual ~PacedSender() = default;
  virtual bool has_room() const = 0;
  /// Messages that were posted and are not complete.
  virtual uint64_t open() const = 0;
  /// Posts its next message; false if the queue pair refuses it.
  virtual bool post_next(Verbs& verbs) = 0;
};

class StreamPacer {
 public:
  StreamPacer(const ArrivalTimes::Rule& rule, FabricTime end) : times_(rule), end_(end) {}

  /// Both outlive the pacer's last call.
  void join(PacedSender& sender, Verbs& verbs) { members_.push_back({&sender, &verbs}); }
  /// Posts what is due; `caller` belongs to a member, which gets on_wake when the next message is.
  void pump(Verbs& caller);
  void on_wake(Verbs& caller) {
    sleeping_ = false;
    pump(caller);
  }

 private:
  struct Member {
    PacedSender* sender;
    Verbs* verbs;
  };
  bool post_one();
  size_t next_member(const std::vector<bool>& refused) const;

  ArrivalTimes times_;
  FabricTime end_;
  std::vector<Member> members_;
  size_t turn_ = 0;
  bool sleeping_ = false;
};

}  // namespace mrclab::endpoint
