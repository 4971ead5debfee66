#include "netio/runtime/driver.h"

#include <algorithm>
#include <cstring>

#include "fabric/forwarder.h"
#include "fabric/headers.h"

namespace mrclab::netio {
/// Puts what a node starts to send on its veths: trailer behind the frame, a void frame in place of
/// one that is known to be lost, or straight to the neighbour where the wire stays inside the
/// process.
class Driver::Egress : public FrameSink {
 public:
  Egress(Driver& driver, HostedNode& hosted) : driver_(driver), hosted_(hosted) {}

  void transmit(Transmission transmission) override {
    const Port& port = driver_.topology_.port({hosted_.id, transmission.port});
    driver_.moved_ = true;
    if (driver_.is_fast(port)) {
      driver_.deliver_fast(port, std::move(transmission));
      return;
    }
    const auto modelled = static_cast<uint32_t>(transmission.frame.modelled_size().value);
    Frame frame = transmission.lost == DropCause::kNone
                      ? std::move(transmission.frame)
                      : make_void_frame(driver_.frames_, transmission.frame);
    const uint32_t ifindex = hosted_.ifindex_of_port[transmission.port.value];
    const size_t size = frame.size();
    const TimeTrailer trailer{driver_.page_.lab,
                              port.out,
                              driver_.incarnation_,
                              modelled,
                              driver_.sent_[port.out.value]++,
                              transmission.start,
                              transmission.end,
                              transmission.flight,
                              transmission.lost};
    write_trailer(trailer, frame.storage().subspan(size).first<kTrailerBytes>());
    driver_.dirty_wires_.push_back(port.out);
    ++driver_.report_.frames_sent;
    if (driver_.processes_.process_of_node[port.peer.node.value] == kNoProcess) {
      hosted_.held.push_back({transmission.end, ifindex, std::move(frame)});
      return;
    }
    ++driver_.sent_to_processes_;
    hosted_.socket->queue(ifindex, frame.storage().first(size + kTrailerBytes));
    hosted_.unsent.push_back(std::move(frame));
  }

 private:
  Driver& driver_;
  HostedNode& hosted_;
};

Driver::Driver(GatePage& page, const Topology& topology, ProcessMap processes, uint32_t incarnation,
               FramePool& frames)
    : page_(page),
      topology_(topology),
      processes_(std::move(processes)),
      incarnation_(incarnation),
      frames_(frames),
      hosted_index_(topology.nodes.size(), kNoProcess),
      ingress_index_(topology.wires_list.size(), kNoProcess),
      sent_(topology.wires_list.size(), 0),
      upstream_(page.process_count, false),
      done_snapshot_(page.process_count, 0),
      untaken_time_(topology) {}

Driver::~Driver() = default;

bool Driver::is_fast(const Port& port) const {
  return topology_.wires == WireMode::kFast && hosted_index_[port.peer.node.value] != kNoProcess &&
         topology_.node(port.peer.node).role != NodeRole::kHost &&
         topology_.node(topology_.port(port.peer).peer.node).role != NodeRole::kHost;
}

void Driver::add_node(NodeId id, Node& node, PacketSocket& socket) {
  HostedNode hosted{id, &node, &socket, {}, {}, {}, {}};
  hosted_index_[id.value] = static_cast<uint32_t>(nodes_.size());
  const NodeSite& site = topology_.node(id);
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    const Port& port = site.ports[i];
    const uint32_t ifindex = socket.ifindex_of(port.name);
    hosted.ifindex_of_port.push_back(ifindex);
    if (hosted.port_of_ifindex.size() <= ifindex) {
      hosted.port_of_ifindex.resize(ifindex + 1);
    }
    hosted.port_of_ifindex[ifindex] = PortId{i};
    IngressWireState wire;
    wire.wire = port.in;
    wire.node = id;
    wire.port = PortId{i};
    wire.sender = processes_.process_of_node[port.peer.node.value];
    wire.lookahead = topology_.lookahead(port.in);
    ingress_index_[port.in.value] = static_cast<uint32_t>(ingress_.size());
    ingress_.push_back(wire);
    shortest_lookahead_ = std::min(shortest_lookahead_, wire.lookahead);
    if (wire.sender != kNoProcess) upstream_[wire.sender] = true;
    if (is_fast_ingress(wire)) fast_lookahead_ = std::min(fast_lookahead_, wire.lookahead);
  }
  nodes_.push_back(std::move(hosted));
  sent_snapshot_.resize(ingress_.size());
}

