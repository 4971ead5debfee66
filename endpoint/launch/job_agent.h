#pragma once
// The agent of a job on one host: it reports an error of the host's rank to the launcher, ends the rank when the launcher
// asks for it, and begins it again in a later attempt. On the launcher's host it runs the launcher as well
// (job/attempt/job_launcher.h).
//
// Words go as immediates over queue pairs of their own, kLines from the launcher to each host and as many back, in the
// fabric that the job uses (a site's launcher often has another network): a host that is cut off neither reports nor
// answers. A line whose queue pair has failed is given up for the next.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "endpoint/base/application.h"
#include "endpoint/workload/job_work.h"
#include "job/attempt/job_launcher.h"

namespace mrclab::endpoint {

class JobAgent : public Application, public RankWatch, private job::LauncherHost {
 public:
  /// A queue pair of the launcher's with one host.
  struct Line {
    uint32_t host = 0;  ///< number of the other end
    uint32_t number = 0;
    QpHandle qp;
    uint64_t remote_va = 0;  ///< of one that this host writes to
    uint32_t remote_rkey = 0;
    Memory memory;
  };
  struct Config {
    std::shared_ptr<const job::JobSpec> spec;  ///< shared with the scenario
    uint32_t workload = 0;
    uint32_t self = 0;  ///< host number
    uint32_t launcher = 0;
    uint32_t later = 0;  ///< attempts beside the first
    /// The ranks of this host, by attempt: of a later one as many as a host can have, by slot, which wait for their numbers.
    std::vector<std::vector<JobWork*>> attempts;
    std::vector<Line> out, in;
  };
  explicit JobAgent(Config config);

  void start(Verbs& verbs) override;
  void on_write_complete(Verbs& verbs, QpHandle qp, uint64_t id) override;
  void on_write_failed(Verbs& verbs, QpHandle qp, uint64_t id, std::string_view status) override;
  void on_receive_immediate(Verbs& verbs, QpHandle qp, uint32_t immediate) override;
  void on_wake(Verbs& verbs) override;
  void on_qp_error(Verbs& verbs, QpHandle qp, std::string_view reason) override;
  void on_rank_error(uint32_t attempt, FabricTime now) override;
  bool finished() const override;
  std::optional<JobReport> job() const override;

 private:
  using Word = job::LauncherWord;

  // job::LauncherHost
  void tell(uint32_t host, uint32_t line, const Word& word) override;
  void wake_at(FabricTime at) override { verbs_->wake_at(at); }

  void write(size_t line, const Word& word);
  void tell_launcher(const Word& word);
  void take(uint32_t from, const Word& word);
  void take_own();
  void take_order(const Word& word);
  /// Has every rank of this host ended?
  bool have_ended(uint32_t attempt) const;
  void prepare(uint32_t attempt);
  void go(const Word& word);
  uint32_t step_to_begin_with() const;

  Config config_;
  std::optional<job::JobLauncher> launcher_;
  std::map<QpHandle, size_t> out_, in_;  ///< by queue pair: a place in the config
  std::map<std::pair<uint32_t, uint32_t>, size_t> line_to_;  ///< by host and number
  std::deque<std::pair<Word, bool>>
      own_;  ///< of the launcher and the agent to each other; to the agent?
  job::JobLosses losses_;
  uint32_t line_back_ = 0;         ///< that words to the launcher go on
  std::optional<Word> last_word_;  ///< that was sent to the launcher and has not arrived
  uint32_t attempt_ = 0;           ///< that runs here, or is prepared
  FabricTime report_at_ = FabricTime::never(), ready_at_ = FabricTime::never();
  uint64_t under_way_ = 0;  ///< words that neither arrived nor failed
  Verbs* verbs_ = nullptr;
};

}  // namespace mrclab::endpoint
