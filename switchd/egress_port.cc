#include "switchd/egress_port.h"

#include <algorithm>
#include <cassert>

#include "switchd/outer_header.h"

namespace mrclab::switchd {
namespace {

/// How many frames fit under a limit in bytes: the bound of the ring.
size_t most_frames(Bytes limit) {
  return static_cast<size_t>(limit.value / wire_length({0}).value) + 1;
}

}  // namespace

EgressPort::EgressPort(const EgressSettings& settings)
    : settings_(settings),
      wire_(settings.seed, settings.self.node, settings.self.port),
      data_(most_frames(settings.queues.tail_drop)),
      control_(most_frames(settings.queues.control_limit)) {
  assert(settings.rate.bps > 0);
}

Admission EgressPort::admit(Frame& frame, uint8_t dscp) {
  const QueueProfile& limits = settings_.queues;
  const Bytes length = frame.wire_length();
  Admission admission;
  if (is_control_class(dscp)) {
    admission.queue = QueueClass::kControl;
    if (control_depth_ + length > limits.control_limit) {
      admission.refused = DropCause::kControlQueueFull;
    } else {
      push_control(frame, length, false);
    }
    return admission;
  }
  const Bytes threshold =
      settings_.host_facing ? limits.trim_threshold_last_hop : limits.trim_threshold;
  const Bytes wanted = data_depth_ + length;
  if (limits.trim && is_trimmable(dscp, frame.modelled_size()) &&
      wanted > std::min(threshold, limits.tail_drop)) {
    admission.queue = QueueClass::kControl;
    const Bytes trimmed_length = wire_length({kTrimmedFrameBytes});
    if (control_depth_ + trimmed_length > limits.control_limit) {
      admission.refused = DropCause::kControlQueueFull;
    } else {
      trim(frame, settings_.host_facing);
      admission.trimmed = true;
      push_control(frame, trimmed_length, true);
    }
    return admission;
  }
  if (wanted > limits.tail_drop) {
    admission.refused = DropCause::kQueueFull;
    return admission;
  }
  const bool pushed = data_.push({std::move(frame), length, false});
  assert(pushed);  // no frame is shorter than the one that the ring's bound was computed with
  static_cast<void>(pushed);
  data_depth_ = wanted;
  data_depth_max_ = std::max(data_depth_max_, data_depth_);
  return admission;
}

void EgressPort::push_control(Frame& frame, Bytes length, bool trimmed) {
  const bool pushed = control_.push({std::move(frame), length, trimmed});
  assert(pushed);
  static_cast<void>(pushed);
  control_depth_ += length;
  control_depth_max_ = std::max(control_depth_max_, control_depth_);
}

/// Control first; but bytes that it was sent while data waited are a debt, and data is served while
/// there is one. Data that is served with no control waiting pays the debt off, no more.
bool EgressPort::take_control_next() {
  if (data_.empty()) {
    control_lead_ = 0;
    return true;
  }
  const auto data_length = static_cast<int64_t>(data_.front().length.value);
  if (control_.empty()) {
    control_lead_ = std::max<int64_t>(0, control_lead_ - data_length);
    return false;
  }
  if (control_lead_ > 0) {
    control_lead_ -= data_length;
    return false;
  }
  control_lead_ += static_cast<int64_t>(control_.front().length.value);
  return true;
}

/// Linear between the thresholds: 0 up to ecn_min, 1 from ecn_max on (UEC 1.0.3 p. 418).
bool EgressPort::draws_ecn_mark() {
  const QueueProfile& limits = settings_.queues;
  if (data_depth_ <= limits.ecn_min) return false;
  if (data_depth_ >= limits.ecn_max) return true;
  const uint64_t random = draw(settings_.seed, settings_.self.node, settings_.self.port,
                               DrawPurpose::kEcnMark, ecn_counter_++);
  return below(random, (limits.ecn_max - limits.ecn_min).value) <
         (data_depth_ - limits.ecn_min).value;
}

Departure EgressPort::depart(FabricTime now) {
  assert(ready());
  Departure departure;
  departure.queue = take_control_next() ? QueueClass::kControl : QueueClass::kData;
  const bool is_control = departure.queue == QueueClass::kControl;
  Waiting next = is_control ? control_.pop() : data_.pop();
  (is_control ? control_depth_ : data_depth_) -= next.length;
  if (!is_control && settings_.queues.ecn && !settings_.host_facing && is_ect(next.frame.bytes()) &&
      draws_ecn_mark()) {
    mark_ce(next.frame.bytes());
    departure.ecn_marked = true;
  }
  departure.frame = std::move(next.frame);
  departure.trimmed = next.trimmed;
  departure.end = now + serialization_time(next.length, settings_.rate);
  if (wire_.takes_next_frame()) departure.lost = DropCause::kWireLoss;
  sending_ = true;
  return departure;
}

std::optional<EgressPort::Flushed> EgressPort::flush_one() {
  control_lead_ = 0;
  if (!control_.empty()) {
    Waiting waiting = control_.pop();
    control_depth_ -= waiting.length;
    return Flushed{std::move(waiting.frame), QueueClass::kControl};
  }
  if (!data_.empty()) {
    Waiting waiting = data_.pop();
    data_depth_ -= waiting.length;
    return Flushed{std::move(waiting.frame), QueueClass::kData};
  }
  return std::nullopt;
}

}  // namespace mrclab::switchd
