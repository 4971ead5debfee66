#pragma once
// The BGP speaker of a switch that routes by itself (routing/node/node_speaker.h). What it decides it writes into the
// forwarding table, after the delay that its profile models. Where NICs do not speak BGP (nic_routes of
// fabric/topology/fare.h), a T0 originates the routes to its own hosts as long as their links have carrier, and
// announces on each uplink the rate of that uplink, whatever the rate of the hosts (white paper "Fully Adaptive Routing
// Ethernet", 2.2.1: the line rate of the outgoing interface). A route to a T0's row stands for all hosts of that row
// for which there is no other.

#include <deque>
#include <optional>
#include <vector>

#include "routing/node/node_speaker.h"
#include "switchd/fare_table.h"
#include "switchd/fast_reroute.h"

namespace mrclab::switchd {

class FareSpeaker : public routing::NodeSpeaker {
 public:
  /// `table` outlives it.
  FareSpeaker(const NodeEnvironment& environment, FareTable& table);

  /// Begins anew, as after a loss of power: no sessions, no routes. `carrier`: by port.
  void start(const std::vector<bool>& carrier, FabricTime now);

  /// Is the frame a packet for this switch itself? It is taken then.
  bool receive(PortId port, std::span<const uint8_t> frame, FabricTime now);
  void set_carrier(PortId port, bool up, FabricTime now);
  void set_rate(PortId port, BitRate rate, FabricTime now);

  FabricTime deadline() const;
  void run(FabricTime now);
  /// Null where there is none.
  const FastReroute* fast_reroute() const { return reroute_ ? &*reroute_ : nullptr; }

 private:
  void session_up(PortId port, FabricTime now) override;
  void session_down(PortId port, const std::string& reason, FabricTime now) override;
  void fib_changed(const routing::Prefix& prefix, const routing::FibEntry& entry,
                   FabricTime now) override;
  void set_hops(uint32_t host, const routing::FibEntry& entry);
  void originate(PortId port, FabricTime now);
  std::optional<uint32_t> host_at(PortId port) const;
  /// The host at that port, if its NIC does not speak.
  std::optional<uint32_t> silent_host_at(PortId port) const;

  FareTable& table_;
  std::optional<FastReroute> reroute_;
  bool nics_speak_;
  struct LostHost {
    FabricTime at;  ///< when that is noticed
    PortId port;
  };
  std::deque<LostHost> lost_hosts_;
};

}  // namespace mrclab::switchd
