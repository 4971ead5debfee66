// Between queue pairs and applications, and what is reported outside.

#include "endpoint/host_device.h"

namespace mrclab::endpoint {

bool HostNode::Impl::AppVerbs::post_write(QpHandle handle, const WriteRequest& request) {
  if (!host_.qps_.contains(handle.value)) return false;
  QueuePair& qp = host_.qps_[handle.value];
  if (qp.application != index_) return false;
  host_.touch(qp);
  return qp.post(request, host_.now_);
}

bool HostNode::Impl::AppVerbs::post_receive(QpHandle handle, uint64_t id) {
  if (!host_.qps_.contains(handle.value)) return false;
  QueuePair& qp = host_.qps_[handle.value];
  if (qp.application != index_ || qp.requester.failed()) return false;
  return qp.responder.receives().post(id);
}

void HostNode::Impl::AppVerbs::wake_at(FabricTime at) {
  host_.push(std::max(at, host_.now_), EventClass::kApplication, 0, {EventKind::kWake, index_, 0});
}

void HostNode::Impl::AppVerbs::report_verified(uint64_t bytes, uint64_t mismatched_bytes) {
  if (host_.payload_elided_) return;  // nothing was there to look at
  host_.stats_.bytes_verified += bytes;
  host_.stats_.bytes_mismatched += mismatched_bytes;
  if (mismatched_bytes == 0) return;
  EventRecord record{host_.now_, "memory_mismatch", {}, {}, {}, {}, {}, {}};
  record.detail = std::to_string(mismatched_bytes) + " of " + std::to_string(bytes) + " bytes";
  host_.environment_.observer.event(record);
}

void HostNode::Impl::AppVerbs::report_collective_done(uint32_t iteration, FabricTime took) {
  ++host_.stats_.collectives_completed;
  EventRecord record{host_.now_, "collective_done", {}, {}, {}, {}, {}, {}};
  record.detail = "iteration " + std::to_string(iteration) + " took " + to_string(took);
  host_.environment_.observer.event(record);
}

void HostNode::Impl::tell_applications() {
  while (!notices_.empty()) tell(notices_.pop());
}

/// First tells a host's applications, in order, what was held back while they were paused.
void HostNode::Impl::tell_what_was_held() {
  while (!held_notices_.empty()) notices_.push(held_notices_.pop());
}

Fifo<HostNode::Impl::Notice>& HostNode::Impl::notices_of(uint32_t application) {
  const bool held = work_ == HostWork::kPaused && apps_[application].application->stands_still();
  return held ? held_notices_ : notices_;
}

void HostNode::Impl::wake_application(Notice::Kind kind, uint32_t application) {
  if (!notices_of(application).push({kind, application, {}, {}, {}})) ++stats_.no_buffer;
}

void HostNode::Impl::tell(const Notice& notice) {
  RunningApp& app = apps_[notice.application];
  switch (notice.kind) {
    case Notice::Kind::kStart: app.application->start(*app.verbs); break;
    case Notice::Kind::kWake: app.application->on_wake(*app.verbs); break;
    case Notice::Kind::kWriteComplete:
      app.application->on_write_complete(*app.verbs, notice.qp, notice.work.id);
      break;
    case Notice::Kind::kWriteFailed:
      app.application->on_write_failed(*app.verbs, notice.qp, notice.work.id, notice.reason);
      break;
    case Notice::Kind::kReceive:
      app.application->on_receive(*app.verbs, notice.qp, notice.work);
      break;
    case Notice::Kind::kReceiveFlushed:
      app.application->on_receive_flushed(*app.verbs, notice.qp, notice.work.id);
      break;
    case Notice::Kind::kError:
      app.application->on_qp_error(*app.verbs, notice.qp, notice.reason);
      break;
  }
}

void HostNode::Impl::notify(const QueuePair& qp, Notice::Kind kind, const ReceiveCompletion& work,
                            std::string_view reason) {
  if (qp.application >= apps_.size()) return;
  Fifo<Notice>& notices = notices_of(qp.application);
  if (!notices.push({kind, qp.application, qp.id.handle, work, reason})) ++stats_.no_buffer;
}

void HostNode::Impl::write_completed(QueuePair& qp, uint64_t id) {
  notify(qp, Notice::Kind::kWriteComplete, {id});
}

void HostNode::Impl::write_failed(QueuePair& qp, uint64_t id, std::string_view status) {
  notify(qp, Notice::Kind::kWriteFailed, {id}, status);
}

void HostNode::Impl::immediate_received(QueuePair& qp, const ReceiveCompletion& completion) {
  notify(qp, Notice::Kind::kReceive, completion);
}

void HostNode::Impl::receive_flushed(QueuePair& qp, uint64_t id) {
  notify(qp, Notice::Kind::kReceiveFlushed, {id});
}

void HostNode::Impl::loss_detected(QueuePair& qp, EntropyValue ev, Psn psn,
                                   std::string_view cause) {
  const PortId port{path_of(ev)->plane};
  environment_.observer.event({now_, "loss_detected", port, qp.id.local, ev, psn, cause, {}});
}

void HostNode::Impl::failed(QueuePair& qp, std::string_view reason) {
  stats_.count_qp_error(reason);
  EventRecord record{now_, "qp_error", {}, qp.id.local, {}, {}, reason, {}};
  record.detail = "to " + topology_.node(topology_.host(qp.peer.host)).name;
  environment_.observer.event(record);
  notify(qp, Notice::Kind::kError, {}, reason);
}

}  // namespace mrclab::endpoint
