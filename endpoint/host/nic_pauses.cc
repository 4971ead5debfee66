#include "endpoint/host/nic_pauses.h"

#include <algorithm>

#include "fabric/packet/pause_frame.h"

namespace mrclab::endpoint {

NicPauses::NicPauses(HostShared& host, NicPorts& ports, ReceiveSide& receiving)
    : host_(host), ports_(ports), receiving_(receiving) {
  const Bytes size{host.profile.receive_buffer};
  Bytes headroom;
  for (const Port& port : host.topology.node(host.environment.self).ports) {
    headroom += pause_headroom(host.topology, port.in);
  }
  // A buffer that is smaller than what is under way cannot be protected; half of it is tried.
  stop_above_ = std::max(size > headroom ? size - headroom : Bytes{0}, size / 2);
  const Bytes step{host.profile.pmtu};
  go_below_ = stop_above_ > step ? stop_above_ - step : Bytes{0};
}

bool NicPauses::wants_stop() const {
  const Bytes held = receiving_.resources().buffer.held();
  return storming_ || held > (asked_ ? go_below_ : stop_above_);
}

void NicPauses::look_at_buffer() {
  if (!host_.topology.lossless.pfc || !powered_) return;
  const FabricTime now = host_.now;
  if (now >= timer_) timer_ = FabricTime::never();
  receiving_.advance();
  const bool stop = wants_stop();
  if (stop && (!asked_ || now >= ask_again_)) {
    asked_ = true;
    ask_again_ = now + pause_time(kPauseQuanta, host_.topology.host_rate) / 2;
    ports_.pause_neighbours(kPauseQuanta);
  } else if (!stop && asked_) {
    asked_ = false;
    ask_again_ = FabricTime::never();
    ports_.pause_neighbours(0);
  }
  if (!asked_) return;
  const ReceiveBuffer& buffer = receiving_.resources().buffer;
  FabricTime due = ask_again_;
  if (!storming_ && buffer.taken() > go_below_) {
    due = std::min(due, std::max(now, buffer.in_memory_at(buffer.taken() - go_below_)));
  }
  if (due >= timer_) return;
  timer_ = due;
  host_.events.push(due, EventClass::kTimer, 0, {HostEventKind::kPauseCheck, 0, 0});
}

NodePauses NicPauses::account() const {
  NodePauses account;
  account.buffer = {host_.profile.receive_buffer};
  account.held = receiving_.resources().buffer.held();
  account.xoff_above = stop_above_;
  ports_.add_to(account);
  for (PortPauses& port : account.ports) port.asks = asked_;
  return account;
}

bool NicPauses::set_storm(bool storming) {
  if (storming_ == storming) return false;
  storming_ = storming;
  look_at_buffer();
  return true;
}

void NicPauses::set_power(bool on) {
  if (powered_ == on) return;
  powered_ = on;
  asked_ = false;
  ask_again_ = timer_ = FabricTime::never();
  if (on) look_at_buffer();
}

}  // namespace mrclab::endpoint
