#pragma once
// When a NIC asks its switches to stop sending RoCE's data: when its buffer before memory fills up, and, as a
// fault, without any reason. As mlx5 derives it, XOFF leaves room for what is still under way, and XON comes
// one PMTU below XOFF. A pause is repeated after half of its time.

#include "endpoint/host/host_shared.h"
#include "endpoint/host/nic_ports.h"
#include "endpoint/host/receive_side.h"

namespace mrclab::endpoint {

class NicPauses {
 public:
  /// All of them outlive it.
  NicPauses(HostShared& host, NicPorts& ports, ReceiveSide& receiving);

  /// Looks at the buffer: after a packet was taken, when the memory's pace changes, and when its timer is due.
  void look_at_buffer();
  /// The fault begins or ends. False if it was so already.
  bool set_storm(bool storming);
  /// The host loses its power, and with it what it asked for. Nothing is asked for without power; the fault
  /// stays and goes on with it.
  void set_power(bool on);
  /// The NIC's account of pauses. Its buffer is as of when it was last looked at: looking is an event.
  NodePauses account() const;

 private:
  bool wants_stop() const;

  HostShared& host_;
  NicPorts& ports_;
  ReceiveSide& receiving_;
  Bytes stop_above_, go_below_;
  bool powered_ = true;
  bool storming_ = false;
  bool asked_ = false;
  FabricTime ask_again_ = FabricTime::never();
  FabricTime timer_ = FabricTime::never();  ///< the earliest event in the queue
};

}  // namespace mrclab::endpoint
