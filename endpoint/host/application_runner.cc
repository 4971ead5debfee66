#include "endpoint/host/application_runner.h"
#include "fabric/node/event_kind.h"

#include <algorithm>
#include <string>
#include <utility>

namespace mrclab::endpoint {

/// One application's access to its host.
class ApplicationRunner::HostVerbs : public Verbs {
 public:
  HostVerbs(HostShared& host, QueueDirectory& queues, uint32_t index)
      : host_(host), queues_(queues), index_(index) {}

  FabricTime now() const override { return host_.now; }

  bool post_write(QpHandle handle, const WriteRequest& request) override {
    ApplicationQueue* const queue = own_queue(handle);
    return queue != nullptr && queue->post(request, host_.now);
  }

  bool post_receive(QpHandle handle, uint64_t id, Memory buffer) override {
    ApplicationQueue* const queue = own_queue(handle);
    return queue != nullptr && queue->post_receive({.id = id, .buffer = buffer});
  }

  void wake_at(FabricTime at) override {
    host_.events.push(std::max(at, host_.now), EventClass::kApplication, 0,
                      {HostEventKind::kWake, index_, 0});
  }

  void report_verified(uint64_t bytes, uint64_t mismatched_bytes) override {
    if (host_.payload_elided) return;  // nothing was there to look at
    host_.stats.bytes_verified += bytes;
    host_.stats.bytes_mismatched += mismatched_bytes;
    if (mismatched_bytes == 0) return;
    EventRecord record{host_.now, event_kind::kMemoryMismatch, {}, {}, {}, {}, {}, {}};
    record.detail = std::to_string(mismatched_bytes) + " of " + std::to_string(bytes) + " bytes";
    host_.report_event(record);
  }

  void report_collective_done(uint32_t iteration, FabricTime took) override {
    ++host_.stats.collectives_completed;
    EventRecord record{host_.now, event_kind::kCollectiveDone, {}, {}, {}, {}, {}, {}};
    record.detail = "iteration " + std::to_string(iteration) + " took " + to_string(took);
    host_.report_event(record);
  }

  void report_step_done(uint32_t step, FabricTime took) override {
    EventRecord record{host_.now, event_kind::kStepDone, {}, {}, {}, {}, {}, {}};
    record.detail = "step " + std::to_string(step) + " took " + to_string(took);
    host_.report_event(record);
  }

 private:
  /// Null if it is gone, or another application's.
  ApplicationQueue* own_queue(QpHandle handle) {
    ApplicationQueue* const queue = queues_.use(handle);
    return queue != nullptr && queue->application == index_ ? queue : nullptr;
  }

  HostShared& host_;
  QueueDirectory& queues_;
  uint32_t index_;
};

ApplicationRunner::ApplicationRunner(HostShared& host, QueueDirectory& queues)
    : host_(host), queues_(queues) {}
ApplicationRunner::~ApplicationRunner() = default;

uint32_t ApplicationRunner::add_application(std::unique_ptr<Application> application,
                                            std::span<const QpHandle> queue_pairs, bool ends) {
  const auto index = static_cast<uint32_t>(applications_.size());
  for (const QpHandle qp : queue_pairs) queues_.use(qp)->application = index;
  applications_.push_back(
      {std::move(application), std::make_unique<HostVerbs>(host_, queues_, index), ends});
  return index;
}

void ApplicationRunner::schedule_start(uint32_t application, FabricTime start) {
  host_.events.push(start, EventClass::kApplication, 0, {HostEventKind::kStart, application, 0});
}

Verbs& ApplicationRunner::verbs_of(uint32_t application) {
  return *applications_[application].verbs;
}

Fifo<ApplicationNotice>& ApplicationRunner::notices_of(uint32_t application) {
  const bool held = paused_ && applications_[application].application->stands_still();
  return held ? held_notices_ : notices_;
}

void ApplicationRunner::wake(Kind kind, uint32_t application) {
  if (!notices_of(application).push({kind, application})) ++host_.stats.no_buffer;
}

void ApplicationRunner::notify(const ApplicationQueue& queue, Kind kind,
                               const ReceiveCompletion& work, std::string_view reason) {
  if (queue.application >= applications_.size()) return;
  Fifo<ApplicationNotice>& notices = notices_of(queue.application);
  if (!notices.push({kind, queue.application, queue.handle(), work, reason})) {
    ++host_.stats.no_buffer;
  }
}

void ApplicationRunner::forget(QpHandle qp) {
  for (Fifo<ApplicationNotice>* notices : {&notices_, &held_notices_}) {
    for (size_t i = 0; i < notices->size(); ++i) {
      ApplicationNotice& notice = (*notices)[i];
      if (notice.qp == qp) notice.kind = Kind::kNothing;
    }
  }
}

void ApplicationRunner::deliver_all() {
  while (!notices_.empty()) deliver_notice(notices_.pop());
}

void ApplicationRunner::deliver_notice(const ApplicationNotice& notice) {
  Application& application = *applications_[notice.application].application;
  Verbs& verbs = *applications_[notice.application].verbs;
  switch (notice.kind) {
    case Kind::kStart: application.start(verbs); break;
    case Kind::kWake: application.on_wake(verbs); break;
    case Kind::kWriteComplete:
      application.on_write_complete(verbs, notice.qp, notice.work.id);
      break;
    case Kind::kWriteFailed:
      application.on_write_failed(verbs, notice.qp, notice.work.id, notice.reason);
      break;
    case Kind::kReceive: application.on_receive(verbs, notice.qp, notice.work); break;
    case Kind::kReceiveFailed:
      application.on_receive_failed(verbs, notice.qp, notice.work.id, notice.reason);
      break;
    case Kind::kFirstRequest: application.on_first_request(verbs, notice.qp); break;
    case Kind::kNothing: break;
    case Kind::kError: application.on_qp_error(verbs, notice.qp, notice.reason); break;
  }
}

void ApplicationRunner::set_paused(bool paused) {
  paused_ = paused;
  while (!paused_ && !held_notices_.empty()) notices_.push(held_notices_.pop());
}

void ApplicationRunner::power_off() {
  for (Fifo<ApplicationNotice>* notices : {&notices_, &held_notices_}) {
    while (!notices->empty()) notices->pop();
  }
  for (RunningApplication& running : applications_) {
    if (!running.gone) running.gone_at = host_.now;
    running.gone = true;
  }
}

bool ApplicationRunner::finished() const {
  return std::all_of(applications_.begin(), applications_.end(),
                     [](const RunningApplication& running) {
                       return running.gone || running.application->finished();
                     });
}

bool ApplicationRunner::work_ended() const {
  return std::all_of(applications_.begin(), applications_.end(),
                     [](const RunningApplication& running) {
                       return running.gone || !running.ends || running.application->finished();
                     });
}

std::vector<WorkReport> ApplicationRunner::work() const {
  std::vector<WorkReport> reports;
  for (const RunningApplication& running : applications_) {
    if (const WorkReport* report = running.application->work()) reports.push_back(*report);
  }
  return reports;
}

std::vector<JobReport> ApplicationRunner::jobs() const {
  std::vector<JobReport> reports;
  for (const RunningApplication& running : applications_) {
    std::optional<JobReport> report = running.application->job();
    if (!report) continue;
    if (running.gone && !running.application->finished()) {
      report->rank.died_at = running.gone_at;
      report->rank.died = "its host lost power";
    }
    reports.push_back(std::move(*report));
  }
  return reports;
}

}  // namespace mrclab::endpoint