void Driver::follow_schedule(ReadSchedule read) {
  read_schedule_ = std::move(read);
  take_schedule(page_.schedule.load(std::memory_order_acquire));
}

void Driver::take_schedule(uint64_t version) {
  std::vector<bool> mine(topology_.nodes.size(), false);
  for (const HostedNode& hosted : nodes_) mine[hosted.id.value] = true;
  report_.late_effects += effects_.replace(topology_, mine, read_schedule_(), committed_);
  schedule_ = version;
  publish_next_events();
  page_.slot(processes_.self).schedule.store(version, std::memory_order_release);
}

void Driver::resume(FabricTime committed) {
  hand_out_effects(committed);
  for (HostedNode& hosted : nodes_) {
    Egress egress(*this, hosted);
    hosted.node->run_until(committed, egress);  // nothing is queued, so nothing is sent
    for (const Port& port : topology_.node(hosted.id).ports) {
      sent_[port.out.value] = page_.sent[port.out.value].load(std::memory_order_acquire);
    }
  }
  for (IngressWireState& wire : ingress_) {
    wire.received = wire.next_sequence =
        page_.sent[wire.wire.value].load(std::memory_order_acquire);
  }
  const ProcessSlot& slot = page_.slot(processes_.self);
  sent_to_processes_ = slot.frames_sent.load(std::memory_order_acquire);
  taken_from_processes_ = slot.frames_taken.load(std::memory_order_acquire);
  committed_ = committed;
  page_.slot(processes_.self).claimed_ps.store(committed.ps(), std::memory_order_seq_cst);
  publish(LabTime::now());
}

void Driver::hand_out_effects(FabricTime until) {
  effects_.hand_out(until, [this](NodeId node, const ScheduledEffect& effect) {
    nodes_[hosted_index_[node.value]].node->apply(effect);
  });
}

FabricTime Driver::claim(FabricTime target) {
  if (target <= committed_) return target;
  std::atomic<int64_t>& claimed = page_.slot(processes_.self).claimed_ps;
  claimed.store(target.ps(), std::memory_order_seq_cst);
  const bool allowed = page_.limit_ps.load(std::memory_order_seq_cst) >= target.ps();
  // The limit may have been lowered and raised again meanwhile. Then either the schedule is a newer
  // one, or the lab has changed nothing.
  if (allowed && page_.schedule.load(std::memory_order_acquire) == schedule_) return target;
  claimed.store(committed_.ps(), std::memory_order_seq_cst);
  return committed_;
}

Driver::Tick Driver::tick() {
  const LabTime now = LabTime::now();
  moved_ = false;
  earliest_need_ = FabricTime::never();
  const FabricTime clock = page_.clock.fabric_at(now);
  const FabricTime limit =
      std::min({clock, FabricTime::from_ps(page_.limit_ps.load(std::memory_order_acquire)), end_});
  const uint64_t schedule = page_.schedule.load(std::memory_order_acquire);  // after the limit
  if (schedule != schedule_ && read_schedule_) take_schedule(schedule);

  const int64_t quiet = page_.quiet_ps.load(std::memory_order_acquire) - 1;
  for (uint32_t i = 0; i < upstream_.size(); ++i) {  // before the sent counts: see gate.h
    if (!upstream_[i]) continue;
    done_snapshot_[i] = std::max(quiet, page_.slot(i).done_ps.load(std::memory_order_acquire));
  }
  for (size_t i = 0; i < ingress_.size(); ++i) {
    sent_snapshot_[i] = page_.sent[ingress_[i].wire.value].load(std::memory_order_acquire);
  }
  drain(now);
  note_slack(now);
  update_bounds(now);

  const FabricTime bound = gate_bound();
  const FabricTime target = claim(std::min(limit, bound));
  const bool advances = target > committed_;
  advance(target, clock, now);

  Tick result;
  result.advanced = advances || moved_;
  result.clock_ahead = bound < limit;
  result.finished = committed_ >= end_ && all_accounted_for();
  return result;
}

