#include "endpoint/host/roce_side.h"

#include <algorithm>
#include <utility>

#include "endpoint/congestion/dcqcn_choice.h"
#include "endpoint/host/host_routes.h"
#include "endpoint/roce/flow_port.h"
#include "fabric/node/event_kind.h"
#include "routing/rib/spread_members.h"

namespace mrclab::endpoint {
namespace {

/// Have all planes that lead there the same weight?
bool are_alike(const std::vector<uint32_t>& weights) {
  uint32_t first = 0;
  for (const uint32_t weight : weights) {
    if (first == 0) first = weight;
    if (weight > 0 && weight != first) return false;
  }
  return true;
}

/// The port of the queue pair with that number in its connection; some weight is above 0.
uint32_t port_by_weight(uint32_t number, const std::vector<uint32_t>& weights) {
  const auto planes = static_cast<uint32_t>(weights.size());
  std::vector<routing::WeightedHop> hops;
  for (uint32_t p = 0; p < planes; ++p) {
    if (weights[p] > 0) hops.push_back({PortId{p}, weights[p]});
  }
  const bool alike = are_alike(weights);
  // Where all are alike, only those move whose plane is gone.
  if (alike && weights[number % planes] > 0) return number % planes;
  const std::vector<PortId> members = routing::spread_members(hops);
  return members[(alike ? number / planes : number) % members.size()].value;
}

}  // namespace

RoceSide::RoceSide(HostShared& host, NicPorts& ports, ReceiveSide& receiving, NicPauses& pauses,
                   const MemoryRegistry& memory, ApplicationRunner& applications,
                   RcQueuePairTable& queue_pairs)
    : host_(host),
      ports_(ports),
      receiving_(receiving),
      pauses_(pauses),
      memory_(memory),
      applications_(applications),
      queue_pairs_(queue_pairs),
      loop_(BitRate{host.topology.host_rate.bps * host.topology.planes},
            host.topology.host_latency) {}

RcParameters RoceSide::parameters_of_port(uint32_t port) const {
  const TransportProfile& profile = host_.profile;
  RcParameters p;
  p.pmtu = profile.pmtu;
  p.recovery = profile.recovery;
  p.reorder = profile.reorder;
  p.window = profile.rc_window;
  p.ack_every = std::min(profile.rc_ack_every, profile.rc_window);
  p.times = rc_times(profile);
  p.retries = profile.rc_retries;
  p.rnr_retries = profile.rc_rnr_retries;
  p.cnp_interval = profile.cnp_interval;
  const Port& nic = host_.topology.port({host_.environment.self, PortId{port}});
  p.line = host_.topology.wire(nic.out).rate;
  const DcqcnPlace place{p.line, profile.base_rtt};
  p.dcqcn = dcqcn_parameters(profile, place);
  return p;
}

void RoceSide::add_queue_pair(const ConnectionPlan& connection, const EndPlan& mine,
                              const EndPlan& theirs) {
  RcQueuePair::Identity id;
  id.local = mine.qpn;
  id.remote = theirs.qpn;
  id.peer = theirs.host;
  id.number = connection.number;
  id.port = connection.number % host_.topology.planes;
  id.send_first = host_.profile.first_psn.value_or(mine.first_psn);
  id.receive_first = host_.profile.first_psn.value_or(theirs.first_psn);
  id.workload = connection.workload;
  add_queue_pair(id, parameters_of_port(id.port));
}

void RoceSide::on_routes(uint32_t host, const std::vector<uint32_t>& weights) {
  const auto leads = [](uint32_t weight) { return weight > 0; };
  if (std::none_of(weights.begin(), weights.end(), leads)) return;
  for (uint32_t place = 0; place < queue_pairs_.places(); ++place) {
    if (!queue_pairs_.contains(place)) continue;
    RcQueuePair& qp = queue_pairs_[place];
    if (qp.id.peer != host || !qp.id.number) continue;
    // A flow that moves while it sends is reordered, and moves back later: other weights alone are no reason.
    const bool has_sent = qp.requester.acknowledged() > 0;
    if (has_sent && weights[qp.id.port] > 0 && !are_alike(weights)) continue;
    const uint32_t port = port_by_weight(*qp.id.number, weights);
    if (port == qp.id.port) continue;
    qp.id.port = port;
    note_port(place, static_cast<uint8_t>(port));
    qp.id.ev = ev_of(flow_path(port, qp.id.local, qp.id.remote));
    EventRecord record{
        host_.now, event_kind::kFlowMoved, PortId{port}, qp.id.local, qp.id.ev, {}, {}, {}};
    record.detail = "to " + host_.name_of_host(host);
    host_.report_event(record);
  }
}

HostStats& RoceSide::loop_stats() {
  if (!loop_stats_) loop_stats_ = std::make_unique<HostStats>();
  return *loop_stats_;
}

RcQueuePair& RoceSide::add_queue_pair(RcQueuePair::Identity id, const RcParameters& parameters) {
  const uint32_t place = queue_pairs_.next_place();
  id.handle = {place | QueueDirectory::kRcHandle};
  id.ev = ev_of(flow_path(id.port, id.local, id.remote));
  ++host_.stats.qps;
  note_port(place, id.looped ? kNoPort : static_cast<uint8_t>(id.port));
  return queue_pairs_.emplace(place, id, parameters, memory_,
                              static_cast<RcQueuePairEvents&>(*this),
                              id.looped ? loop_stats() : host_.stats);
}

void RoceSide::note_port(uint32_t place, uint8_t port) {
  if (port_of_place_.size() <= place) port_of_place_.resize(place + 1, kNoPort);
  port_of_place_[place] = port;
}

void RoceSide::remove_queue_pair(RcQueuePair& qp) {
  note_port(queue_pairs_.place_of(qp), kNoPort);
  qp.silent = true;
  qp.application = ApplicationQueue::kNoApplication;  // its completions go nowhere
  qp.requester.fail("destroyed");
  applications_.forget(qp.id.handle);
  queue_pairs_.erase(qp);
  --host_.stats.qps;
}

void RoceSide::set_heedless(uint32_t host, bool heedless) {
  std::erase(heedless_, host);
  if (heedless) heedless_.push_back(host);
}

Refusal RoceSide::deliver(uint32_t port, const MrcPacket& packet) {
  RcQueuePair* const qp = queue_pairs_.find(packet.bth.destination_qp);
  if (qp == nullptr) return Refusal::kUnknownQp;
  // Where NICs speak, each end has chosen its plane by the routes that it has.
  const bool at_its_port = port == qp->id.port || HostRoutes::nics_speak_bgp(host_.topology);
  if (packet.inner.source != host_.paths.address(qp->id.peer) || !at_its_port || qp->id.looped) {
    return Refusal::kWrongPeer;
  }
  if (qp->requester.failed()) return Refusal::kQpInError;
  queue_pairs_.touch(*qp);
  if (packet.bth.opcode == Opcode::kCongestionNotification) {
    const bool heard =
        std::find(heedless_.begin(), heedless_.end(), qp->id.peer) == heedless_.end();
    if (heard) qp->requester.on_cnp(host_.now);
    return Refusal::kNone;
  }
  if (packet.bth.opcode == Opcode::kRcAcknowledge) {
    return qp->requester.on_acknowledge(std::get<Aeth>(packet.extension), packet.bth.psn,
                                        host_.now);
  }
  if (is_rc_response(packet.bth.opcode)) return deliver_response(packet, *qp);
  return deliver_request(packet, *qp);
}

/// The notification point of DCQCN.
bool RoceSide::marks(const MrcPacket& packet, RcQueuePair& qp) {
  if (packet.outer.ecn() != kEcnCe) return false;
  ++host_.stats.ce_marks_seen;
  return host_.profile.dcqcn != DcqcnChoice::kOff && may_notify(qp);
}

/// What finds no room before memory is lost, and is asked for again.
Refusal RoceSide::deliver_response(const MrcPacket& packet, RcQueuePair& qp) {
  if (marks(packet, qp)) send_cnp(qp);
  receiving_.advance();
  if (!receiving_.resources().buffer.offer({packet.payload_length})) {
    return Refusal::kNoPacketBuffer;
  }
  pauses_.look_at_buffer();
  const Refusal refusal = qp.requester.on_response(packet, host_.now);
  if (refusal == Refusal::kNone) {
    host_.stats.planes[qp.id.port].rx_payload_bytes += packet.payload_length;
  }
  return refusal;
}

/// What finds no room before memory is lost: its sender learns it by the answer to the next packet that does.
Refusal RoceSide::deliver_request(const MrcPacket& packet, RcQueuePair& qp) {
  if (marks(packet, qp)) send_cnp(qp);
  receiving_.advance();
  if (qp.responder.takes(packet.bth.psn) &&
      !receiving_.resources().buffer.offer({packet.payload_length})) {
    return Refusal::kNoPacketBuffer;
  }
  pauses_.look_at_buffer();
  qp.note_request();
  std::optional<RcReply> reply;
  uint64_t placed = 0;
  const Refusal refusal = qp.responder.on_request(packet, reply, placed);
  host_.stats.planes[qp.id.port].rx_payload_bytes += placed;
  if (reply) send_control(qp, Opcode::kRcAcknowledge, reply->psn, reply->aeth);
  return refusal;
}

/// Where the interval is a queue pair's, the receiver answers a mark within it when it ends (paper, section 3.1). Where it
/// is a port's or a destination's, the receiver answers the first marked packet that arrives after it, whichever queue pair
/// that is of (our choice, as no vendor documents what its firmware remembers).
bool RoceSide::may_notify(RcQueuePair& qp) {
  const CnpScope scope = host_.profile.cnp_scope;
  if (scope == CnpScope::kQueuePair) return qp.notifier.on_marked(host_.now);
  const uint32_t place = scope == CnpScope::kPort ? qp.id.port : qp.id.peer;
  if (cnps_after_.size() <= place) cnps_after_.resize(place + 1);
  if (host_.now < cnps_after_[place]) return false;
  cnps_after_[place] = host_.now + host_.profile.cnp_interval;
  return true;
}

void RoceSide::send_cnp(const RcQueuePair& qp) {
  ++host_.stats.cnps_sent;
  send_control(qp, Opcode::kCongestionNotification, Psn{}, CnpHeader{});
}

/// By the port of the queue pair alone: if that is down the peer gets nothing.
void RoceSide::send_control(const RcQueuePair& qp, Opcode opcode, Psn psn,
                            const Extension& extension) {
  if (!ports_.is_live(qp.id.port)) return;
  ports_.queue_control(qp.id.port, host_.maker.rc_control(opcode, psn, extension, qp.id.ev,
                                                          {qp.id.peer, qp.id.remote}));
}

/// The queue pairs of a port take turns of their own. In one round over those of all ports, ports that become
/// idle one after the other would meet the same queue pair again and again, and others would starve.
uint32_t RoceSide::next_of_port(uint32_t place) {
  const uint8_t port = port_of_place_[place];
  const uint32_t count = queue_pairs_.places();
  if (turn_of_port_.size() <= port) turn_of_port_.resize(host_.topology.planes);
  uint32_t at = turn_of_port_[port] < count ? turn_of_port_[port] : 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (port_of_place_[at] == port && queue_pairs_[at].ready(host_.now)) {
      turn_of_port_[port] = at + 1;
      return at;
    }
    at = at + 1 < count ? at + 1 : 0;
  }
  return place;
}

