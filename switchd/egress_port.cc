#include "switchd/egress_port.h"

#include <algorithm>
#include <cassert>

#include "fabric/topology/scheduler_weights.h"
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
                           &left.trim_threshold_last_hop, &left.control_limit, &left.trimmed_limit,
                           &left.tail_drop, &left.red_min, &left.red_max, &left.lossless_limit}) {
    threshold->value = static_cast<uint64_t>(static_cast<unsigned __int128>(threshold->value) *
                                             share / Probability::kOne);
  }
  return left;
}

EgressPort::Queue::Queue(Bytes limit) : waiting(most_frames(limit)) {}

QueueRules::QueueRules(const EgressSettings& settings)
    : as_built_(settings.queues),
      lossless_(settings.lossless),
      lossless_room_(settings.lossless_room),
      dscps_(settings.wire.dscps),
      limits_(settings.queues) {
  for (size_t dscp = 0; dscp < classes_.size(); ++dscp) {
    classes_[dscp] = queue_class_of(dscps_, static_cast<uint8_t>(dscp));
  }
  apply_limits();
}

bool QueueRules::fit(const EgressSettings& settings) const {
  return as_built_ == settings.queues && lossless_ == settings.lossless &&
         lossless_room_ == settings.lossless_room && dscps_ == settings.wire.dscps;
}

EgressPort::EgressPort(const EgressSettings& settings, const QueueRules& rules)
    : host_facing_(settings.host_facing),
      rules_(&rules),
      queues_{Queue(settings.queues.tail_drop), Queue(settings.queues.control_limit)},
      wire_(settings.wire) {}

/// kTrimmed or kLossless.
void EgressPort::begin_queue(QueueClass queue) {
  if (queue == QueueClass::kTrimmed) {
    seldom().trimmed.emplace(rules_->most_trimmed_as_built());
  } else {
    seldom().lossless.emplace(rules_->most_lossless_as_built());
  }
}

void QueueRules::set_faults(const QueueFaults& faults) {
  limits_ = spoilt(as_built_, faults);
  always_marks_ = faults.ecn == EcnKind::kAlways;
  apply_limits();
}

void QueueRules::apply_limits() {
  const auto most = [this](QueueClass queue) -> Bytes& {
    return most_waiting_[static_cast<size_t>(queue)];
  };
  most(QueueClass::kData) = limits_.tail_drop;
  most(QueueClass::kControl) = limits_.control_limit;
  most(QueueClass::kTrimmed) = limits_.trimmed_limit;
  most(QueueClass::kLossless) = most_lossless(limits_);
  for (Bytes& each : most_waiting_) each = std::min(each, kDeepestQueue);
  const auto over = [this](Bytes threshold) {
    return limits_.trim ? std::min(threshold, limits_.tail_drop) : Bytes{UINT64_MAX};
  };
  trim_over_ = {over(limits_.trim_threshold), over(limits_.trim_threshold_last_hop)};
}

Admission EgressPort::admit(Frame& frame, uint8_t dscp, PortId ingress, Bytes room) {
  const QueueClass queue = rules_->class_of(dscp);
  const Bytes length = frame.wire_length();
  const Bytes wanted = depth(queue) + length;
  if (queue == QueueClass::kData && rules_->trims() &&
      wanted > std::min(rules_->trim_over(host_facing_), room) &&
      is_trimmable(rules_->dscps(), dscp, frame.modelled_size())) {
    return admit_trimmed(frame, ingress, room);
  }
  if (wanted > std::min(rules_->most_waiting(queue), room)) {
    return {queue == QueueClass::kControl   ? DropCause::kControlQueueFull
            : queue == QueueClass::kTrimmed ? DropCause::kTrimmedQueueFull
                                            : DropCause::kQueueFull,
            queue};
  }
  push(queue, frame, length, false, ingress);
  return {DropCause::kNone, queue, false, length};
}

