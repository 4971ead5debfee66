#pragma once
// What a host and its peers exchange beside data, and what it means for paths: which ports are up
// (MRC paper §3; specification §7.4.8), which ways back work (MRC paper §2.4), and the pause of a NIC that
// remaps its queue pairs (NicProfile).
//
// host_peers.cc has the ports and requests between endpoints, peer_paths.cc the ways back.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "endpoint/host/host_shared.h"
#include "endpoint/host/nic_ports.h"
#include "endpoint/paths/live_ports.h"
#include "endpoint/queue_pair/peer_table.h"
#include "endpoint/queue_pair/queue_pair_table.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/path.h"

namespace mrclab::endpoint {

class HostPeers {
 public:
  /// All three outlive it. `by_routes`: on_routes() will bring which planes lead to whom; until then none does.
  HostPeers(HostShared& host, NicPorts& ports, QueuePairTable& queue_pairs, bool by_routes);

  const PeerTable& table() const { return peers_; }
  PeerTable& table() { return peers_; }

  /// The peer, made if there was none. The first queue pair decides how the way back begins; it uses the
  /// path of the peer's packets, whatever that is.
  Peer& peer_for(uint32_t host, Chosen chosen);
  /// Called for the first queue pair to the peer. The host sends a report of its ports, unless all of them are up and
  /// the peer never had another report: that is what it assumes at first.
  void greet_peer(Peer& peer);
  /// The entropy values toward a host.
  std::vector<EntropyValue> evs_toward(uint32_t host, Chosen chosen, Qpn qp = {}) const;
  /// The peer's port that a path of ours leads to.
  PeerPortOf peer_port_toward(uint32_t host) const;
  /// `routed`: for packets that name no path, which need a route.
  LivePorts ports_toward(const Peer& peer, bool routed) const {
    return {ports_.live() & (routed ? peer.routed : ~0u), peer.status.remote_ports()};
  }
  LivePorts ports_back(const Peer& peer) const { return ports_toward(peer, peer.way_back_routed); }

  // What happened.
  /// The host's routes to this one are others: the weights of planes, 0 for those that do not lead there.
  void on_routes(uint32_t host, const std::vector<uint32_t>& weights);
  /// The NIC has noticed that one of its ports went down or came up.
  void on_own_ports(bool went_down);
  /// Its windows toward that host do not react to congestion, or do again: what a NIC of somebody else may do.
  void set_heedless(uint32_t host, bool heedless);
  void on_peer_timer(uint32_t index);
  void on_reverse_timer(uint32_t index);
  /// Counts what it refuses itself.
  void on_endpoint_request(const MrcPacket& packet, uint32_t port);
  /// False if nobody here waits for it.
  bool on_endpoint_response(const MrcPacket& packet);
  /// Data of the peer came in at `port`.
  [[gnu::flatten]] void on_peer_data(Peer& peer, const MrcPacket& packet, uint32_t port);
  /// The peer accepted something that we sent on the value that the SACK reflects. The SACK may also
  /// carry the peer's port mask.
  void on_sack_news(Peer& peer, const Seth& seth);
  /// Writes our port mask into a SACK; the packet that it answers came in at `in_port`.
  void put_port_state(uint32_t in_port, Seth& seth) const;

  void power_off() { peers_.clear(); }

 private:
  /// How many ports' worth of traffic can go to a peer, at most.
  uint32_t lanes_toward(const Peer& peer) const;
  /// A path of the peer's, and the same as ours in the other direction.
  struct HeardPath {
    Path theirs, ours;
  };
  /// The path that a packet came by. Empty if its entropy value is not in our format, names another port
  /// than it came in on or a path that the fabric does not have: any value will do for a sender, but not
  /// every one names a path.
  std::optional<HeardPath> path_of_packet(const Peer& peer, const MrcPacket& packet,
                                          uint32_t port) const;
  void on_live_ports(Peer& peer, std::string_view why);
  void tell_changed_ports(const QueuePair& qp, uint32_t usable_before,
                          const std::vector<bool>& connected_before, std::string_view why);
  void on_remote_ports(Peer& peer, uint32_t before);
  void note_status_received(const Peer& peer, uint32_t mask, std::string_view cause);
  void hold(Peer& peer, FabricTime pause);
  FabricTime remap_time(const NicProfile::Range& range);

  HostShared& host_;
  NicPorts& ports_;
  QueuePairTable& queue_pairs_;
  PeerTable peers_;
  bool by_routes_;
  uint64_t remaps_ = 0;  ///< random numbers drawn for pauses
};

}  // namespace mrclab::endpoint