bool RoceSide::start_packet_of(uint32_t place, FrameSink& out, bool& sent) {
  if (ports_.is_paused(port_of_place_[place])) return false;
  if (!queue_pairs_[place].ready(host_.now)) {
    queue_pairs_[place].note_idle();
    return false;
  }
  RcQueuePair& qp = queue_pairs_[next_of_port(place)];
  std::optional<RcReply> reply;
  const std::optional<RcPacket> packet = qp.next_packet(host_.now, reply);
  queue_pairs_.touch(qp);  // its timer may have to be set
  if (reply) {
    send_control(qp, Opcode::kRcAcknowledge, reply->psn, reply->aeth);
    // The turn of control is over in this event.
    host_.events.push(host_.now, EventClass::kApplication, 0, {HostEventKind::kDoorbell, 0, 0});
  }
  if (!packet) return false;
  Frame frame = host_.maker.rc_data(*packet, qp.id.ev, {qp.id.peer, qp.id.remote}, qp.id.fleeting);
  if (!frame) {
    // It counts as sent and will be found lost; the port stays free for the next event.
    ++host_.stats.no_buffer;
    return true;
  }
  host_.stats.planes[qp.id.port].tx_payload_bytes += packet->payload.size();
  ports_.start_data(qp.id.port, std::move(frame), out, QueueClass::kLossless);
  return sent = true;
}

