#pragma once
// The launcher of a job, as torchrun's agents with their store or a batch system are one: a host reports an error, the
// launcher ends all ranks, waits for every host's answer and takes those without one as lost. Then it places the ranks
// anew, has them prepared, and begins the next attempt when all are ready, behind the newest checkpoint that one of them
// has reported as saved by all (restart), or behind the last step that all have ended (shrink).
//
// Pure: it is given the time, and asks its host to send. A word goes on a line to a host, of which there are kLines:
// one that has failed is not used again. What is not reached on any of them ends the job.

#include <cstdint>
#include <optional>

#include "job/attempt/turn.h"

namespace mrclab::job {

inline constexpr uint32_t kLines = 8;  ///< to each host, and as many back; our choice

/// A word that a launcher writes to a host, or a host to the launcher, in 32 bits.
struct LauncherWord {
  enum class Kind : uint8_t {
    kError,    ///< host: a rank of this attempt has an error
    kEnd,      ///< launcher: this attempt is over
    kReplace,  ///< launcher: rank `a` is on spare `b`
    kDrop,     ///< launcher: replica `a` has left
    kPrepare,  ///< launcher: for this attempt, with the ranks as told before
    kReady,    ///< host: it can begin behind step `a`
    kGo,       ///< launcher: this attempt begins with step `a`
    kAsk,      ///< launcher: are you there? host: yes; `a` is 1 where its ranks have ended
  } kind = Kind::kError;
  uint32_t attempt = 0;
  uint32_t a = 0, b = 0;
  bool operator==(const LauncherWord&) const = default;
};
uint32_t bits_of(const LauncherWord& word);
/// Empty for bits that are no word.
std::optional<LauncherWord> word_of(uint32_t bits);

/// What a launcher asks of who runs it.
class LauncherHost {
 public:
  virtual ~LauncherHost() = default;
  /// Sends on a line; on_told() when it has arrived, on_unreachable() when the line has failed.
  virtual void tell(uint32_t host, uint32_t line, const LauncherWord& word) = 0;
  /// Calls on_wake() at `at`; more than once is harmless.
  virtual void wake_at(FabricTime at) = 0;
};

class JobLauncher {
 public:
  /// Of a job with on_error, which goes on in so many attempts beside the first. `spec` outlives it.
  JobLauncher(const JobSpec& spec, uint32_t later);

  /// The job begins. Once, before all others.
  void start(FabricTime now, LauncherHost& io);
  void on_word(uint32_t host, const LauncherWord& word, FabricTime now, LauncherHost& io);
  void on_told(uint32_t host, FabricTime now, LauncherHost& io);
  void on_unreachable(uint32_t host, uint32_t line, FabricTime now, LauncherHost& io);
  void on_wake(FabricTime now, LauncherHost& io);

  const std::vector<JobTurn>& turns() const { return turns_; }
  /// Nothing is to come of it while no host reports an error.
  bool at_rest() const { return state_ == State::kRunning || state_ == State::kOver; }

 private:
  enum class State : uint8_t { kRunning, kEnding, kWaiting, kPreparing, kOver };

  void end_attempt(uint32_t reporter, FabricTime now, LauncherHost& io);
  void ask(FabricTime now, LauncherHost& io);
  void on_ended(FabricTime now, LauncherHost& io);
  void prepare(FabricTime now, LauncherHost& io);
  /// Moves ranks of lost hosts, or drops their replicas.
  void place();
  void prepare_host(uint32_t host, LauncherHost& io);
  void go(FabricTime now, LauncherHost& io);
  /// Those of the attempt that runs or is prepared: each once, in the order of its first rank.
  std::vector<uint32_t> each_host() const;
  void give_up(std::string why);
  FabricTime scaled(FabricTime of_field) const { return of_field / spec_.scale; }
  JobTurn& turn() { return turns_.back(); }

  const JobSpec& spec_;
  const OnError on_;
  const uint32_t later_;
  const uint32_t together_;  ///< replicas that leave at once
  State state_ = State::kRunning;
  uint32_t attempt_ = 0;
  std::vector<uint32_t> hosts_;  ///< of the attempt that runs or is prepared, by rank
  JobLosses losses_;
  uint32_t spares_used_ = 0;                 ///< the first of them; each has all ranks of a host
  std::map<uint32_t, uint32_t> line_of_;     ///< by host: that is used; absent: the first
  std::set<uint32_t> silent_;                ///< hosts without an answer yet
  std::map<uint32_t, uint32_t> ready_;       ///< by host: the step that it can begin with
  FabricTime due_ = FabricTime::never();     ///< when it waits no longer
  FabricTime ask_at_ = FabricTime::never();  ///< when it asks all hosts next
  std::set<uint32_t> asked_;                 ///< hosts that have not answered
  std::set<uint32_t> ended_;                 ///< hosts whose ranks have ended
  std::vector<JobTurn> turns_;
};

}  // namespace mrclab::job
