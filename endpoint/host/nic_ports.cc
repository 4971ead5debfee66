#include "endpoint/host/nic_ports.h"

#include <utility>

namespace mrclab::endpoint {

NicPorts::NicPorts(HostShared& host) : host_(host), live_(host.all_ports) {
  for (uint32_t p = 0; p < host.topology.planes; ++p) {
    ports_.emplace_back(host.environment, PortId{p});
  }
}

uint32_t NicPorts::startable() const {
  uint32_t ports = 0;
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    if (ports_[p].nic.can_start()) ports |= 1u << p;
  }
  return ports;
}

bool NicPorts::set_carrier(PortId port, bool up) {
  Port& state = ports_[port.value];
  if (state.nic.carrier() == up) return false;
  state.nic.set_carrier(up);
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
  live_ = avoid ? live_ & ~(1u << port.value) : live_ | 1u << port.value;
  return true;
}

void NicPorts::start_control(FrameSink& out) {
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    NicPort& nic = ports_[p].nic;
    if (nic.has_copy() && nic.can_start()) started(p, nic.start_copy(host_.now, out));
    if (nic.has_control() && nic.can_start()) started(p, nic.start_control(host_.now, out));
  }
}

void NicPorts::start_data(uint32_t port, Frame frame, FrameSink& out) {
  started(port, ports_[port].nic.start(std::move(frame), QueueClass::kData, host_.now, out));
}

void NicPorts::queue_control(uint32_t port, Frame frame) {
  if (!frame || !ports_[port].nic.queue_control(std::move(frame))) ++host_.stats.no_buffer;
}

void NicPorts::power_off() {
  for (Port& port : ports_) port.nic.power_off(host_.now);
}

void NicPorts::started(uint32_t port, FabricTime end) {
  ++host_.stats.planes[port].tx_packets;
  host_.events.push(end, EventClass::kTransmitComplete, port, {HostEventKind::kPortFree, port, 0});
}

}  // namespace mrclab::endpoint