void RoceSide::set_timers_of_touched() {
  bool loops = false;
  for (RcQueuePair* const qp : queue_pairs_.touched()) {
    const FabricTime deadline = std::max(qp->deadline(host_.now), host_.now);
    loops = loops || qp->id.looped;
    if (deadline == FabricTime::never() || deadline >= qp->timer_at) continue;
    qp->timer_at = deadline;
    host_.events.push(deadline, EventClass::kTimer, 0,
                      {HostEventKind::kRcTimer, queue_pairs_.place_of(*qp), 0});
  }
  queue_pairs_.clear_touched();
  if (loops) run_loop();
}

/// Packets that the NIC loops back start when the event that is behind them is over.
void RoceSide::run_loop() {
  loop_.start_packets(queue_pairs_, host_.now);
  const FabricTime at = std::max(loop_.next_event(host_.now), host_.now);
  if (at == FabricTime::never() || at >= loop_at_) return;
  loop_at_ = at;
  host_.events.push(at, EventClass::kTimer, 0, {HostEventKind::kLoop, 0, 0});
}

void RoceSide::on_loop() {
  loop_at_ = FabricTime::never();
  loop_.deliver_due(queue_pairs_, host_.now);
  run_loop();
}

void RoceSide::on_timer(uint32_t place) {
  if (!queue_pairs_.contains(place)) return;
  RcQueuePair& qp = queue_pairs_[place];
  if (host_.now >= qp.timer_at) qp.timer_at = FabricTime::never();
  queue_pairs_.touch(qp);
  if (qp.requester.failed()) return;
  qp.requester.on_timer(host_.now);
  if (qp.notifier.deadline() <= host_.now && qp.notifier.on_timer(host_.now)) send_cnp(qp);
}

