// The denylist of a host in force: what goes to the collector and what comes from it, and what a list means to queue pairs
// and ways back. On one host the collector itself is.

#include <utility>

#include "endpoint/host/host_device.h"
#include "fabric/node/event_kind.h"
#include "fabric/paths/path_list.h"
#include "fabric/probes/denylist_fit.h"
#include "fabric/probes/probe_route.h"

namespace mrclab::endpoint {

/// At the start, and when software that lost its memory begins anew.
void HostImpl::start_denylist() {
  if (!host_.topology.denylist.on) return;
  collector_host_ = collector_of(host_.topology);
  if (collector_host_ == host_.self) collector_.emplace(host_.topology);
  list_announced_ = false;
  mapper_planned_ = FabricTime::never();
  plan_mapper();
}

void HostImpl::announce_list(std::string_view cause) {
  list_announced_ = true;
  uint32_t left_out = 0;
  for (const QueuePair& qp : queue_pairs_) {
    left_out += denials_.among(values_of(qp), qp.peer.host).left_out;
  }
  const DeniedList& list = denials_.list();
  EventRecord record{host_.now, event_kind::kDenylistSet, {}, {}, {}, {}, cause, {}};
  record.detail = "version " + std::to_string(list.version) + ", parts " +
                  std::to_string(list.parts.size()) + ", left_out " + std::to_string(left_out);
  host_.report_event(record);
}

std::vector<EntropyValue> HostImpl::values_of(const QueuePair& qp) const {
  std::vector<EntropyValue> values;
  for (uint32_t i = 0; i < qp.requester.evs().size(); ++i) {
    values.push_back(qp.requester.evs().value(i));
  }
  return values;
}

/// What is denied now, by hand or by list.
void HostImpl::apply_denials(QueuePair& qp) {
  const std::vector<EntropyValue> values = values_of(qp);
  const HostDenials::Among among = denials_.among(values, qp.peer.host);
  for (size_t i = 0; i < values.size(); ++i) {
    qp.requester.set_denied(values[i], among.denied[i], host_.now);
  }
}

void HostImpl::apply_denials(Peer& peer) {
  std::vector<EntropyValue> values;
  for (const Path& path : paths_between(host_.topology, host_.self, peer.host)) {
    values.push_back(ev_of(path));
  }
  const HostDenials::Among among = denials_.among(values, peer.host);
  for (size_t i = 0; i < values.size(); ++i) peer.reverse.set_denied(values[i], among.denied[i]);
}

void HostImpl::list_changed(std::string_view cause) {
  for (QueuePair& qp : queue_pairs_) {
    apply_denials(qp);
    queue_pairs_.touch(qp);
  }
  for (Peer& peer : peers_.table()) apply_denials(peer);
  announce_list(cause);
}

/// Twice, over two planes that have light and whose paths are not denied, in turn; any paths, where all are.
void HostImpl::send_message(uint32_t to, const MapperMessage& message) {
  std::vector<Path> usable, lit;
  for (const Path& path : paths_between(host_.topology, host_.self, to)) {
    if (!ports_.is_live(path.plane)) continue;
    lit.push_back(path);
    if (!denials_.lists(to, path)) usable.push_back(path);
  }
  const std::vector<Path>& paths = usable.empty() ? lit : usable;
  if (paths.empty()) return;
  const size_t first = messages_sent_++ % paths.size();
  send_message_over(paths[first], to, message);
  for (size_t i = 1; i < paths.size(); ++i) {
    const Path& other = paths[(first + i) % paths.size()];
    if (other.plane == paths[first].plane) continue;
    return send_message_over(other, to, message);
  }
  send_message_over(paths[first], to, message);
}

void HostImpl::send_message_over(const Path& path, uint32_t to, const MapperMessage& message) {
  const size_t size = message_bytes(message);
  Frame frame = host_.environment.frames.make(size);
  if (!frame) {
    ++host_.stats.no_buffer;
    return;
  }
  const PathHeaders way = host_.topology_paths.headers(to, ev_of(path));
  MessageFrameSpec spec;
  spec.source_mac = way.source_mac;
  spec.destination_mac = way.destination_mac;
  spec.outer_source = way.outer_source;
  spec.carrier = way.carrier;
  spec.source = host_.paths.address(host_.self);
  spec.destination = host_.paths.address(to);
  spec.ev = ev_of(path);
  spec.dscp = host_.topology.dscps.control;
  spec.session = mapper_session(host_.environment.seed);
  write_message(spec, message, frame.writable_bytes());
  frame.set_modelled_size({size});
  ports_.queue_control(path.plane, std::move(frame));
}

void HostImpl::send_report(const ProbeReport& report) {
  if (!host_.topology.denylist.on) return;
  if (denials_.expire(host_.now)) list_changed("expired");
  AgentReport out = agent_report(host_.topology, host_.self, report, denials_.list().version);
  if (!collector_) return send_message(collector_host_, std::move(out));
  collector_->take(host_.self, out, host_.now);
  collector_->end_period(report.period, host_.now);
  run_collector();
}

/// What the collector has decided is in force here at once, and goes to all others.
void HostImpl::run_collector() {
  if (!collector_) return;
  collector_->run_drains(host_.now);
  for (DenylistCollector::Change& change : collector_->take_changes()) {
    EventRecord record{host_.now, event_kind::kDenylist, {}, {}, {}, {}, change.cause, {}};
    record.detail = "version " + std::to_string(collector_->list().version) + ", " +
                    name_of(host_.topology, change.part) + ", " + change.why;
    host_.report_event(record);
  }
  const DeniedList list = collector_->list();
  if (denials_.take(list, host_.now)) list_changed("list");
  for (const uint32_t host : collector_->take_behind()) {
    if (host != host_.self) send_message(host, list);
  }
}

/// False for what is for another port or another address: that is refused as all else.
bool HostImpl::take_message(uint32_t port, const Frame& frame) {
  std::optional<SeenMessage> seen = parse_message(frame.bytes());
  if (!seen) return false;
  const bool here = !seen->carried || (host_.paths.accepts(port, seen->outer_destination) &&
                                       host_.paths.ends_here(seen->outer_destination));
  if (!here || !same_address(seen->destination, host_.paths.address(host_.self))) return false;
  const auto source = host_.paths.host_of(seen->source);
  const bool known = seen->message && source && *source != host_.self &&
                     seen->session == mapper_session(host_.environment.seed);
  if (!known || !take_message_of(*source, *seen->message)) {
    host_.refuse(Refusal::kMalformed);
    host_.environment.observer.packet({host_.now, PortId{port}, Direction::kIngress,
                                       PacketEvent::kDropped, DropCause::kMalformed,
                                       QueueClass::kNone, frame});
  }
  return true;
}

bool HostImpl::take_message_of(uint32_t source, MapperMessage& message) {
  if (work_ != HostWork::kRunning) return true;  // no software is there to read it
  if (const auto* report = std::get_if<AgentReport>(&message)) {
    if (!collector_ || !collector_->take(source, *report, host_.now)) return false;
    run_collector();
    return true;
  }
  auto& list = std::get<DeniedList>(message);
  const bool right = source == collector_host_ && !collector_ &&
                     list.version <= static_cast<uint64_t>(host_.now.ps());
  if (!right) return false;
  for (const DeniedPart& part : list.parts) {
    if (!has_part(host_.topology, part)) return false;
  }
  if (denials_.take(std::move(list), host_.now)) list_changed("list");
  return true;
}

}  // namespace mrclab::endpoint
