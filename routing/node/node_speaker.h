#pragma once
// The BGP speaker of a node of a fabric that routes by itself (routing: fare), over TCP in IPv6 between the addresses of
// its links (fabric/topology/path.h: link_address). The node gives it frames, carrier, rates and time, and takes the frames that
// it sends:
//
//   receive(), set_carrier(), set_rate()   what happens
//   run(now)                               everything that is due; to be called after any of these, and at deadline()
//   take_frames()                          what is to be sent then
//
// Events (NodeObserver::event): bgp_up and bgp_down per session, fib for each change of the table, with the hosts that
// have the same new next hops in one, bgp_limit and bgp_fault for what neighbours did wrong.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/node/node.h"
#include "routing/speaker/speaker.h"

namespace mrclab::routing {

/// What the speaker of a node is made of, in this fabric: a switch has a session with each switch that it is linked
/// with, and with its hosts where NICs speak (fabric/topology/fare.h: nic_routes); a host has one on each port. `boot` is how
/// often it has been started before: another one draws other TCP ports.
SpeakerParameters speaker_parameters(const Topology& topology, NodeId self, uint64_t seed,
                                     uint32_t boot = 0);

/// "h0-h3,h7", of numbers that ascend.
std::string hosts_text(const std::vector<uint32_t>& hosts);
/// Does the frame go to an address of a link (fabric/topology/path.h)? Only a neighbour sends to such a one.
bool is_to_link(std::span<const uint8_t> frame);

class NodeSpeaker : protected SpeakerEvents {
 public:
  explicit NodeSpeaker(const NodeEnvironment& environment);

  /// Is the frame a packet for this node itself? It is taken then; a frame to any other place is left alone.
  bool receive(PortId port, std::span<const uint8_t> frame, FabricTime now);
  using Outgoing = std::pair<PortId, Frame>;
  std::vector<Outgoing> take_frames() { return std::exchange(frames_, {}); }

  const Speaker& speaker() const { return *speaker_; }
  NodeId self() const { return environment_.self; }

 protected:
  using Hops = std::vector<WeightedHop>;

  /// Begins anew, as after a loss of power: no sessions, no routes, rates as they are now.
  void begin_anew(SpeakerParameters parameters);
  Speaker& live_speaker() { return *speaker_; }
  const NodeEnvironment& environment() const { return environment_; }
  uint32_t next_boot() { return boots_++; }
  void note_rate(PortId port, BitRate rate) { rates_[port.value] = rate; }
  size_t ports() const { return rates_.size(); }
  /// The host has other next hops from now on; passed on by report_changes().
  void note_change(uint32_t host, const Hops& hops) { changes_.emplace_back(host, hops); }
  /// One event for all hosts that have got the same next hops, in the order of the first of each.
  void report_changes(FabricTime now);

  void send(PortId port, Octets packet, FabricTime now) override;
  void session_up(PortId port, FabricTime now) override;
  void session_down(PortId port, const std::string& reason, FabricTime now) override;
  void attribute_fault(PortId port, const AttributeFault& fault, FabricTime now) override;
  void bound_met(PortId port, const std::string& what, FabricTime now) override;

 private:
  std::string neighbour_at(PortId port) const;
  void report_event(std::string_view kind, PortId port, std::string detail, FabricTime now);

  NodeEnvironment environment_;
  std::unique_ptr<Speaker> speaker_;
  uint32_t boots_ = 0;
  std::vector<BitRate> rates_;                      ///< by port
  std::vector<std::pair<uint32_t, Hops>> changes_;  ///< of the table, not passed on yet
  std::vector<Outgoing> frames_;
};

}  // namespace mrclab::routing