void RoceSide::add_counts(std::vector<QueueCounts>& all) const {
  for (const RcQueuePair& qp : std::as_const(queue_pairs_)) {
    if (!qp.id.looped) all.push_back(qp.counts());
  }
}

void RoceSide::add_states(HostStats& stats) const {
  for (const RcQueuePair& qp : std::as_const(queue_pairs_)) {
    if (qp.requester.failed() || !qp.requester.has_work()) continue;
    ++(qp.requester.ready(host_.now) ? stats.qps_ready : stats.qps_active);
  }
}

void RoceSide::power_off() {
  loop_.clear();
  loop_at_ = FabricTime::never();
  for (uint32_t place = 0; place < queue_pairs_.places(); ++place) {
    if (queue_pairs_.contains(place)) remove_queue_pair(queue_pairs_[place]);
  }
}

void RoceSide::work_completed(RcQueuePair& qp, uint64_t id) {
  applications_.notify(qp, ApplicationNotice::Kind::kWriteComplete, {id});
}

void RoceSide::work_failed(RcQueuePair& qp, uint64_t id, std::string_view status) {
  applications_.notify(qp, ApplicationNotice::Kind::kWriteFailed, {id}, status);
}

void RoceSide::message_received(RcQueuePair& qp, const ReceiveCompletion& completion) {
  applications_.notify(qp, ApplicationNotice::Kind::kReceive, completion);
}

void RoceSide::receive_failed(RcQueuePair& qp, uint64_t id, std::string_view status) {
  applications_.notify(qp, ApplicationNotice::Kind::kReceiveFailed, {id}, status);
}

void RoceSide::first_request(RcQueuePair& qp) {
  applications_.notify(qp, ApplicationNotice::Kind::kFirstRequest, {});
}

void RoceSide::loss_detected(RcQueuePair& qp, Psn psn, std::string_view cause) {
  host_.report_event({host_.now,
                      event_kind::kLossDetected,
                      PortId{qp.id.port},
                      qp.id.local,
                      qp.id.ev,
                      psn,
                      cause,
                      {}});
}

void RoceSide::failed(RcQueuePair& qp, std::string_view reason) {
  host_.stats.count_qp_error(reason);
  EventRecord record{host_.now, event_kind::kQpError, {}, qp.id.local, {}, {}, reason, {}};
  record.detail = "to " + host_.name_of_host(qp.id.peer);
  host_.report_event(record);
  applications_.notify(qp, ApplicationNotice::Kind::kError, {}, reason);
}

}  // namespace mrclab::endpoint
