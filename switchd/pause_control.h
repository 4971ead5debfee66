#pragma once
// Priority-based flow control of one switch (IEEE 802.1Qbb): which neighbours have been asked to stop sending
// RoCE's data and for how long, which ports' neighbours have asked us, and the watchdog over those
// (sonic-swss: pfcwd). Has no clock: the node passes the time, and asks `deadline` when to come back.
//
// A neighbour is asked to stop for the longest time that a frame can carry, again after half of that, and with
// 0 quanta to go on.
//
// The watchdog declares a storm at a port that has been paused for the detection time while frames waited
// and none left. Until no pause has been in force for the restoration time, its frames are dropped, or sent as
// if there were no pause. (SONiC waits for pause frames to cease. They come every few hundred microseconds,
// and it waits for 200 ms; in a lab the restoration time may be shorter than one frame's quanta.)

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/node/pause_account.h"
#include "fabric/topology/topology.h"
#include "switchd/ingress_buffer.h"

namespace mrclab::switchd {

class PauseControl {
 public:
  /// `self` is a switch of the topology.
  PauseControl(const Topology& topology, NodeId self);

  IngressBuffer& buffer() { return buffer_; }
  const IngressBuffer& buffer() const { return buffer_; }

  /// Is the neighbour of `port` asked to stop, and might go on?
  bool may_let_go(PortId port) const { return ports_[port.value].asked && buffer_.wants_go(port); }
  /// The quanta to send to the neighbour of `port` now, if any.
  std::optional<uint16_t> take_request(PortId port, FabricTime now);
  /// The neighbour of `port` has sent so many quanta, which are bit times of the rate at which the port sends
  /// now. A rate that changes later changes nothing of this pause (our choice).
  void on_pause(PortId port, uint16_t quanta, FabricTime now, BitRate rate);
  /// The link came up or went down: what was agreed over it is void.
  void reset(PortId port, FabricTime now);

  /// May frames of RoCE leave by `port` now?
  bool may_send(PortId port, FabricTime now) const;
  /// Does the watchdog drop what would leave by `port`?
  bool drops(PortId port) const {
    return ports_[port.value].storm && action_ == WatchdogAction::kDrop;
  }
  bool in_storm(PortId port) const { return ports_[port.value].storm; }

  /// Frames wait at `port` or none do; one has just left. Begins and ends the watchdog's time.
  void note_queue(PortId port, bool waiting, bool one_left, FabricTime now);
  /// The watchdog's part of what is due. True: a storm begins or ends here.
  bool run_watchdog(PortId port, FabricTime now);

  /// When the port is to be looked at again, after `now`; never() if nothing is due by itself.
  FabricTime deadline(PortId port, FabricTime now) const;

  /// The part of a port's account that is kept here.
  void add_to(PortPauses& account, PortId port, FabricTime now) const;

 private:
  struct Port {
    BitRate rate;                                    ///< as built
    bool asked = false;                              ///< the neighbour is asked to stop
    FabricTime ask_again = FabricTime::never();      ///< while it is
    PauseClock paused;                               ///< by the neighbour
    FabricTime blocked_since = FabricTime::never();  ///< frames wait, and none has left since
    bool storm = false;
    uint64_t storms = 0;  ///< that began here
  };

  IngressBuffer buffer_;
  WatchdogAction action_;
  FabricTime detect_, restore_;
  std::vector<Port> ports_;
};

}  // namespace mrclab::switchd