void Driver::advance(FabricTime target, FabricTime clock, LabTime since) {
  hand_out_effects(target);
  // A process that has much to catch up on, or is slow, would keep its neighbours waiting until it
  // is done with everything. So it hands over the first part as soon as that is ready.
  const FabricTime slice =
      std::max(FabricTime::from_ps(shortest_lookahead_.ps() / kSlices), FabricTime::from_ps(1));
  while (committed_ < target) {
    run_nodes(target - committed_ > slice ? committed_ + slice : target);
    if (committed_ >= target) break;
    const LabTime now = LabTime::now();
    if (now - since < kHandOverNs) continue;
    since = now;
    send(clock);
    publish(now);
  }
  send(clock);
  publish(LabTime::now());
}

void Driver::send(FabricTime clock) {
  // Stored before the kernel has the frames: else a receiver could count a frame as taken before it
  // counts as sent.
  page_.slot(processes_.self).frames_sent.store(sent_to_processes_, std::memory_order_release);
  for (HostedNode& hosted : nodes_) {
    release_held(hosted, clock);
    flush(hosted);
  }
}

void Driver::run_nodes(FabricTime target) {
  // Fast wires hand frames over inside the process, so no node may run further ahead of the others
  // than the shortest lookahead of those wires.
  while (committed_ < target) {
    FabricTime step = target;
    if (fast_lookahead_ != FabricTime::never()) {
      FabricTime earliest = target;
      for (const HostedNode& hosted : nodes_) {
        earliest = std::min(earliest, hosted.node->next_event());
      }
      // Exclusive: a frame that starts at `earliest` may need an event at earliest + lookahead.
      step = std::min(target,
                      std::max(earliest, committed_) + fast_lookahead_ - FabricTime::from_ps(1));
    }
    for (HostedNode& hosted : nodes_) {
      Egress egress(*this, hosted);
      hosted.node->run_until(step, egress);
    }
    committed_ = step;
  }
}

void Driver::release_held(HostedNode& hosted, FabricTime clock) {
  std::erase_if(hosted.held, [&](HeldFrame& held) {
    if (held.end > clock) return false;
    const size_t size = held.frame.size() + kTrailerBytes;
    hosted.socket->queue(held.ifindex, held.frame.storage().first(size));
    hosted.unsent.push_back(std::move(held.frame));
    return true;
  });
}

void Driver::flush(HostedNode& hosted) {
  if (hosted.unsent.empty()) return;
  for (const SendFailure& failure : hosted.socket->flush()) {
    ++report_.failed_sends;
    if (report_.failed_send_reasons.size() < kMaxReportedGaps) {
      report_.failed_send_reasons.push_back(topology_.node(hosted.id).name + ": " +
                                            std::strerror(failure.error_number));
    }
  }
  hosted.unsent.clear();
}

void Driver::drain(LabTime now) {
  for (HostedNode& hosted : nodes_) {
    hosted.socket->drain([&](uint32_t ifindex, std::span<const uint8_t> bytes, uint64_t rx_ns) {
      take_frame(hosted, ifindex, bytes, LabTime{static_cast<int64_t>(rx_ns)}, now);
    });
  }
}

void Driver::take_frame(HostedNode& hosted, uint32_t ifindex, std::span<const uint8_t> bytes,
                        LabTime received, LabTime now) {
  if (ifindex >= hosted.port_of_ifindex.size()) return;  // lo
  const PortId port = hosted.port_of_ifindex[ifindex];
  if (!port.valid()) return;
  moved_ = true;
  const std::optional<size_t> offset = trailer_offset(bytes);
  if (offset) {
    const std::optional<TimeTrailer> trailer = parse_trailer(bytes.subspan(*offset));
    if (trailer) {
      IngressWireState& wire = ingress_[ingress_index_[topology_.port({hosted.id, port}).in.value]];
      // A neighbour that is not ours (Open vSwitch) passes on the trailer of the frame's first
      // wire, whose times no longer apply.
      if (wire.sender == kNoProcess) {
        take_foreign(hosted, port, bytes.first(*offset), received, now);
        return;
      }
      // A process that was taken out of the gate counts as silent: frames that it still sends are
      // dropped.
      const bool silent = !in_gate(page_.state(wire.sender));
      if (trailer->lab != page_.lab || trailer->wire != wire.wire || silent) {
        ++report_.unknown_frames;
        return;
      }
      take_carried(hosted, wire, *trailer, bytes, *offset);
      return;
    }
  }
  take_foreign(hosted, port, bytes, received, now);
}

