#include "endpoint/host/nic_ports.h"

#include <bit>
#include <utility>

#include "fabric/packet/authorised.h"
#include "fabric/packet/pause_frame.h"

namespace mrclab::endpoint {
namespace {

uint32_t with_bit(uint32_t bits, uint32_t bit, bool on) {
  return (bits & ~(1u << bit)) | uint32_t{on} << bit;
}

}  // namespace

NicPorts::NicPorts(HostShared& host)
    : host_(host),
      live_(host.all_ports),
      live_count_(static_cast<uint32_t>(std::popcount(live_))),
      ends_(host.topology.planes),
      idle_(host.all_ports) {
  ports_.reserve(host.topology.planes);
  for (uint32_t p = 0; p < host.topology.planes; ++p) {
    ports_.emplace_back(host.environment, PortId{p}, host.payload_stays);
  }
}

/// Brings the bits of a port up to date, after anything but the end of a transmission.
void NicPorts::look_at(uint32_t port) {
  const NicPort& nic = ports_[port].nic;
  shut_ = with_bit(shut_, port, nic.avoided() && !nic.carrier());
  look_before_data(port);
}

/// What waits at a port, and whose turn it is, is all that a transmission that begins can change.
void NicPorts::look_before_data(uint32_t port) {
  const NicPort& nic = ports_[port].nic;
  const bool urgent = nic.has_pause() || nic.has_copy();
  const bool held = !urgent && nic.has_control() && nic.is_turn_of_data(host_.now);
  before_data_ = with_bit(before_data_, port, urgent || (nic.has_control() && !held));
  data_turn_ = with_bit(data_turn_, port, held);
}

bool NicPorts::set_carrier(PortId port, bool up) {
  Port& state = ports_[port.value];
  if (state.nic.carrier() == up) return false;
  state.nic.set_carrier(up, host_.now);
  look_at(port.value);
  ++state.notice_generation;
  const NicProfile& nic = host_.topology.nic;
  const FabricTime delay = up ? nic.port_up_delay : nic.port_down_delay;
  if (delay == FabricTime::zero()) return true;
  host_.events.push(host_.now + delay, EventClass::kTimer, port.value,
                    {HostEventKind::kPortNotice, port.value, state.notice_generation});
  return false;
}

bool NicPorts::notice(PortId port) {
  NicPort& nic = ports_[port.value].nic;
  const bool avoid = !nic.carrier();
  if (nic.avoided() == avoid) return false;  // it came back before it was noticed
  nic.set_avoided(avoid, host_.now);
  look_at(port.value);
  live_ = with_bit(live_, port.value, !avoid);
  live_count_ = static_cast<uint32_t>(std::popcount(live_));
  return true;
}

bool NicPorts::take_pause(uint32_t port, const Frame& frame) {
  const std::optional<uint16_t> quanta = lossless_quanta(frame.bytes());
  if (!quanta) return false;
  const FabricTime until = ports_[port].nic.pause_for(*quanta, host_.now);
  if (*quanta > 0) {
    host_.events.push(until, EventClass::kTimer, port, {HostEventKind::kPauseEnd, port, 0});
  }
  return true;
}

void NicPorts::add_to(NodePauses& account) const {
  for (const Port& port : ports_) account.ports.push_back(port.nic.pauses(host_.now));
}

void NicPorts::pause_neighbours(uint16_t quanta) {
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    NicPort& nic = ports_[p].nic;
    if (!nic.carrier()) continue;
    const mrclab::Port& self = host_.topology.port({host_.environment.self, PortId{p}});
    if (Frame frame = make_pause(host_.environment.frames, self.mac, quanta)) {
      nic.put_pause(std::move(frame));
      look_at(p);
    }
  }
}

void NicPorts::start_control(FrameSink& out) {
  for (uint32_t ports = before_data_ & startable(); ports != 0; ports &= ports - 1) {
    start_before_data(static_cast<uint32_t>(std::countr_zero(ports)), out);
  }
}

void NicPorts::start_held_control(FrameSink& out) {
  for (uint32_t ports = data_turn_ & startable(); ports != 0; ports &= ports - 1) {
    const auto port = static_cast<uint32_t>(std::countr_zero(ports));
    ports_[port].nic.skip_turn_of_data();
    start_before_data(port, out);
  }
}

/// One frame of a port that is idle and has one.
void NicPorts::start_before_data(uint32_t port, FrameSink& out) {
  NicPort& nic = ports_[port].nic;
  started(port, nic.has_pause()  ? nic.start_pause(host_.now, out)
                : nic.has_copy() ? nic.start_copy(host_.now, out)
                                 : nic.start_control(host_.now, out));
}

/// The NIC's own part of `authorise`: it belongs to the operator, whatever the host's software asks it to send.
bool NicPorts::may_send(uint32_t port, const Frame& frame, QueueClass queue) {
  if (!at_nic(host_.topology.authorise) || !frame) return true;
  const DropCause cause =
      not_authorised(host_.topology, {host_.environment.self, PortId{port}}, frame.bytes());
  if (cause == DropCause::kNone) return true;
  ++host_.stats.not_authorised;
  ports_[port].nic.drop(frame, queue, cause, host_.now);
  return false;
}

void NicPorts::start_data(uint32_t port, Frame&& frame, FrameSink& out, QueueClass queue) {
  if (!may_send(port, frame, queue)) return;
  started(port, ports_[port].nic.start_data(std::move(frame), queue, host_.now, out));
}

void NicPorts::queue_control(uint32_t port, Frame frame) {
  if (!may_send(port, frame, QueueClass::kControl)) return;
  if (!frame || !ports_[port].nic.queue_control(std::move(frame))) ++host_.stats.no_buffer;
  look_before_data(port);
}

void NicPorts::power_off() {
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    ports_[p].nic.power_off(host_.now);
    look_at(p);
  }
}

void NicPorts::started(uint32_t port, FabricTime end) {
  idle_ &= ~(1u << port);
  ends_.set(port, end);
  look_before_data(port);
  ++host_.stats.planes[port].tx_packets;
}

}  // namespace mrclab::endpoint