Admission EgressPort::admit_trimmed(Frame& frame, PortId ingress, Bytes room) {
  constexpr QueueClass kQueue = QueueClass::kTrimmed;
  const Bytes length = wire_length({kTrimmedFrameBytes});
  if (depth(kQueue) + length > std::min(rules_->most_waiting(kQueue), room)) {
    return {DropCause::kTrimmedQueueFull, kQueue};
  }
  trim(frame, host_facing_, rules_->dscps());
  push(kQueue, frame, length, true, ingress);
  return {DropCause::kNone, kQueue, true, length};
}

void EgressPort::push(QueueClass of, Frame& frame, Bytes length, bool trimmed, PortId ingress) {
  Queue& queue = queue_of(of);
  const bool pushed = queue.waiting.emplace(std::move(frame), length, trimmed, ingress);
  assert(pushed);  // no frame is shorter than the one that the ring's bound was computed with
  static_cast<void>(pushed);
  ++waiting_[index_of(of)];
  ++waiting_frames_;
  queue.depth += static_cast<uint32_t>(length.value);
  queue.depth_max = std::max(queue.depth_max, queue.depth);
}

EgressPort::Waiting EgressPort::pop(QueueClass of) {
  Queue& queue = queue_of(of);
  Waiting next = queue.waiting.pop();
  --waiting_[index_of(of)];
  --waiting_frames_;
  queue.depth -= static_cast<uint32_t>(next.length().value);
  queue.fetch_front_frame();
  return next;
}

/// Control first, unless others wait and control is ahead of its share by the quantum. Bytes of the others reduce that
/// lead, at most to zero; while none of them waits control gains no lead.
QueueClass EgressPort::take_next() {
  if (waiting(QueueClass::kControl) > 0) {
    const bool shares = waits_below_control();
    if (!shares) control_lead_ = 0;
    if (!shares || control_lead_ < static_cast<int64_t>(kControlQuantum.value)) {
      if (shares) control_lead_ += length_of_next(QueueClass::kControl);
      return QueueClass::kControl;
    }
  }
  const QueueClass other = take_next_below_control();
  if (control_lead_ > 0) {
    control_lead_ = std::max<int64_t>(0, control_lead_ - kControlWeight * length_of_next(other));
  }
  return other;
}

/// RoCE's frames and MRC's data and trimmed frames share the port by bytes while both wait: the kind that was sent
/// more of waits.
QueueClass EgressPort::take_next_below_control() {
  if (paused_ || waiting_lossless() == 0) {
    if (seldom_ && seldom_->lossless) seldom_->lossless->lead = 0;
    return take_next_of_mrc();
  }
  if (waiting(QueueClass::kData) + waiting(QueueClass::kTrimmed) == 0) {
    seldom_->lossless->lead = 0;
    return QueueClass::kLossless;
  }
  if (seldom_->lossless->lead <= 0) {
    seldom_->lossless->lead += length_of_next(QueueClass::kLossless);
    return QueueClass::kLossless;
  }
  const QueueClass other = take_next_of_mrc();
  seldom_->lossless->lead -= length_of_next(other);
  return other;
}

/// Trimmed frames before data; but bytes that they were sent while data waited are a
/// debt, and data is served while there is one. Data that is served with no trimmed frame waiting pays
/// the debt off, no more.
QueueClass EgressPort::take_next_of_mrc() {
  Trimmed* const trimmed = seldom_ && seldom_->trimmed ? &*seldom_->trimmed : nullptr;
  if (waiting(QueueClass::kData) == 0) {
    trimmed->lead = 0;  // one of them waits
    return QueueClass::kTrimmed;
  }
  if (trimmed == nullptr) return QueueClass::kData;
  const int64_t data_length = length_of_next(QueueClass::kData);
  if (waiting(QueueClass::kTrimmed) == 0) {
    trimmed->lead = std::max<int64_t>(0, trimmed->lead - data_length);
    return QueueClass::kData;
  }
  if (trimmed->lead > 0) {
    trimmed->lead -= data_length;
    return QueueClass::kData;
  }
  trimmed->lead += length_of_next(QueueClass::kTrimmed);
  return QueueClass::kTrimmed;
}

