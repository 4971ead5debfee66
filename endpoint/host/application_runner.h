#pragma once
// The applications of a host: completions of queue pairs wait here until the event in hand is
// over, and while the host is paused. Each application reaches its host through a Verbs of its own.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "endpoint/base/application.h"
#include "endpoint/host/host_shared.h"
#include "endpoint/host/queue_directory.h"
#include "fabric/base/fifo.h"

namespace mrclab::endpoint {

/// A call that an application is to get.
struct ApplicationNotice {
  enum class Kind : uint8_t {
    kStart,
    kWake,
    kWriteComplete,
    kWriteFailed,
    kReceive,
    kReceiveFailed,
    kError,
    kFirstRequest,
    kNothing,  ///< its queue pair is gone
  } kind;
  uint32_t application = 0;
  QpHandle qp = {};
  ReceiveCompletion work = {};   ///< for a write only the id
  std::string_view reason = {};  ///< or status
};

class ApplicationRunner {
 public:
  using Kind = ApplicationNotice::Kind;

  /// Both outlive it.
  ApplicationRunner(HostShared& host, QueueDirectory& queues);
  ~ApplicationRunner();
  ApplicationRunner(const ApplicationRunner&) = delete;
  ApplicationRunner& operator=(const ApplicationRunner&) = delete;

  /// Its number. The queue pairs are this application's from now on. `ends`: by itself, at some time.
  uint32_t add_application(std::unique_ptr<Application> application,
                           std::span<const QpHandle> queue_pairs, bool ends = true);
  /// The application gets on_start at `start`.
  void schedule_start(uint32_t application, FabricTime start);
  Verbs& verbs_of(uint32_t application);

  /// kStart or kWake. What finds no room is counted as lost.
  void wake(Kind kind, uint32_t application);
  /// For the application of the queue pair, if it has one.
  void notify(const ApplicationQueue& queue, Kind kind, const ReceiveCompletion& work,
              std::string_view reason = {});
  /// The queue pair is gone: what waits is not about the next one of that handle.
  void forget(QpHandle qp);
  /// Delivers all that waits, and what that leads to.
  void deliver_all();

  /// While the host is paused, the calls that software would get are kept, in order.
  void set_paused(bool paused);
  /// The host loses its power: applications are gone, but what they measured remains.
  void power_off();

  /// Every application that is still there has done all that it was asked for.
  bool finished() const;
  /// The same of those that end by themselves.
  bool work_ended() const;
  /// What they measured.
  std::vector<WorkReport> work() const;
  /// What became of the ranks that they run.
  std::vector<JobReport> jobs() const;

 private:
  class HostVerbs;
  struct RunningApplication {
    std::unique_ptr<Application> application;
    std::unique_ptr<HostVerbs> verbs;
    bool ends = true;
    bool gone = false;  ///< with the power of its host
    FabricTime gone_at = FabricTime::never();
  };
  static constexpr size_t kNoticeLimit = 1 << 16;

  Fifo<ApplicationNotice>& notices_of(uint32_t application);
  void deliver_notice(const ApplicationNotice& notice);

  HostShared& host_;
  QueueDirectory& queues_;
  std::vector<RunningApplication> applications_;
  Fifo<ApplicationNotice> notices_{kNoticeLimit};
  Fifo<ApplicationNotice> held_notices_{kNoticeLimit};  ///< until the host is not paused any more
  bool paused_ = false;
};

}  // namespace mrclab::endpoint
