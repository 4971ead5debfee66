// What faults and operators do to a host (fabric/node/effect.h).

#include <type_traits>
#include <utility>

#include "endpoint/host/host_device.h"
#include "fabric/node/effect_fields.h"
#include "fabric/paths/ecmp.h"
#include "fabric/paths/path_list.h"

namespace mrclab::endpoint {
namespace {

/// The reasons are those of the transports and of the device, which has their status codes.
std::string_view reason_of(VerbsStatus status) {
  switch (status) {
    case VerbsStatus::kNone:
    case VerbsStatus::kFatal: break;
    case VerbsStatus::kRetryExceeded: return "Retry Counter Exceeded";
    case VerbsStatus::kRnrRetryExceeded: return "RNR Retry Counter Exceeded";
    case VerbsStatus::kRemoteAccess: return "Remote Access Error";
    case VerbsStatus::kRemoteInvalidRequest: return "Remote Invalid Request Error";
    case VerbsStatus::kRemoteOperation: return "Remote Operation Error";
    case VerbsStatus::kLocalProtection: return kProtected;
    case VerbsStatus::kLocalLength: return kTooLong;
  }
  return "Device Fault";
}

}  // namespace

void HostImpl::on_effect(const Effect& effect) {
  std::visit(
      [&](const auto& e) {
        using E = std::decay_t<decltype(e)>;
        if constexpr (requires { e.wire; }) {
          tell_wire_ends(
              host_.topology, host_.environment.self, e, host_.now,
              [&](PortId port) -> IngressWire& { return ports_.at(port.value).in; },
              [&](PortId port) -> EgressWire& { return ports_.at(port.value).out_wire; });
          if constexpr (std::is_same_v<E, WireRate>) on_wire_rate(e);
        } else if constexpr (std::is_same_v<E, PortCarrier>) {
          if (e.port.node != host_.environment.self || e.port.port.value >= ports_.size()) return;
          if (ports_.set_carrier(e.port.port, e.up)) on_port_notice(e.port.port);
        } else if constexpr (requires { e.host; }) {
          if (e.host != host_.environment.self) return;
          if constexpr (std::is_same_v<E, EvDenial>) {
            on_denial(e);
          } else if constexpr (std::is_same_v<E, HostState>) {
            on_host_state(e.work);
          } else if constexpr (std::is_same_v<E, HostDrain>) {
            on_drain(e);
          } else if constexpr (std::is_same_v<E, HostStorm>) {
            on_storm(e.storming);
          } else if constexpr (std::is_same_v<E, HostAttack>) {
            on_attack(e);
          } else if constexpr (std::is_same_v<E, HostVerbs>) {
            on_verbs(e);
          } else {
            static_assert(std::is_same_v<E, HostBurst>);
            on_burst(e);
          }
        }
      },
      effect);
}

void HostImpl::on_host_state(HostWork work) {
  if (work_ == work) return;
  const HostWork before = std::exchange(work_, work);
  const std::string_view word = effect_table::kHostWords[static_cast<size_t>(work)];
  host_.report_event({host_.now, "host_state", {}, {}, {}, {}, word, {}});
  if (work == HostWork::kDown) {
    power_off();
  } else {
    pauses_.set_power(true);
    if (routes_ && before == HostWork::kDown) start_routes();
  }
  applications_.set_paused(work == HostWork::kPaused);
  if (neighbours_ && (work == HostWork::kDown || before == HostWork::kDown)) {
    neighbours_planned_ = FabricTime::never();  // what was planned in another life comes to nothing
    neighbours_->stop();
    if (work != HostWork::kDown) neighbours_->start(host_.now);
    plan_neighbours();
  }
  if (before == HostWork::kDown) start_denylist();
  if (!mapper_) return;
  mapper_->set_running(work == HostWork::kRunning, host_.now);
  mapper_planned_ = FabricTime::never();  // what was planned in another life comes to nothing
  plan_mapper();
}

void HostImpl::on_drain(const HostDrain& drain) {
  if (!receiving_.set_drain(drain)) return;
  pauses_.look_at_buffer();  // memory that goes on is a reason to let the neighbours go on
  const std::string_view word = effect_table::kDrainWords[static_cast<size_t>(drain.kind)];
  host_.report_event({host_.now, "host_drain", {}, {}, {}, {}, word, {}});
}

void HostImpl::on_storm(bool storming) {
  if (!pauses_.set_storm(storming)) return;
  host_.report_event(
      {host_.now, storming ? "pause_storm_begins" : "pause_storm_ends", {}, {}, {}, {}, {}, {}});
}

/// Whatever needs power is gone and stays gone; what was counted stays counted. The NIC boots with
/// its ports as their carriers are, without queue pairs, and what a controller denied stays denied.
void HostImpl::power_off() {
  host_.events.begin_life();
  power_lost_ = host_.now;
  applications_.power_off();
  ports_.power_off();
  for (uint32_t place = 0; place < queue_pairs_.places(); ++place) {
    if (queue_pairs_.contains(place)) remove_queue_pair(queue_pairs_[place]);
  }
  roce_.power_off();
  peers_.power_off();
  sender_.power_off();
  denials_.begin_again();
  collector_.reset();
  if (device_ != nullptr) device_->power_off();
  // Frames that the host sent before may still be under way, and refer to their payload there (Frame::lent).
  if (host_.maker.lends()) lost_memory_.push_back(std::move(memory_));
  memory_ = {};
  receiving_.power_off();
  pauses_.set_power(false);
}

/// The paths for datagrams that are no MRC: all, or where a hash chooses as many values as a queue pair has.
std::vector<Path> HostImpl::datagram_paths(uint32_t host) const {
  const Chosen chosen = chosen_by(host_.topology);
  if (chosen == Chosen::kByName) return paths_between(host_.topology, host_.self, host);
  std::vector<Path> paths;
  for (const EntropyValue ev : peers_.evs_toward(host, chosen)) paths.push_back(*path_of(ev));
  return paths;
}

void HostImpl::on_burst(const HostBurst& burst) {
  if (work_ == HostWork::kDown || burst.toward.value >= host_.topology.nodes.size()) return;
  const NodeSite& to = host_.topology.node(burst.toward);
  if (to.role != NodeRole::kHost || to.id == host_.environment.self) return;
  sender_.add_burst(Burst(to.index, burst.size, host_.topology.pmtu, host_.topology.planes,
                          datagram_paths(to.index)));
}

void HostImpl::on_attack(const HostAttack& attack) {
  if (attack.toward.value >= host_.topology.host_count()) return;
  const std::string_view word =
      attack.rate.bps == 0 ? "ends" : effect_table::kAttackWords[static_cast<size_t>(attack.kind)];
  host_.report_event({host_.now,
                      "attack",
                      {},
                      {},
                      {},
                      {},
                      word,
                      "toward " + host_.topology.node(attack.toward).name});
  const uint32_t victim = host_.topology.node(attack.toward).index;
  if (attack.kind == AttackKind::kNoEcn) {
    peers_.set_heedless(victim, attack.rate.bps > 0);
    return roce_.set_heedless(victim, attack.rate.bps > 0);
  }
  if (work_ != HostWork::kDown) sender_.set_attack(attack, datagram_paths(victim));
}

void HostImpl::on_verbs(const HostVerbs& verbs) {
  const auto end = [&](auto& table) {
    for (auto& qp : table) {
      if (verbs.qp != 0 && HostIdentities::number_of(qp.number()) != verbs.qp) continue;
      if (verbs.status == VerbsStatus::kFatal) {
        qp.fail(reason_of(verbs.status));
      } else {
        qp.requester.fail_oldest(reason_of(verbs.status));
      }
      table.touch(qp);
    }
  };
  end(queue_pairs_);
  end(rc_queue_pairs_);
}

/// Ports that are busy look again when they are free; idle ones when the next frame is due.
void HostImpl::plan_attack() {
  const FabricTime due = sender_.attack_due();
  if (due <= host_.now || due >= attack_planned_) return;
  attack_planned_ = due;
  host_.events.push(due, EventClass::kTimer, 0, {HostEventKind::kAttack, 0, 0});
}

void HostImpl::on_denial(const EvDenial& denial) {
  if (denial.host != host_.environment.self) return;
  const uint32_t toward =
      denial.toward.valid() ? host_.topology.node(denial.toward).index : Denylist::kEverybody;
  denials_.by_hand().set(denial.ev, toward, denial.denied);
  for (QueuePair& qp : queue_pairs_) {
    if (toward != Denylist::kEverybody && toward != qp.peer.host) continue;
    apply_denials(qp);
    queue_pairs_.touch(qp);
  }
  for (Peer& peer : peers_.table()) apply_denials(peer);
}

}  // namespace mrclab::endpoint
