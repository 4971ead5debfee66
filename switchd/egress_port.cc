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

QueueProfile spoilt(const QueueProfile& as_built, const QueueFaults& faults) {
  QueueProfile left = as_built;
  left.trim = as_built.trim && !faults.trim_off;
  left.ecn = as_built.ecn && faults.ecn != EcnKind::kOff;
  const uint64_t share = Probability::kOne - faults.buffer_lost.ppb;
  for (Bytes* threshold : {&left.ecn_min, &left.ecn_max, &left.trim_threshold,
                           &left.trim_threshold_last_hop, &left.control_limit, &left.tail_drop}) {
    threshold->value = static_cast<uint64_t>(static_cast<unsigned __int128>(threshold->value) *
                                             share / Probability::kOne);
  }
  return left;
}

EgressPort::EgressPort(const EgressSettings& settings)
    : settings_(settings),
      limits_(settings.queues),
      wire_(settings.wire),
      data_(most_frames(settings.queues.tail_drop)),
      control_(most_frames(settings.queues.control_limit)) {}

void EgressPort::set_faults(const QueueFaults& faults) {
  limits_ = spoilt(settings_.queues, faults);
  always_marks_ = faults.ecn == EcnKind::kAlways;
}

Admission EgressPort::admit(Frame& frame, uint8_t dscp) {
  const QueueProfile& limits = limits_;
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
  const QueueProfile& limits = limits_;
  if (data_depth_ <= limits.ecn_min) return false;
  if (data_depth_ >= limits.ecn_max) return true;
  const uint64_t random = draw(settings_.wire.seed, settings_.wire.from.node,
                               settings_.wire.from.port, DrawPurpose::kEcnMark, ecn_counter_++);
  return below(random, (limits.ecn_max - limits.ecn_min).value) <
         (data_depth_ - limits.ecn_min).value;
}

bool EgressPort::marks_next(const Frame& frame) {
  return limits_.ecn && !settings_.host_facing && is_ect(frame.bytes()) &&
         (always_marks_ || draws_ecn_mark());
}

Departure EgressPort::depart_again(FabricTime now) {
  Departure departure;
  departure.frame = std::move(copy_->frame);
  departure.queue = copy_->queue;
  departure.trimmed = copy_->trimmed;
  departure.is_copy = true;
  copy_.reset();
  departure.end = wire_.end_of(departure.frame.wire_length(), now);
  departure.fate = wire_.start(departure.frame, departure.end, true);
  sending_ = true;
  return departure;
}

Departure EgressPort::depart(FabricTime now) {
  assert(ready());
  if (copy_) return depart_again(now);
  Departure departure;
  departure.queue = take_control_next() ? QueueClass::kControl : QueueClass::kData;
  const bool is_control = departure.queue == QueueClass::kControl;
  Waiting next = is_control ? control_.pop() : data_.pop();
  (is_control ? control_depth_ : data_depth_) -= next.length;
  if (!is_control && marks_next(next.frame)) {
    mark_ce(next.frame.bytes());
    departure.ecn_marked = true;
  }
  departure.frame = std::move(next.frame);
  departure.trimmed = next.trimmed;
  departure.end = wire_.end_of(next.length, now);
  departure.fate = wire_.start(departure.frame, departure.end);
  if (departure.fate.again) {
    if (Frame twin = departure.frame.twin()) {
      copy_ = Copy{std::move(twin), departure.queue, departure.trimmed};
    }
  }
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