/// Linear between the thresholds: 0 up to the lower, 1 from the upper on (UEC 1.0.3 p. 418); for RoCE's data
/// up to red_most below the upper one (RED as in Zhu et al., SIGCOMM 2015 §3.1).
bool EgressPort::draws_mark(QueueClass queue) {
  const bool red = queue == QueueClass::kLossless;
  const QueueProfile& limits = rules_->limits();
  const Bytes least = red ? limits.red_min : limits.ecn_min;
  const Bytes most = red ? limits.red_max : limits.ecn_max;
  const Bytes waits = depth(queue);
  if (waits <= least) return false;
  if (waits >= most) return true;
  const PortRef from = wire_.from();
  const uint64_t random =
      draw(wire_.seed(), from.node, from.port, red ? DrawPurpose::kRedMark : DrawPurpose::kEcnMark,
           red ? seldom_->lossless->red_counter++ : ecn_counter_++);
  if (!red) return below(random, (most - least).value) < (waits - least).value;
  const auto share = static_cast<unsigned __int128>(limits.red_most.ppb) * (waits - least).value /
                     (most - least).value;
  return chance(random, Probability{static_cast<uint32_t>(share)});
}

bool EgressPort::marks_next(QueueClass queue, const Frame& frame) {
  const bool marks =
      queue == QueueClass::kLossless ||
      (queue == QueueClass::kData && (!host_facing_ || rules_->limits().ecn_last_hop));
  return marks && rules_->limits().ecn && is_ect(frame.bytes()) &&
         (rules_->always_marks() || draws_mark(queue));
}

/// The pause frame by which the neighbour stops, or goes on.
void EgressPort::depart_pause(FabricTime now, Departure& departure) {
  departure.queue = QueueClass::kPause;
  departure.frame = std::move(seldom_->pause);
  departure.end = wire_.end_of(departure.frame.wire_length(), now);
  departure.fate = wire_.start_frame(departure.frame, departure.end);
  departure.fate.again = false;
}

void EgressPort::depart_again(FabricTime now, Departure& departure) {
  departure.frame = std::move(seldom_->copy->frame);
  departure.queue = seldom_->copy->queue;
  departure.trimmed = seldom_->copy->trimmed;
  departure.is_copy = true;
  seldom_->copy.reset();
  departure.end = wire_.end_of(departure.frame.wire_length(), now);
  departure.fate = wire_.start_frame(departure.frame, departure.end, true);
}

Departure EgressPort::depart(FabricTime now) {
  assert(ready());
  Departure departure;  // Every return gives this back, so that it is made where the caller has it.
  if (seldom_ && seldom_->pause) {
    depart_pause(now, departure);
    return departure;
  }
  if (seldom_ && seldom_->copy) {
    depart_again(now, departure);
    return departure;
  }
  departure.queue = take_next();
  Waiting next = pop(departure.queue);
  departure.ingress = next.ingress();
  if (marks_next(departure.queue, next.frame)) {
    mark_ce(next.frame.hop_bytes());
    departure.ecn_marked = true;
  }
  departure.frame = std::move(next.frame);
  departure.trimmed = next.trimmed();
  departure.end = wire_.end_of(next.length(), now);
  if (wire_.is_sound()) {
    departure.fate.flight = wire_.propagation();
    return departure;
  }
  departure.fate = wire_.start_frame(departure.frame, departure.end);
  if (departure.fate.again) {
    if (Frame twin = departure.frame.twin()) {
      seldom().copy = Copy{std::move(twin), departure.queue, departure.trimmed};
    }
  }
  return departure;
}

std::optional<EgressPort::Flushed> EgressPort::flush_one() {
  control_lead_ = 0;
  if (seldom_ && seldom_->trimmed) seldom_->trimmed->lead = 0;
  for (const QueueClass queue : {QueueClass::kControl, QueueClass::kTrimmed, QueueClass::kData}) {
    if (waiting(queue) == 0) continue;
    return Flushed{pop(queue).frame, queue, {}};
  }
  return flush_one_lossless();
}

std::optional<EgressPort::Flushed> EgressPort::flush_one_lossless() {
  if (waiting_lossless() == 0) return std::nullopt;
  Waiting taken = pop(QueueClass::kLossless);
  return Flushed{std::move(taken.frame), QueueClass::kLossless, taken.ingress()};
}

}  // namespace mrclab::switchd
