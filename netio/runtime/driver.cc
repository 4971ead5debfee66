#include "netio/runtime/driver.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "fabric/packet/trailer.h"
#include "fabric/packet/whole_frame.h"
#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

constexpr uint32_t kPromiscuous =
    0xFFFF'FFFF;  // among the events of interfaces_; the others are places in nodes_

}  // namespace

/// Where what a node starts to send goes: into the egress queue, or straight to the neighbour where
/// the wire stays inside the process.
class Driver::Sink : public FrameSink {
 public:
  Sink(Driver& driver, const HostedNode& hosted) : driver_(driver), hosted_(hosted) {}

  void transmit(Transmission&& transmission) override {
    const Port& port = driver_.topology_.port({hosted_.id, transmission.port});
    driver_.moved_ = true;
    if (stays_inside(driver_.topology_, driver_.processes_, port)) {
      driver_.deliver_inside(port, std::move(transmission));
      return;
    }
    driver_.egress_.queue_transmission(hosted_.line, port,
                                       hosted_.ifindex_of_port[transmission.port.value],
                                       std::move(transmission));
  }

 private:
  Driver& driver_;
  const HostedNode& hosted_;
};

Driver::Driver(GatePage& page, const Topology& topology, ProcessMap processes, uint32_t incarnation,
               FramePool& frames)
    : page_(page),
      topology_(topology),
      processes_(std::move(processes)),
      interfaces_(check_system_call("watch links", ::epoll_create1(EPOLL_CLOEXEC))),
      hosted_index_(topology.nodes.size(), kNoProcess),
      ledger_(page, topology, processes_),
      arrivals_(page, topology, processes_.self, frames, ledger_),
      egress_(page, topology, processes_, incarnation, frames) {}

void Driver::add_node(NodeId id, Node& node, PacketSocket& socket) {
  HostedNode hosted{
      id, &node, &socket, {}, {}, egress_.add_line(), FrameBundler(socket, socket.longest_frame())};
  hosted_index_[id.value] = static_cast<uint32_t>(nodes_.size());
  const NodeSite& site = topology_.node(id);
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    const uint32_t ifindex = socket.ifindex_of(site.ports[i].name());
    hosted.ifindex_of_port.push_back(ifindex);
    if (hosted.port_of_ifindex.size() <= ifindex) {
      hosted.port_of_ifindex.resize(ifindex + 1);
    }
    hosted.port_of_ifindex[ifindex] = PortId{i};
  }
  epoll_event event{.events = EPOLLIN, .data = {.u32 = hosted_index_[id.value]}};
  check_system_call("watch links",
                    ::epoll_ctl(interfaces_.get(), EPOLL_CTL_ADD, socket.carriers_fd(), &event));
  ledger_.add_node(id);
  nodes_.push_back(std::move(hosted));
}

void Driver::send_alone_where(PromiscuousPorts ports) {
  promiscuous_.emplace(std::move(ports));
  epoll_event event{.events = EPOLLIN, .data = {.u32 = kPromiscuous}};
  check_system_call("watch links",
                    ::epoll_ctl(interfaces_.get(), EPOLL_CTL_ADD, promiscuous_->fd(), &event));
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
  slot().schedule.store(version, std::memory_order_release);
}

void Driver::resume(FabricTime committed) {
  hand_out_effects(committed);
  for (HostedNode& hosted : nodes_) {
    Sink sink(*this, hosted);
    hosted.node->run_until(committed, sink);  // nothing is queued, so nothing is sent
    egress_.resume(hosted.id);
  }
  ledger_.resume();
  committed_ = committed;
  slot().claimed_ps.store(committed.ps(), std::memory_order_seq_cst);
  publish(LabTime::now());
}

void Driver::hand_out_effects(FabricTime until) {
  effects_.hand_out(until, [this](NodeId node, const ScheduledEffect& effect) {
    nodes_[hosted_index_[node.value]].node->apply(effect);
  });
}

FabricTime Driver::claim(FabricTime target) {
  if (target <= committed_) return target;
  std::atomic<int64_t>& claimed = slot().claimed_ps;
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
  const FabricTime clock = page_.time_at(now);
  const FabricTime limit =
      std::min({clock, FabricTime::from_ps(page_.limit_ps.load(std::memory_order_acquire)), end_});
  const uint64_t schedule = page_.schedule.load(std::memory_order_acquire);  // after the limit
  if (schedule != schedule_ && read_schedule_) take_schedule(schedule);

  ledger_.read_gate();
  arrivals_.begin_tick(now, clock, committed_);
  drain();
  note_slack(clock, now);
  ledger_.update_bounds(now);

  const FabricTime bound = ledger_.bound();
  const FabricTime target = claim(std::min(limit, bound));
  const bool advances = target > committed_;
  advance(target, clock, now);

  Tick result;
  result.advanced = advances || moved_;
  result.clock_ahead = bound < limit;
  result.finished = committed_ >= end_ && ledger_.complete_until(end_);
  return result;
}

