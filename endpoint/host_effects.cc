// What faults and operators do to a host (fabric/effect.h).

#include <type_traits>

#include "endpoint/host_device.h"
#include "fabric/ecmp.h"
#include "fabric/effect_fields.h"
#include "fabric/path_list.h"

namespace mrclab::endpoint {

void HostNode::Impl::on_effect(const Effect& effect) {
  std::visit(
      [&](const auto& e) {
        using E = std::decay_t<decltype(e)>;
        if constexpr (requires { e.wire; }) {
          tell_wire_ends(
              topology_, environment_.self, e, now_,
              [&](PortId port) -> IngressWire& { return ports_[port.value].nic.in; },
              [&](PortId port) -> EgressWire& { return ports_[port.value].nic.out_wire; });
        } else if constexpr (std::is_same_v<E, PortCarrier>) {
          if (e.port.node != environment_.self || e.port.port.value >= ports_.size()) return;
          on_carrier(e.port.port, e.up);
        } else if constexpr (requires { e.host; }) {
          if (e.host != environment_.self) return;
          if constexpr (std::is_same_v<E, EvDenial>) {
            on_denial(e);
          } else if constexpr (std::is_same_v<E, HostState>) {
            on_host_state(e.work);
          } else if constexpr (std::is_same_v<E, HostDrain>) {
            on_drain(e);
          } else {
            static_assert(std::is_same_v<E, HostBurst>);
            on_burst(e);
          }
        }
      },
      effect);
}

void HostNode::Impl::on_host_state(HostWork work) {
  if (work_ == work) return;
  work_ = work;
  const std::string_view word = effect_table::kHostWords[static_cast<size_t>(work)];
  environment_.observer.event({now_, "host_state", {}, {}, {}, {}, word, {}});
  if (work == HostWork::kDown) power_off();
  if (work == HostWork::kRunning) tell_what_was_held();
}

void HostNode::Impl::on_drain(const HostDrain& drain) {
  if (drain_ == drain) return;
  drain_ = drain;
  const std::string_view word = effect_table::kDrainWords[static_cast<size_t>(drain.kind)];
  environment_.observer.event({now_, "host_drain", {}, {}, {}, {}, word, {}});
  received_.buffer.advance(now_);
  set_drain();
}

/// Sets the lower of the NIC's rate as built and the rate that a fault leaves.
void HostNode::Impl::set_drain() {
  BitRate rate = profile_.receive_rate;
  const bool slow = drain_.kind == DrainKind::kSlow;
  if (slow && (rate.bps == 0 || drain_.rate < rate)) rate = drain_.rate;
  received_.buffer.set_rate(rate);
  received_.buffer.set_stalled(drain_.kind == DrainKind::kStalled);
  shares_.set_drain(rate);
}

/// Everything that needs power is gone for good; counts stay. The NIC boots with its ports as their
/// carriers are, without queue pairs, and values that a controller denied stay denied.
void HostNode::Impl::power_off() {
  ++life_;
  power_lost_ = now_;
  for (Fifo<Notice>* notices : {&notices_, &held_notices_}) {
    while (!notices->empty()) notices->pop();
  }
  for (PortState& port : ports_) port.nic.power_off(now_);
  for (uint32_t place = 0; place < qps_.places(); ++place) {
    if (qps_.contains(place)) remove_queue_pair(qps_[place]);
  }
  peers_.clear();
  peer_of_host_.assign(peer_of_host_.size(), kNobody);
  bursts_.clear();
  device_->power_off();
  for (RunningApp& app : apps_) app.gone = true;
  memory_ = {};
  send_buffers_.clear();
  received_ = ReceiveResources(profile_);
  received_.buffer.advance(now_);
  set_drain();
  while (!memory_waiters_.empty()) memory_waiters_.pop();
  memory_timer_ = FabricTime::never();
}

/// The paths for datagrams that are not MRC: all paths, or where a hash chooses as many values as a
/// queue pair has.
std::vector<Path> HostNode::Impl::datagram_paths(uint32_t host) const {
  const Chosen chosen = chosen_by(topology_);
  if (chosen == Chosen::kByName) return paths_between(topology_, self_, host);
  std::vector<Path> paths;
  for (const EntropyValue ev : evs_toward(host, chosen)) paths.push_back(*path_of(ev));
  return paths;
}

void HostNode::Impl::on_burst(const HostBurst& burst) {
  if (work_ == HostWork::kDown || burst.toward.value >= topology_.nodes.size()) return;
  const NodeSite& to = topology_.node(burst.toward);
  if (to.role != NodeRole::kHost || to.id == environment_.self) return;
  bursts_.emplace_back(to.index, burst.size, topology_.pmtu, topology_.planes,
                       datagram_paths(to.index));
}

}  // namespace mrclab::endpoint
