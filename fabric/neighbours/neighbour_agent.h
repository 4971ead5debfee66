#pragma once
// What a host or a switch knows of its neighbours: it sends an LLDP frame by each port that has light, at once and then
// once in a period, and remembers what comes in. Pure: its node says what time it is, and sends what it makes.
//
// A period stands for the 30 s of IEEE 802.1AB (msgTxInterval); the TTL in frames is its 121 s (msgTxHold 4), and what
// was learned is forgotten after as many periods as that is of 30 s: 4.03. A port that changes, and what the node has to
// say, are sent at once.
//
// May a port be used? At the start each is taken to be as planned. Later a port toward a switch may be used while its
// neighbour is the planned one and forwards, as it says itself; a port toward a host, always.
//
// Limits: one neighbour a port, the last that spoke; names of a frame's length.

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fabric/neighbours/lldp_frame.h"

namespace mrclab {

inline constexpr uint16_t kLldpInterval_s = 30, kLldpTtl_s = 121;

struct NeighbourNews {
  enum class Kind : uint8_t { kFound, kChanged, kGone };
  PortId port;
  Kind kind = Kind::kFound;
  std::string who;  ///< "p0.t0-1:u2"; of kGone: who it was
};

class NeighbourAgent {
 public:
  /// The topology outlives it.
  NeighbourAgent(const Topology& topology, NodeId self);

  /// The node has power, or has it again: it knows nobody.
  void start(FabricTime now);
  /// The node lost its power.
  void stop() { next_ = FabricTime::never(); }
  /// When run() has something to do.
  FabricTime deadline() const { return next_; }
  /// Forgets who has not spoken for too long, and returns the ports by which frames are to be sent now.
  std::vector<PortId> run(FabricTime now);
  /// A frame for one of those.
  Frame make(FramePool& pool, PortId port) const {
    return make_lldp(pool, topology_, {self_, port}, kLldpTtl_s, service_);
  }

  /// An LLDP frame came in.
  LldpError receive(PortId port, std::span<const uint8_t> frame, FabricTime now);
  void set_light(PortId port, bool light, FabricTime now);
  /// What its frames say from now on; sent at once if it is new.
  void set_service(const LldpService& service, FabricTime now);

  /// May traffic be sent by this port, as far as its neighbour goes?
  bool may_use(PortId port) const;
  /// Has the neighbour at each port that has light been heard since start()?
  bool has_heard_all() const;
  /// The uplinks of a T0 in two tiers that may not be used.
  UplinkSet unused_uplinks() const;
  /// What the planned switch at this port says; as it is built while nothing was heard of it.
  const LldpService& service_at(PortId port) const { return ports_[port.value].service; }
  /// "p0.t0-1:u2"; empty: nobody was heard, or not for too long.
  const std::string& who(PortId port) const { return ports_[port.value].who; }
  uint32_t heard() const;
  uint64_t malformed() const { return malformed_; }

  /// In the order in which it happened; empties the list.
  std::vector<NeighbourNews> take_news() { return std::exchange(news_, {}); }

 private:
  enum class Found : uint8_t { kNotYet, kPlanned, kOther, kGone };
  struct PortState {
    bool light = true;
    bool send_now = true;
    Found found = Found::kNotYet;
    std::string who;
    FabricTime until;  ///< forgotten then
    LldpService service;
  };
  bool is_planned(PortId port, const std::string& who) const;
  void forget(PortId port);

  const Topology& topology_;
  NodeId self_;
  FabricTime period_;
  FabricTime next_ = FabricTime::never();  ///< a period's frames, or sooner: those of send_now
  FabricTime periodic_;
  LldpService service_;
  std::vector<PortState> ports_;
  std::vector<NeighbourNews> news_;
  uint64_t malformed_ = 0;
};

}  // namespace mrclab
