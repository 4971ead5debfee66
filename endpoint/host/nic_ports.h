#pragma once
// The ports of a host's NIC (nic_port.h), one per plane, and which of them the NIC holds for up.
//
// The carrier of a port changes at once; the NIC notices it after the delays of NicProfile. Until then
// the port counts as it did before.

#include <cstdint>
#include <vector>

#include "endpoint/host/host_shared.h"
#include "endpoint/nic/nic_port.h"
#include "fabric/node/soonest_port.h"

namespace mrclab::endpoint {

class NicPorts {
 public:
  /// `host` outlives it.
  explicit NicPorts(HostShared& host);

  uint32_t size() const { return static_cast<uint32_t>(ports_.size()); }
  NicPort& at(uint32_t port) { return ports_[port].nic; }
  /// Bits: the ports that the NIC holds for up.
  uint32_t live() const { return live_; }
  uint32_t live_count() const { return live_count_; }
  bool is_live(uint32_t port) const { return (live_ & 1u << port) != 0; }
  /// Bits: the ports on which a frame may be started now.
  uint32_t startable() const { return idle_ & ~shut_; }

  /// True if the NIC notices at once; else a kPortNotice event follows.
  bool set_carrier(PortId port, bool up);
  /// Is that event about the newest change of that port?
  bool is_newest_notice(const HostEvent& event) const {
    return ports_[event.index].notice_generation == event.detail;
  }
  /// The NIC notices how the carrier is. False if that is what it has held it for.
  bool notice(PortId port);

  /// Starts what goes before data: the second copy of a frame, control packets; but no control where data has its
  /// turn.
  void start_control(FrameSink& out);
  /// After data was asked for: starts control where data had its turn and there was none.
  void start_control_after_data(FrameSink& out) {
    if (data_turn_ != 0) start_held_control(out);
  }
  [[gnu::flatten]] void start_data(uint32_t port, Frame&& frame, FrameSink& out,
                                   QueueClass queue = QueueClass::kData);
  /// Does a pause hold RoCE's data back there?
  bool is_paused(uint32_t port) const { return ports_[port].nic.is_paused(host_.now); }
  /// A pause frame came in at `port`; false if it is none about RoCE's data.
  bool take_pause(uint32_t port, const Frame& frame);
  /// Sends so many quanta to the switches at all ports that have a carrier.
  void pause_neighbours(uint16_t quanta);
  /// Adds each port's account of pauses.
  void add_to(NodePauses& account) const;
  /// Both drop and count what is no authorised program of this host, where the fabric has its NICs check that.
  /// A frame for which the host had no buffer, or the port no room, is counted as lost.
  void queue_control(uint32_t port, Frame frame);
  /// When the next port has sent what it is sending. At one instant this comes after all other events of the
  /// host, and ports in the order of their numbers (EventClass).
  FabricTime next_end() const { return ends_.next_time(); }
  /// That port is idle again.
  void finish_sending() {
    const uint32_t port = ends_.next();
    ends_.set(port, FabricTime::never());
    idle_ |= 1u << port;
  }

  /// The host loses its power.
  void power_off();

 private:
  struct Port {
    Port(const NodeEnvironment& environment, PortId id, bool payload_stays)
        : nic(environment, id, payload_stays) {}
    NicPort nic;
    uint32_t notice_generation = 0;
  };
  bool may_send(uint32_t port, const Frame& frame, QueueClass queue);
  void started(uint32_t port, FabricTime end);
  void start_before_data(uint32_t port, FrameSink& out);
  [[gnu::noinline]] void start_held_control(FrameSink& out);
  void look_at(uint32_t port);
  void look_before_data(uint32_t port);

  HostShared& host_;
  std::vector<Port> ports_;  ///< by plane; there are never more, so that they do not move
  uint32_t live_;
  uint32_t live_count_;  ///< asked for with every packet
  SoonestPort ends_;     ///< when each port has sent the frame that it is sending
  // The states of ports as bits: each event reads them several times, and most ports are in none.
  uint32_t idle_;             ///< nothing is being sent
  uint32_t shut_ = 0;         ///< no carrier, and the NIC has noticed
  uint32_t before_data_ = 0;  ///< something waits that goes before data
  uint32_t data_turn_ = 0;    ///< control waits, and data goes before it if there is any
};

}  // namespace mrclab::endpoint
