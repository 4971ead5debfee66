#pragma once
// One rank of a job as an application of its host: job/run/job_rank.h decides, and this class sends, computes by being
// woken, and counts steps. Messages that arrive come by way of job_inbox.h.
//
// Messages to one rank go over the queue pairs of their connection in turns, each whole on one of them, and there one after
// the other in slots (job_plan.h). A queue pair's error ends the rank: it sends and computes no more, and JobReport has
// the instant and the reason. Other ranks that wait for it wait until the run's end, or until the job's launcher ends them
// (endpoint/launch/job_agent.h), which starts later attempts as well: of these a host has one of its own.
//
// A host may have several ranks, each with a JobWork and queue pairs of its own. What they send to each other is copied at
// the job's rate for that (job/graph/rank_sites.h), and no packet is made of it.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "endpoint/base/application.h"
#include "endpoint/workload/job_plan.h"
#include "endpoint/workload/ramp.h"
#include "job/run/job_rank.h"

namespace mrclab::endpoint {

/// The contents of the message of operation `op`.
Ramp job_ramp(uint64_t seed, uint32_t op);

/// Whom a JobWork calls when its rank has an error.
class RankWatch {
 public:
  virtual ~RankWatch() = default;
  /// Called once, within whatever the rank's host does at `now`.
  virtual void on_rank_error(uint32_t attempt, FabricTime now) = 0;
};

class JobWork : public Application, private job::RankHost {
 public:
  /// To another rank; of a later attempt, to another host.
  struct Link {
    explicit Link(const JobLayout& where) : layout(where) {}
    JobLayout layout;
    uint32_t to = 0;      ///< rank; of a later attempt the host's number
    std::string to_host;  ///< its name, for messages
    std::vector<QpHandle> qps;
    uint64_t remote_va = 0;  ///< slots at the receiver, a ring for each queue pair
    uint32_t remote_rkey = 0;
    Memory memory;  ///< as many, which this host sends from
  };
  struct Config {
    std::shared_ptr<const JobPlan> plan;  ///< shared by all hosts of a process: as large as the job
    uint32_t rank = 0;
    uint64_t seed = 0;  ///< from the run's seed and this workload, the same on all hosts
    FabricTime at;      ///< when it is to start; a host that is paused then starts it later
    std::vector<Link> links;
    WorkReport report;  ///< members that name the work are filled in
    /// Of a later attempt, which waits for begin(); `rank` is known by then.
    uint32_t attempt = 0;
    FabricTime watchdog;            ///< of a collective in this rank; zero: none
    uint32_t checkpoint_every = 0;  ///< steps; 0: there are none
  };
  explicit JobWork(Config config);

  /// A later attempt begins, with this step: `hosts` has the number of each rank's host. Once, behind start().
  void begin(uint32_t rank, const std::vector<uint32_t>& hosts, uint32_t from_step);
  /// Outlives it.
  void watch_by(RankWatch& watch) { watch_ = &watch; }
  /// Another rank of the same host, to which this one copies what it sends there. Outlives it.
  void copy_to(uint32_t rank, JobWork& work) { neighbours_[rank] = &work; }
  /// The launcher has ended the attempt: the rank sends and computes no more.
  void stop(FabricTime now, std::string reason);
  uint32_t steps_done() const { return done_; }  ///< with those before it began
  uint32_t steps_saved() const {
    return saved_;
  }  ///< by the last checkpoint that it knows to be whole
  bool has_begun() const { return rank_.has_value(); }
  /// The sender of that operation is on this host, as far as is known.
  bool comes_from(uint32_t op, uint32_t host) const;

  void start(Verbs& verbs) override;
  void on_write_complete(Verbs& verbs, QpHandle qp, uint64_t id) override;
  void on_receive_immediate(Verbs&, QpHandle, uint32_t) override {}
  void on_wake(Verbs& verbs) override;
  void on_qp_error(Verbs& verbs, QpHandle qp, std::string_view reason) override;
  bool finished() const override { return died_ || !rank_ || rank_->finished(); }
  const WorkReport* work() const override { return rank_ ? &config_.report : nullptr; }
  std::optional<JobReport> job() const override;

  /// The message of this send of another rank is here. The rank gets it as soon as its host works, which may be paused.
  void take_arrived(uint32_t send);
  /// A connection from another host has failed.
  void die(FabricTime now, std::string reason);

 private:
  /// One queue pair of a link.
  struct Queue {
    size_t link = 0;
    uint32_t number = 0;           ///< in its link
    std::deque<uint32_t> waiting;  ///< sends that are not posted whole; at most those of the rank
    uint64_t part = 0;             ///< of the first of them, that is next
    uint64_t posted = 0, acknowledged = 0;  ///< parts
  };
  /// What is left of a step in this rank.
  struct Step {
    uint64_t left = 0;
    FabricTime begun = FabricTime::never();
  };

  // job::RankHost
  void send(uint32_t op) override;
  void wake_at(FabricTime at) override;
  void on_begun(uint32_t op) override;
  void on_ended(uint32_t op) override;

  /// Counts what the rank has to do, step by step.
  void count_steps();
  void watch_collectives();
  void wake_watchdog(FabricTime since);
  void take_arrivals();
  void pump(Queue& queue);
  void copy(uint32_t op);
  void end_copies();

  /// A collective that has begun in this rank.
  struct Open {
    FabricTime since;
    uint64_t messages = 0;  ///< that have not ended
  };

  Config config_;
  std::optional<job::JobRank> rank_;  ///< of a later attempt since it began
  std::vector<uint32_t> hosts_;       ///< by rank; of a later attempt alone
  RankWatch* watch_ = nullptr;
  uint32_t done_ = 0, saved_ = 0;
  std::map<uint32_t, Open> open_;  ///< by operation of the job; only with a watchdog
  FabricTime watch_at_ = FabricTime::never();
  std::vector<Queue> queues_;         ///< link by link
  std::map<uint32_t, size_t> links_;  ///< by rank: its first queue
  std::map<QpHandle, size_t> queue_of_;
  std::vector<uint64_t> messages_;  ///< by link: sent so far
  std::vector<Step> steps_;
  /// A message that is copied to another rank of the host.
  struct Copy {
    FabricTime at;  ///< when that one has it
    uint32_t op = 0;
  };
  std::map<uint32_t, JobWork*> neighbours_;  ///< by rank
  std::deque<Copy> copies_;                  ///< in the order of their ends; at most its sends
  FabricTime copied_at_;                     ///< when the last of them is copied
  std::deque<uint32_t> arrived_;             ///< not given to the rank yet; at most its receives
  Verbs* verbs_ = nullptr;                   ///< since the start
  FabricTime origin_;
  FabricTime woken_at_ = FabricTime::never();  ///< what was asked for last
  bool died_ = false;
  FabricTime died_at_ = FabricTime::never();
  std::string reason_;
};

}  // namespace mrclab::endpoint
