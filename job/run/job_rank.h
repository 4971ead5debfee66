#pragma once
// One rank of a job: which of its operations may begin, given what has ended, been sent and arrived. Pure: it is given
// the time, and asks its host to send and to be woken.
//
// Operations that become ready at one instant begin in the order of the job. Computing occupies its lane; what waits for
// it there goes in the order in which it became ready. A message that arrives before its receive has begun waits for it.

#include <cstdint>
#include <deque>
#include <map>
#include <queue>
#include <span>
#include <vector>

#include "job/run/job_program.h"
#include "job/run/op_times.h"

namespace mrclab::job {

/// What a rank asks of who runs it.
class RankHost {
 public:
  virtual ~RankHost() = default;
  /// Sends the message of this operation; on_sent() when the peer has acknowledged it.
  virtual void send(uint32_t op) = 0;
  /// Calls on_wake() at `at`; more than once is harmless.
  virtual void wake_at(FabricTime at) = 0;
  /// This operation begins, of a kind that waits for others: a send or a receive.
  virtual void on_begun(uint32_t /*op*/) {}
  /// This operation has ended: its times are in JobRank::times(). Whatever waits for it comes after the call.
  virtual void on_ended(uint32_t /*op*/) {}
};

class JobRank {
 public:
  /// `program` outlives it.
  JobRank(const JobProgram& program, uint32_t rank);

  /// These operations of its own were done before the job begins, as far as this rank is concerned: what waits for them
  /// does not. Their times are zero. Before start().
  void skip(std::span<const uint32_t> ops);
  /// The job begins: `now` is what not_before of its operations counts from. Once, before all others.
  void start(FabricTime now, RankHost& host);
  void on_wake(FabricTime now, RankHost& host);
  /// Both ignore what is none of this rank's, or was reported before.
  void on_sent(uint32_t op, FabricTime now, RankHost& host);
  /// The message of another rank's send is here, whole.
  void on_arrived(uint32_t send, FabricTime now, RankHost& host);

  uint32_t rank() const { return rank_; }
  bool finished() const { return ended_ == times_.size(); }
  size_t ended() const { return ended_; }
  /// By place in JobProgram::ops_of(). Times count from the job's start.
  const OpTimes& times() const { return times_; }

 private:
  struct Lane {
    bool busy = false;
    std::deque<uint32_t> waiting;
  };
  /// What is to come: a computation that ends, or an operation that waits for its time.
  struct Wake {
    FabricTime at;
    uint32_t op = 0;
    bool ends = false;
    auto operator<=>(const Wake&) const = default;
  };

  bool is_own(uint32_t op) const;
  OpTime& time_of(uint32_t op) { return times_[program_.place(op)]; }
  void release(uint32_t op, bool by_start);
  void make_ready(uint32_t op);
  void begin(uint32_t op);
  void begin_message(uint32_t op, RankHost& host);
  void compute(uint32_t op);
  void end(uint32_t op, RankHost& host);
  /// Begins all that became ready, in order.
  void settle(RankHost& host);

  const JobProgram& program_;
  uint32_t rank_;
  FabricTime origin_, now_;
  OpTimes times_;
  std::vector<uint32_t> waits_for_;  ///< by place: dependencies that are still to come
  std::vector<bool> arrived_;        ///< by place: of a receive
  std::map<uint16_t, Lane> lanes_;
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready_;
  std::priority_queue<Wake, std::vector<Wake>, std::greater<>> wakes_;
  size_t ended_ = 0;
};

}  // namespace mrclab::job
