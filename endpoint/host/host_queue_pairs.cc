// Queue pairs: created from the connection plan or by the device's user (verbs.h), by the same code, and
// destroyed again; and their reports.

#include <algorithm>
#include <utility>

#include "endpoint/host/host_device.h"
#include "endpoint/paths/ev_profile_values.h"
#include "endpoint/paths/lazy_ev_set.h"
#include "fabric/node/event_kind.h"
#include "fabric/paths/ecmp.h"

namespace mrclab::endpoint {
namespace {

using Notice = ApplicationNotice::Kind;

}  // namespace

/// All of them, or without spraying a single one.
std::vector<EntropyValue> HostImpl::evs_of_queue_pair(const QueuePair::Identity& id,
                                                      uint32_t host) const {
  std::vector<EntropyValue> values = peers_.evs_toward(host, id.chosen, id.local);
  if (host_.profile.spray) return values;
  const uint64_t random = draw(host_.environment.seed, host_.environment.self, PortId{},
                               DrawPurpose::kEvChoice, id.handle.value);
  return {values[below(random, values.size())]};
}

void HostImpl::add_queue_pairs(const OwnConnections& connections) {
  const ConnectionLimits limits = limits_of(host_.profile);
  for (const uint32_t place : connections.of(host_.self)) {
    const ConnectionPlan& connection = connections.plan()[place];
    for (const bool initiator : {true, false}) {
      const EndPlan& mine = initiator ? connection.initiator : connection.acceptor;
      const EndPlan& theirs = initiator ? connection.acceptor : connection.initiator;
      if (mine.host != host_.self) continue;
      if (connection.transport.value_or(host_.profile.transport) == TransportKind::kRoce) {
        roce_.add_queue_pair(connection, mine, theirs);
        continue;
      }
      QueuePair::Identity id;
      id.local = mine.qpn;
      id.remote = theirs.qpn;
      id.send_first = host_.profile.first_psn.value_or(mine.first_psn);
      id.receive_first = host_.profile.first_psn.value_or(theirs.first_psn);
      id.workload = connection.workload;
      id.chosen = chosen_by(host_.topology, connection.routing);
      add_queue_pair(id, theirs.host, limits);
    }
  }
}

/// `id.handle` is given here. `profile`: the values that it may use; empty: all.
QueuePair& HostImpl::add_queue_pair(QueuePair::Identity id, uint32_t peer_host,
                                    const ConnectionLimits& limits,
                                    const std::vector<EntropyValue>& profile) {
  const uint32_t place = queue_pairs_.next_place();
  id.handle = {place};
  const auto make_evs = [this, id, peer_host, profile] {
    std::vector<EntropyValue> values = evs_of_queue_pair(id, peer_host);
    if (!profile.empty()) {
      std::erase_if(values, [&](EntropyValue ev) {
        return std::find(profile.begin(), profile.end(), ev) == profile.end();
      });
      if (values.empty()) reject_call("no value of the EV profile is a path to this peer");
    }
    return EvSet(values, host_.topology.planes, host_.profile.ev_limits(),
                 {host_.environment.seed, host_.environment.self, id.handle.value},
                 peers_.peer_port_toward(peer_host));
  };
  LazyEvSet evs = profile.empty() ? LazyEvSet(LazyEvSet::Make(make_evs)) : LazyEvSet(make_evs());
  EvProber prober(host_.profile, host_.environment.seed, host_.environment.self, place);
  QueuePair& qp = queue_pairs_.emplace(place, id, peers_.peer_for(peer_host, id.chosen),
                                       host_.profile, limits, std::move(evs), std::move(prober),
                                       memory_.regions, receiving_.resources(), *this, host_.stats);
  ++host_.stats.qps;
  if (qp.peer.queue_pairs++ == 0) peers_.greet_peer(qp.peer);
  qp.peer.window->share_among(qp.peer.queue_pairs);
  // Ports that are down at either end, and paths that the controller denied. Values begin with all ports up.
  const LivePorts live = peers_.ports_toward(qp.peer, id.chosen != Chosen::kByName);
  const uint32_t all = host_.all_ports;
  if ((live.own & live.peer & all) != all) qp.requester.set_live_ports(live, host_.now);
  // Of those of the plan the first event does it: nobody is there yet to be told of it.
  if (!denials_.empty() && is_planned_) {
    apply_denials(qp);
    apply_denials(qp.peer);
  }
  return qp;
}

/// Neither the application nor the peer gets a report; what it had in flight leaves the window of its destination.
void HostImpl::remove_queue_pair(QueuePair& qp) {
  qp.silent = true;
  qp.application = QueuePair::kNoApplication;  // its completions go nowhere
  --qp.peer.queue_pairs;
  qp.peer.window->share_among(qp.peer.queue_pairs);
  qp.requester.fail("destroyed");
  applications_.forget(qp.id.handle);
  queue_pairs_.erase(qp);
  --host_.stats.qps;
}

void HostImpl::write_completed(QueuePair& qp, uint64_t id) {
  applications_.notify(qp, Notice::kWriteComplete, {id});
}

void HostImpl::write_failed(QueuePair& qp, uint64_t id, std::string_view status) {
  applications_.notify(qp, Notice::kWriteFailed, {id}, status);
}

void HostImpl::immediate_received(QueuePair& qp, const ReceiveCompletion& completion) {
  applications_.notify(qp, Notice::kReceive, completion);
}

void HostImpl::receive_failed(QueuePair& qp, uint64_t id, std::string_view status) {
  applications_.notify(qp, Notice::kReceiveFailed, {id}, status);
}

void HostImpl::loss_detected(QueuePair& qp, EntropyValue ev, Psn psn, std::string_view cause) {
  const PortId port{path_of(ev)->plane};
  host_.report_event({host_.now, event_kind::kLossDetected, port, qp.id.local, ev, psn, cause, {}});
}

void HostImpl::failed(QueuePair& qp, std::string_view reason) {
  host_.stats.count_qp_error(reason);
  EventRecord record{host_.now, event_kind::kQpError, {}, qp.id.local, {}, {}, reason, {}};
  record.detail = "to " + host_.name_of_host(qp.peer.host);
  host_.report_event(record);
  applications_.notify(qp, Notice::kError, {}, reason);
}

void HostImpl::ev_changed(QueuePair& qp, EntropyValue ev, EvState to) {
  const PortId port{path_of(ev)->plane};
  host_.report_event({host_.now,
                      event_kind::kEvState,
                      port,
                      qp.id.local,
                      ev,
                      {},
                      name_of(to),
                      "to " + host_.name_of_host(qp.peer.host)});
  if (device_ != nullptr) device_->ev_changed(qp, ev, to);
  ev_events_.push({host_.now, qp.id.local, ev, port.value + 1, to, 0});
}

void HostImpl::ev_swapped(QueuePair& qp, EntropyValue in, EntropyValue out) {
  EventRecord record{
      host_.now, event_kind::kEvActive, PortId{path_of(in)->plane}, qp.id.local, in, {}, "backup",
      {}};
  record.detail = "in place of " + to_string(*path_of(out));
  host_.report_event(record);
}

}  // namespace mrclab::endpoint