void Driver::advance(FabricTime target, FabricTime clock, LabTime since) {
  hand_out_effects(target);
  // A process that has much to catch up on, or is slow, would keep its neighbours waiting for all
  // of it: they could have begun with the first part, and need it first.
  const FabricTime slice = std::max(
      FabricTime::from_ps(ledger_.shortest_lookahead().ps() / kSlices), FabricTime::from_ps(1));
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
  egress_.announce();
  sending_.clear();
  for (HostedNode& hosted : nodes_) {
    if (!egress_.due(hosted.line, clock).empty()) sending_.push_back(&hosted);
  }
  if (sending_.empty()) return;
  update_interfaces();  // who has begun to listen by now gets no bundle
  for (HostedNode* hosted : sending_) queue_due(*hosted, clock);
  if (ring_) {
    send_together();
  } else {
    for (HostedNode* hosted : sending_) note_failures(*hosted, hosted->socket->send_queued());
  }
  for (HostedNode* hosted : sending_) egress_.clear(hosted->line);
}

void Driver::send_together() {
  constexpr uint32_t kIndexBits = 32;  // of a tag; above them the place of the node in sending_
  for (size_t i = 0; i < sending_.size(); ++i) {
    sending_[i]->socket->put_queued(*ring_, uint64_t{i} << kIndexBits);
  }
  ring_->send([this](uint64_t tag, int error_number) {
    sending_[tag >> kIndexBits]->socket->refuse(tag, error_number);
  });
  for (HostedNode* hosted : sending_) note_failures(*hosted, hosted->socket->finish_sending());
}

/// Asks the kernel once for all nodes: a system call for each of them costs as much as the frame or two that it
/// sends in a tick.
void Driver::update_interfaces() {
  std::array<epoll_event, 64> changed;
  for (int count = static_cast<int>(changed.size()); count == static_cast<int>(changed.size());) {
    count = ::epoll_wait(interfaces_.get(), changed.data(), static_cast<int>(changed.size()), 0);
    for (int i = 0; i < count; ++i) {
      const uint32_t which = changed[static_cast<size_t>(i)].data.u32;
      if (which == kPromiscuous) {
        promiscuous_->update();
      } else {
        nodes_[which].socket->update_carriers();
      }
    }
  }
}

void Driver::run_nodes(FabricTime target) {
  // Fast wires hand frames over inside the process: then no node may run further ahead of the others
  // than the shortest of those wires.
  const FabricTime inside = ledger_.shortest_lookahead_inside();
  while (committed_ < target) {
    FabricTime step = target;
    if (inside != FabricTime::never()) {
      FabricTime earliest = target;
      for (const HostedNode& hosted : nodes_) {
        earliest = std::min(earliest, hosted.node->next_event());
      }
      // Exclusive: a frame that starts at `earliest` may need an event at earliest + lookahead.
      step = std::min(target, std::max(earliest, committed_) + inside - FabricTime::from_ps(1));
    }
    for (HostedNode& hosted : nodes_) {
      Sink sink(*this, hosted);
      hosted.node->run_until(step, sink);
    }
    committed_ = step;
  }
}

/// Puts a node's frames in line that are due.
void Driver::queue_due(HostedNode& hosted, FabricTime clock) {
  for (EgressQueue::Outgoing& outgoing : egress_.due(hosted.line, clock)) {
    const bool unseen = may_bundle(outgoing);
    if (unseen && channels_ && put_in_channel(hosted, outgoing)) continue;
    hosted.bundler.add(outgoing.ifindex, outgoing.pieces(), !unseen);
  }
  hosted.bundler.finish();
}

bool Driver::put_in_channel(const HostedNode& hosted, EgressQueue::Outgoing& outgoing) {
  if (!hosted.socket->can_carry(outgoing.ifindex)) return false;
  const bool put = channels_->put(outgoing.wire, outgoing.pieces());
  report_.frames_by_channel += put;
  return put;
}

bool Driver::may_bundle(const EgressQueue::Outgoing& outgoing) const {
  return outgoing.bundled &&
         page_.alone[outgoing.wire.value].load(std::memory_order_relaxed) == 0 &&
         !(promiscuous_ && promiscuous_->on(outgoing.wire));
}

void Driver::note_failures(const HostedNode& hosted, std::span<const SendFailure> failures) {
  for (const SendFailure& failure : failures) {
    report_.failed_sends += hosted.bundler.frames_of(failure.index);
    if (report_.failed_send_reasons.size() < kMaxReasons) {
      report_.failed_send_reasons.push_back(topology_.node(hosted.id).name + ": " +
                                            std::strerror(failure.error_number));
    }
  }
}