void Driver::take_carried(HostedNode& hosted, IngressWireState& wire, const TimeTrailer& trailer,
                          std::span<const uint8_t> bytes, size_t length) {
  ++report_.frames_received;
  if (!note_sequence(wire, trailer.sequence)) return;
  Arrival arrival;
  arrival.start = trailer.start;
  arrival.arrival = trailer.end + trailer.flight;
  arrival.sequence = trailer.sequence;
  arrival.lost = trailer.lost;
  arrival.frame = trailer.lost == DropCause::kNone
                      ? frames_.copy(bytes.first(length))
                      : unwrap_void_frame(frames_, bytes.first(length));
  if (!arrival.frame) {
    ++report_.unknown_frames;
    return;
  }
  arrival.frame.set_modelled_size({trailer.modelled_size});
  const FabricTime need = arrival.arrival + topology_.ingress_latency(hosted.id);
  if (need <= committed_) {
    ++report_.late_frames;
    page_.slot(processes_.self).late_frames.fetch_add(1, std::memory_order_relaxed);
  }
  earliest_need_ = std::min(earliest_need_, need);
  hosted.node->receive(wire.port, std::move(arrival));
}

void Driver::take_foreign(HostedNode& hosted, PortId port, std::span<const uint8_t> bytes,
                          LabTime received, LabTime now) {
  ++report_.foreign_frames;
  Arrival arrival;
  arrival.foreign = true;
  arrival.frame = frames_.copy(bytes);
  if (!arrival.frame) return;
  // A kernel's timestamp says when the frame came, not when this process woke up to read it.
  const FabricTime stamped = page_.clock.fabric_at(std::min(received, now)) +
                             untaken_time_.of(topology_.port({hosted.id, port}), bytes);
  arrival.arrival = arrival.start = std::max(stamped, committed_);
  arrival.sequence = (uint64_t{1} << 63) | foreign_sequence_++;
  hosted.node->receive(port, std::move(arrival));
}

bool Driver::note_sequence(IngressWireState& wire, uint64_t sequence) {
  if (sequence < wire.next_sequence) {
    if (wire.missing.erase(sequence) == 0) {
      ++report_.unknown_frames;  // a duplicate: a program on this machine replayed it
      return false;
    }
  } else {
    for (uint64_t s = wire.next_sequence; s < sequence; ++s) {
      if (wire.missing.size() >= kMaxMissing) break;
      wire.missing.insert(s);
    }
    wire.next_sequence = sequence + 1;
  }
  ++wire.received;
  ++taken_from_processes_;
  return true;
}

void Driver::note_slack(LabTime now) {
  if (earliest_need_ == FabricTime::never()) return;
  const int64_t slack = page_.clock.lab_ns_until(earliest_need_, now);
  if (slack == INT64_MAX) return;  // the clock stands: it is unknown when the frame will be needed
  report_.min_slack_ns = std::min(report_.min_slack_ns, slack);
  ProcessSlot& slot = page_.slot(processes_.self);
  slot.min_slack_ns.store(report_.min_slack_ns, std::memory_order_relaxed);
  int64_t least = slot.window_slack_ns.load(std::memory_order_relaxed);
  while (slack < least && !slot.window_slack_ns.compare_exchange_weak(least, slack)) {
  }
}

void Driver::update_bounds(LabTime now) {
  waits_for_ = kNoProcess;
  FabricTime lowest = FabricTime::never();
  for (size_t i = 0; i < ingress_.size(); ++i) {
    IngressWireState& wire = ingress_[i];
    if (wire.sender == kNoProcess || !in_gate(page_.state(wire.sender))) {
      // No process behind this wire sends frames with carried time.
      wire.bound = FabricTime::never();
      continue;
    }
    const uint64_t accounted = wire.received + wire.forgiven;
    if (accounted >= sent_snapshot_[i]) {
      wire.bound = FabricTime::from_ps(done_snapshot_[wire.sender]) + wire.lookahead;
      wire.unsatisfied_since = LabTime{0};
      wire.seen_when_unsatisfied = wire.received;
    } else if (wire.unsatisfied_since.ns == 0 || wire.seen_when_unsatisfied != wire.received) {
      wire.unsatisfied_since = now;
      wire.seen_when_unsatisfied = wire.received;
    } else if (now - wire.unsatisfied_since > kGapPatienceNs) {
      declare_gap(wire, sent_snapshot_[i]);
    }
    if (wire.bound < lowest) {
      lowest = wire.bound;
      waits_for_ = wire.sender;
    }
  }
}

