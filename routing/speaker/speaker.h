#pragma once
// One BGP speaker: of a switch, or of a host with a port in each plane. Pure: packets, carrier and time go in;
// packets, sessions and changes of the forwarding table come out, by SpeakerEvents, from within these calls.
//
//   receive(), set_carrier(), set_rate(), originate() ...   what happens
//   run(now)                                                everything that is due; call it after any of these,
//   deadline()                                              and then
//
// Times must not decrease. An UPDATE goes: taken from its session (per_update of the one processor) -> decided
// (decision_hold after the first change) -> advertised to neighbours, and written to the forwarding table
// (per_fib_write each, one after the other).

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "routing/rib/attribute_pool.h"
#include "routing/rib/decision.h"
#include "routing/rib/prefix_filter.h"
#include "routing/speaker/neighbour.h"

namespace mrclab::routing {

class SpeakerEvents {
 public:
  virtual ~SpeakerEvents() = default;
  /// An IPv6 packet for the neighbour at `port`.
  virtual void send(PortId port, Octets packet, FabricTime now) = 0;
  virtual void session_up(PortId, FabricTime) {}
  virtual void session_down(PortId, const std::string& /*reason*/, FabricTime) {}
  /// What the table holds for the prefix from now on.
  virtual void fib_changed(const Prefix&, const FibEntry&, FabricTime) {}
  /// A wrong attribute that did not end the session.
  virtual void attribute_fault(PortId, const AttributeFault&, FabricTime) {}
  /// A bound of SpeakerLimits was met.
  virtual void bound_met(PortId, const std::string& /*what*/, FabricTime) {}
};

struct SpeakerCounters {
  uint64_t updates_in = 0, updates_out = 0;
  uint64_t announced_in = 0, withdrawn_in = 0;
  uint64_t ends_of_rib_in = 0;  ///< End-of-RIB markers received
  uint64_t looped = 0;          ///< prefixes with our own AS in their path
  uint64_t unroutable = 0;      ///< prefixes that nobody may announce (routing/base/unroutable.h)
  uint64_t decisions = 0, fib_writes = 0;
};

class Speaker {
 public:
  Speaker(SpeakerParameters parameters, SpeakerEvents& events);
  Speaker(const Speaker&) = delete;  // its neighbours refer to its parameters
  Speaker& operator=(const Speaker&) = delete;

  void start(FabricTime now);
  /// An IPv6 packet that has arrived; false if it is none of ours.
  bool receive(PortId port, OctetView packet, FabricTime now);
  void set_carrier(PortId port, bool up, FabricTime now);
  void set_rate(PortId port, BitRate rate, FabricTime now);
  /// A prefix of this node itself, which is the originator: it advertises the rate of the link that it advertises on.
  /// `behind`: the node behind it whose link has this rate is the originator, and what is advertised is as if that
  /// node had announced it (our option of mrc-bgpd).
  void originate(const Prefix& prefix, FabricTime now, std::optional<BitRate> behind = {});
  void retract(const Prefix& prefix, FabricTime now);
  /// The prefixes that neighbours shall advertise to us (SpeakerParameters::wanted).
  void want(std::vector<Prefix> prefixes, FabricTime now);
  /// Ends all sessions: administrative shutdown.
  void shut_down(FabricTime now);

  FabricTime deadline() const;
  void run(FabricTime now);

  const SpeakerParameters& parameters() const { return parameters_; }
  const RouteTable& table() const { return table_; }
  const SpeakerCounters& counters() const { return counters_; }
  size_t neighbours() const { return peers_.size(); }
  const Neighbour& neighbour(PeerIndex peer) const { return peers_[peer].neighbour; }
  /// The bandwidth with which a prefix was advertised to the peer, if it had one.
  std::optional<BitRate> advertised_bandwidth(const Prefix& prefix, PeerIndex peer) const;
  bool was_advertised(const Prefix& prefix, PeerIndex peer) const;

 private:
  using Node = RouteTable::Node;

  struct Peer {
    Peer(const SpeakerParameters& own, const NeighbourParameters& parameters, size_t filter_limit)
        : neighbour(own, parameters), filter(filter_limit) {}
    Neighbour neighbour;
    bool up = false;
    RouterId router;
    AsNumber as;
    PrefixFilter filter;
    bool waits_for_filter = false;  ///< it has announced one (RFC 5291 section 6)
    bool end_of_rib_due = false;
    FabricTime tells_from = FabricTime::never();
    std::deque<Node*> to_tell;
  };
  /// What is advertised of a prefix now.
  struct Export {
    std::shared_ptr<const PathAttributes> attributes;
    BitRate bandwidth;
    bool weighed = false;
    bool from_host = false;
    bool same_as(const Advertised& told) const;
  };

  // speaker.cc: time
  std::optional<PeerIndex> peer_at(PortId port) const;
  bool step(FabricTime now);
  bool take_messages(FabricTime now);
  void handle(PeerIndex peer, BgpSession::Message message, FabricTime now);
  void send_out(FabricTime now);
  bool write_fib(FabricTime now);
  // speaker_sessions.cc
  void session_began(PeerIndex peer, FabricTime now);
  void session_ended(PeerIndex peer, const std::string& reason, FabricTime now);
  void on_update(PeerIndex peer, const Update& update, FabricTime now);
  void on_refresh(PeerIndex peer, const RouteRefresh& refresh, FabricTime now);
  void send_filter(PeerIndex peer, FabricTime now);
  void stop_peer(PeerIndex peer, uint8_t subcode, const std::string& what, FabricTime now);
  // speaker_routes.cc: decisions
  bool announce(const Prefix& prefix, Path path, FabricTime now);
  void withdraw(const Prefix& prefix, PeerIndex peer, FabricTime now);
  void changed(Node& node, FabricTime now);
  void everything_changed(FabricTime now);
  bool decide(FabricTime now);
  void decide_one(Node& node, FabricTime now);
  void watch_host(Node& node);
  FibEntry fib_of(const Node& node) const;
  FibEntry fib_without(const Node& node) const;
  std::optional<std::vector<LinkShare>> shares_of(const RouteEntry& entry) const;
  uint32_t ways_out_of(const RouteEntry& entry) const;
  void covered_changed(const Node& node, FabricTime now);
  bool under_aggregate(const Prefix& prefix) const;
  // speaker_exports.cc
  void queue_update(Node& node, PeerIndex peer);
  bool send_updates(PeerIndex peer, FabricTime now);
  std::optional<Export> export_of(const Node& node, PeerIndex peer);
  std::shared_ptr<const PathAttributes> merged_unreachable(const RouteEntry& entry);
  BitRate rate_to(PeerIndex peer) const;
  Octets encode_telling(const Export& telling, PeerIndex peer) const;

  SpeakerParameters parameters_;
  SpeakerEvents& events_;
  AttributePool attributes_;
  RouteTable table_;
  std::deque<Peer> peers_;  ///< by index; at fixed places
  std::vector<PeerRank> ranks_;
  SpeakerCounters counters_;
  PeerIndex next_peer_ = 0;  ///< whose message is taken next

  std::deque<Node*> undecided_, unwritten_;
  std::set<Prefix> unreachable_;  ///< prefixes that a path marks so
  FabricTime decide_at_ = FabricTime::never();
  FabricTime processor_free_at_, table_free_at_;
  std::vector<Octets> packets_;  ///< scratch
};

}  // namespace mrclab::routing