void Driver::drain() {
  for (HostedNode& hosted : nodes_) {
    hosted.socket->drain([&](uint32_t ifindex, std::span<const uint8_t> bytes, uint64_t rx_ns) {
      if (ifindex >= hosted.port_of_ifindex.size()) return;  // lo
      const PortId port = hosted.port_of_ifindex[ifindex];
      if (!port.valid()) return;
      moved_ = true;
      take_arrival(hosted, port, bytes, LabTime{static_cast<int64_t>(rx_ns)});
    });
  }
  if (!channels_) return;
  const bool whole = channels_->drain([&](WireId wire, std::span<const uint8_t> bytes) {
    moved_ = true;
    if (wire.value >= topology_.all_wires().size()) return arrivals_.note_unknown();
    const PortRef at = topology_.wire(wire).to;
    const uint32_t index = hosted_index_[at.node.value];
    if (index == kNoProcess) return arrivals_.note_unknown();
    if (auto arrival = arrivals_.read_bundled(at, bytes)) {
      nodes_[index].node->receive(at.port, std::move(*arrival));
    }
  });
  if (!whole) arrivals_.note_unknown();
}

void Driver::take_arrival(HostedNode& hosted, PortId port, std::span<const uint8_t> bytes,
                          LabTime received) {
  const auto hand_on = [&](std::optional<Arrival> arrival) {
    if (arrival) hosted.node->receive(port, std::move(*arrival));
  };
  const PortRef at{hosted.id, port};
  if (!is_bundle(bytes)) return hand_on(arrivals_.read(at, bytes, received));
  BundledFrames frames(bytes);
  while (const auto frame = frames.next()) hand_on(arrivals_.read_bundled(at, *frame));
  if (!frames.complete()) arrivals_.note_unknown();
}

void Driver::note_slack(FabricTime clock, LabTime now) {
  if (arrivals_.earliest_need() == FabricTime::never()) return;
  const int64_t slack = page_.clock.lab_ns_between(clock, arrivals_.earliest_need(), now);
  if (slack == INT64_MAX) return;  // the clock stands: nothing is due
  report_.min_slack_ns = std::min(report_.min_slack_ns, slack);
  slot().min_slack_ns.store(report_.min_slack_ns, std::memory_order_relaxed);
  std::atomic<int64_t>& window = slot().window_slack_ns;
  int64_t least = window.load(std::memory_order_relaxed);
  while (slack < least && !window.compare_exchange_weak(least, slack)) {
  }
}

void Driver::deliver_inside(const Port& port, Transmission&& transmission) {
  Arrival arrival;
  arrival.start = transmission.start;
  arrival.arrival = transmission.end + transmission.flight;
  arrival.sequence = egress_.take_sequence(port.out);
  arrival.lost = transmission.lost;
  if (transmission.lost != DropCause::kNone) {
    cut_to_void(transmission.frame);  // as on a veth: the history is the same in every wire mode
  }
  hold_payload(transmission.frame);  // it is read in a later tick
  arrival.frame = std::move(transmission.frame);
  nodes_[hosted_index_[port.peer.node.value]].node->receive(port.peer.port, std::move(arrival));
}

void Driver::publish(LabTime now) {
  egress_.publish();
  slot().heartbeat_ns.store(now.ns, std::memory_order_relaxed);
  slot().waits_for.store(ledger_.waits_for(), std::memory_order_relaxed);
  publish_next_events();
  slot().frames_taken.store(ledger_.taken(), std::memory_order_release);
  slot().done_ps.store(committed_.ps(), std::memory_order_release);
}

void Driver::publish_next_events() {
  FabricTime next = effects_.next();
  FabricTime watched = effects_.next(watched_);
  for (const HostedNode& hosted : nodes_) {
    const FabricTime event = hosted.node->next_event();
    next = std::min(next, event);
    if (!watched_ || *watched_ == hosted.id) watched = std::min(watched, event);
  }
  slot().next_event_ps.store(next.ps(), std::memory_order_release);
  slot().watched_next_ps.store(watched.ps(), std::memory_order_release);
}

void Driver::watch(std::optional<NodeId> node) {
  watched_ = node;
  publish_next_events();
}

DriverReport Driver::report() const {
  DriverReport report = report_;
  report.frames_sent = egress_.frames();
  report.arrivals = arrivals_.counts();
  report.gaps = ledger_.gaps();
  for (const HostedNode& hosted : nodes_) {
    report.ring_drops += hosted.socket->statistics().ring_drops;
  }
  return report;
}

}  // namespace mrclab::netio