void Driver::declare_gap(IngressWireState& wire, uint64_t sent) {
  const auto report_one = [&](uint64_t sequence) {
    ++report_.gap_count;
    if (report_.gaps.size() < kMaxReportedGaps) report_.gaps.push_back({wire.wire, sequence});
  };
  for (const uint64_t sequence : wire.missing) report_one(sequence);
  for (uint64_t s = wire.next_sequence; s < sent; ++s) report_one(s);
  wire.missing.clear();
  wire.next_sequence = std::max(wire.next_sequence, sent);
  const uint64_t forgiven = sent - std::min(sent, wire.received);
  taken_from_processes_ += forgiven - wire.forgiven;
  wire.forgiven = forgiven;
  page_.slot(processes_.self).gaps.store(report_.gap_count, std::memory_order_relaxed);
}

FabricTime Driver::gate_bound() const {
  FabricTime bound = FabricTime::never();
  for (const IngressWireState& wire : ingress_) {
    if (is_fast_ingress(wire)) continue;
    bound = std::min(bound, wire.bound);
  }
  return bound;
}

bool Driver::is_fast_ingress(const IngressWireState& wire) const {
  return topology_.wires == WireMode::kFast && wire.sender == processes_.self &&
         topology_.node(wire.node).role != NodeRole::kHost &&
         topology_.node(topology_.port({wire.node, wire.port}).peer.node).role != NodeRole::kHost;
}

void Driver::deliver_fast(const Port& port, Transmission&& transmission) {
  Arrival arrival;
  arrival.start = transmission.start;
  arrival.arrival = transmission.end + transmission.flight;
  arrival.sequence = sent_[port.out.value]++;
  arrival.lost = transmission.lost;
  if (transmission.lost != DropCause::kNone) {
    cut_to_void(transmission.frame);  // as on a veth: the history is the same in every wire mode
  }
  arrival.frame = std::move(transmission.frame);
  nodes_[hosted_index_[port.peer.node.value]].node->receive(port.peer.port, std::move(arrival));
}

void Driver::publish(LabTime now) {
  for (const WireId wire : dirty_wires_) {
    page_.sent[wire.value].store(sent_[wire.value], std::memory_order_release);
  }
  dirty_wires_.clear();
  ProcessSlot& slot = page_.slot(processes_.self);
  slot.heartbeat_ns.store(now.ns, std::memory_order_relaxed);
  slot.waits_for.store(waits_for_, std::memory_order_relaxed);
  publish_next_events();
  slot.frames_taken.store(taken_from_processes_, std::memory_order_release);
  slot.done_ps.store(committed_.ps(), std::memory_order_release);
}

void Driver::publish_next_events() {
  FabricTime next = effects_.next();
  FabricTime watched = effects_.next(watched_);
  for (const HostedNode& hosted : nodes_) {
    const FabricTime event = hosted.node->next_event();
    next = std::min(next, event);
    if (!watched_ || *watched_ == hosted.id) watched = std::min(watched, event);
  }
  ProcessSlot& slot = page_.slot(processes_.self);
  slot.next_event_ps.store(next.ps(), std::memory_order_release);
  slot.watched_next_ps.store(watched.ps(), std::memory_order_release);
}

void Driver::watch(std::optional<NodeId> node) {
  watched_ = node;
  publish_next_events();
}

bool Driver::all_accounted_for() const {
  for (size_t i = 0; i < ingress_.size(); ++i) {
    const IngressWireState& wire = ingress_[i];
    if (wire.sender == kNoProcess || !in_gate(page_.state(wire.sender))) continue;
    if (is_fast_ingress(wire)) continue;
    if (done_snapshot_[wire.sender] < end_.ps()) return false;
    if (wire.received + wire.forgiven < sent_snapshot_[i]) return false;
  }
  return true;
}

DriverReport Driver::report() const {
  DriverReport report = report_;
  for (const HostedNode& hosted : nodes_) {
    report.ring_drops += hosted.socket->statistics().ring_drops;
  }
  return report;
}

}  // namespace mrclab::netio
