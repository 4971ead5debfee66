#pragma once
// One rank of a job as an application of its host: job/run/job_rank.h decides, and this class sends, computes by being
// woken, and counts steps. Messages that arrive come by way of job_inbox.h.
//
// Messages to one rank go over the queue pairs of their connection in turns, each whole on one of them, and there one after
// the other in slots (job_plan.h). A queue pair's error ends the rank: it sends and computes no more, and JobReport has
// the instant and the reason. Other ranks that wait for it wait until the run's end.

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

class JobWork : public Application, private job::RankHost {
 public:
  /// To another rank.
  struct Link {
    explicit Link(const JobLayout& where) : layout(where) {}
    JobLayout layout;
    uint32_t to = 0;      ///< rank
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
  };
  explicit JobWork(Config config);

  void start(Verbs& verbs) override;
  void on_write_complete(Verbs& verbs, QpHandle qp, uint64_t id) override;
  void on_receive_immediate(Verbs&, QpHandle, uint32_t) override {}
  void on_wake(Verbs& verbs) override;
  void on_qp_error(Verbs& verbs, QpHandle qp, std::string_view reason) override;
  bool finished() const override { return died_ || rank_.finished(); }
  const WorkReport* work() const override { return &config_.report; }
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
  void on_ended(uint32_t op) override;

  void take_arrivals();
  void pump(Queue& queue);

  Config config_;
  job::JobRank rank_;
  std::vector<Queue> queues_;         ///< link by link
  std::map<uint32_t, size_t> links_;  ///< by rank: its first queue
  std::map<QpHandle, size_t> queue_of_;
  std::vector<uint64_t> messages_;  ///< by link: sent so far
  std::vector<Step> steps_;
  std::deque<uint32_t> arrived_;  ///< not given to the rank yet; at most its receives
  Verbs* verbs_ = nullptr;        ///< since the start
  FabricTime origin_;
  FabricTime woken_at_ = FabricTime::never();  ///< what was asked for last
  bool died_ = false;
  FabricTime died_at_ = FabricTime::never();
  std::string reason_;
};

}  // namespace mrclab::endpoint
