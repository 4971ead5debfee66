// What faults do to a switch: to its wires, its ports, its queues, its table and itself.

#include <string_view>
#include <type_traits>
#include <utility>

#include "fabric/node/effect_fields.h"
#include "fabric/node/event_kind.h"
#include "switchd/switch_node.h"

namespace mrclab::switchd {
namespace {

std::string_view word_of(SwitchWork work) {
  return effect_table::kSwitchWords[static_cast<size_t>(work)];
}

}  // namespace

void SwitchNode::on_effect(FabricTime now, const Effect& effect) {
  const auto queues_changed = [&] {
    for (const auto& rules : queue_rules_) rules->set_faults(queue_faults_);
  };
  std::visit(
      [&](const auto& e) {
        using E = std::decay_t<decltype(e)>;
        if constexpr (requires { e.wire; }) {
          tell_wire_ends(
              environment_.topology, environment_.self, e, now,
              [&](PortId port) -> IngressWire& { return at(port).in; },
              [&](PortId port) -> EgressWire& { return at(port).egress.wire(); });
          if constexpr (std::is_same_v<E, WireRate>) on_wire_rate(now, e);
        } else if constexpr (std::is_same_v<E, PortCarrier>) {
          on_port_carrier(now, e);
        } else if constexpr (requires { e.node; }) {
          if (e.node != environment_.self) return;
          if constexpr (std::is_same_v<E, SwitchState>) {
            on_switch_state(now, e.work);
          } else if constexpr (std::is_same_v<E, SwitchErrors>) {
            flips_.set_rate(e.rate);
          } else if constexpr (std::is_same_v<E, SwitchRoute>) {
            table_.set_route(e.usid, e.kind, e.port);
          } else if constexpr (std::is_same_v<E, SwitchTrim>) {
            queue_faults_.trim_off = e.off;
            queues_changed();
          } else if constexpr (std::is_same_v<E, SwitchEcn>) {
            queue_faults_.ecn = e.kind;
            queues_changed();
          } else {
            static_assert(std::is_same_v<E, SwitchBuffer>);
            queue_faults_.buffer_lost = e.lost;
            queues_changed();
            if (buffer() != nullptr) buffer()->lose(e.lost);
            look_at_all_pauses(now);
          }
        }
      },
      effect);
}

void SwitchNode::on_switch_state(FabricTime now, SwitchWork work) {
  if (work_ == work) return;
  const SwitchWork before = std::exchange(work_, work);
  if (!neighbours_) table_.set_loaded(work != SwitchWork::kNoTable);
  environment_.observer.event({now, event_kind::kSwitchState, {}, {}, {}, {}, word_of(work), {}});
  if (neighbours_) on_service_state(now, before);
  if (fare_ && before == SwitchWork::kDown) start_speaker(now);
  if (fare_ && !stands_still()) plan_speaker(now);
  if (!stands_still()) return look_at_all_pauses(now);
  const bool down = work == SwitchWork::kDown;
  if (down) power_lost_ = now;
  for (uint32_t i = 0; i < port_count(); ++i) {
    if (find(PortId{i}) == nullptr) continue;
    flush(now, PortId{i}, down ? DropCause::kSwitchDown : DropCause::kSwitchHung);
  }
}

void SwitchNode::flush(FabricTime now, PortId port, DropCause cause) {
  EgressPort& egress = at(port).egress;
  egress.forget_copy();
  while (auto flushed = egress.flush_one()) record_flushed(now, port, cause, *flushed);
}

void SwitchNode::on_port_carrier(FabricTime now, const PortCarrier& carrier) {
  const PortId port = carrier.port.port;
  if (carrier.port.node != environment_.self || port.value >= port_count()) return;
  EgressPort& egress = at(port).egress;
  if (egress.carrier() == carrier.up) return;
  egress.set_carrier(carrier.up);
  if (pause_) {
    pause_->reset(port, now);
    egress.set_paused(false);
    egress.put_pause({});
    look_again(now, port);
  }
  if (neighbours_) {
    neighbours_->set_light(port, carrier.up, now);
    refresh_port(port);
    after_neighbours(now);
  } else {
    table_.set_live(port, carrier.up);
  }
  if (fare_) {
    fare_->set_carrier(port, carrier.up, now);
    plan_speaker(now);
  }
  environment_.observer.event(
      {now, carrier.up ? event_kind::kPortUp : event_kind::kPortDown, port, {}, {}, {}, {}, {}});
  if (carrier.up) return;  // what waited was dropped; there is nothing to start
  flush(now, port, DropCause::kPortDown);
}

}  // namespace mrclab::switchd
