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
  for (Bytes* threshold :
       {&left.ecn_min, &left.ecn_max, &left.trim_threshold, &left.trim_threshold_last_hop,
        &left.control_limit, &left.trimmed_limit, &left.tail_drop}) {
    threshold->value = static_cast<uint64_t>(static_cast<unsigned __int128>(threshold->value) *
                                             share / Probability::kOne);
  }
  return left;
}

EgressPort::Queue::Queue(Bytes limit) : waiting(most_frames(limit)) {}

EgressPort::EgressPort(const EgressSettings& settings)
    : settings_(settings),
      limits_(settings.queues),
      wire_(settings.wire),
      queues_{Queue(settings.queues.tail_drop), Queue(settings.queues.control_limit),
              Queue(settings.queues.trimmed_limit)} {}

size_t EgressPort::queued_frames() const {
  size_t all = 0;
  for (const Queue& queue : queues_) all += queue.waiting.size();
  return all;
}

void EgressPort::set_faults(const QueueFaults& faults) {
  limits_ = spoilt(settings_.queues, faults);
  always_marks_ = faults.ecn == EcnKind::kAlways;
}

Admission EgressPort::admit(Frame& frame, uint8_t dscp) {
  const QueueProfile& limits = limits_;
  const DscpMap& dscps = settings_.wire.dscps;
  const auto offer = [&](QueueClass queue, Bytes limit, DropCause cause, bool trim_first) {
    Admission admission;
    admission.queue = queue;
    const Bytes length = trim_first ? wire_length({kTrimmedFrameBytes}) : frame.wire_length();
    if (depth(queue) + length > limit) {
      admission.refused = cause;
      return admission;
    }
    admission.trimmed = trim_first;
    if (trim_first) trim(frame, settings_.host_facing, dscps);
    push(queue, frame, length, trim_first);
    return admission;
  };
  const QueueClass queue = queue_class_of(dscps, dscp);
  if (queue == QueueClass::kControl) {
    return offer(queue, limits.control_limit, DropCause::kControlQueueFull, false);
  }
  if (queue == QueueClass::kTrimmed) {
    return offer(queue, limits.trimmed_limit, DropCause::kTrimmedQueueFull, false);
  }
  const Bytes threshold =
      settings_.host_facing ? limits.trim_threshold_last_hop : limits.trim_threshold;
  const Bytes wanted = depth(QueueClass::kData) + frame.wire_length();
  if (limits.trim && is_trimmable(dscps, dscp, frame.modelled_size()) &&
      wanted > std::min(threshold, limits.tail_drop)) {
    return offer(QueueClass::kTrimmed, limits.trimmed_limit, DropCause::kTrimmedQueueFull, true);
  }
  return offer(QueueClass::kData, limits.tail_drop, DropCause::kQueueFull, false);
}

void EgressPort::push(QueueClass of, Frame& frame, Bytes length, bool trimmed) {
  Queue& queue = queue_of(of);
  const bool pushed = queue.waiting.push({std::move(frame), length, trimmed});
  assert(pushed);  // no frame is shorter than the one that the ring's bound was computed with
  static_cast<void>(pushed);
  queue.depth += length;
  queue.depth_max = std::max(queue.depth_max, queue.depth);
}

EgressPort::Waiting EgressPort::pop(QueueClass of) {
  Queue& queue = queue_of(of);
  Waiting next = queue.waiting.pop();
  queue.depth -= next.length;
  return next;
}

/// Control first. Trimmed frames before data; but bytes that they were sent while data waited are a
/// debt, and data is served while there is one. Data that is served with no trimmed frame waiting pays
/// the debt off, no more.
QueueClass EgressPort::take_next() {
  if (!queue_of(QueueClass::kControl).waiting.empty()) return QueueClass::kControl;
  Fifo<Waiting>& data = queue_of(QueueClass::kData).waiting;
  Fifo<Waiting>& trimmed = queue_of(QueueClass::kTrimmed).waiting;
  if (data.empty()) {
    trimmed_lead_ = 0;
    return QueueClass::kTrimmed;
  }
  const auto data_length = static_cast<int64_t>(data.front().length.value);
  if (trimmed.empty()) {
    trimmed_lead_ = std::max<int64_t>(0, trimmed_lead_ - data_length);
    return QueueClass::kData;
  }
  if (trimmed_lead_ > 0) {
    trimmed_lead_ -= data_length;
    return QueueClass::kData;
  }
  trimmed_lead_ += static_cast<int64_t>(trimmed.front().length.value);
  return QueueClass::kTrimmed;
}

/// Linear between the thresholds: 0 up to ecn_min, 1 from ecn_max on (UEC 1.0.3 p. 418).
bool EgressPort::draws_ecn_mark() {
  const QueueProfile& limits = limits_;
  const Bytes waiting = depth(QueueClass::kData);
  if (waiting <= limits.ecn_min) return false;
  if (waiting >= limits.ecn_max) return true;
  const uint64_t random = draw(settings_.wire.seed, settings_.wire.from.node,
                               settings_.wire.from.port, DrawPurpose::kEcnMark, ecn_counter_++);
  return below(random, (limits.ecn_max - limits.ecn_min).value) < (waiting - limits.ecn_min).value;
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
  departure.queue = take_next();
  Waiting next = pop(departure.queue);
  if (departure.queue == QueueClass::kData && marks_next(next.frame)) {
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
  trimmed_lead_ = 0;
  for (const QueueClass queue : {QueueClass::kControl, QueueClass::kTrimmed, QueueClass::kData}) {
    if (queue_of(queue).waiting.empty()) continue;
    return Flushed{pop(queue).frame, queue};
  }
  return std::nullopt;
}

}  // namespace mrclab::switchd
