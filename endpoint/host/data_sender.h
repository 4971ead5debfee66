#pragma once
// What leaves a host as data: queue pairs in turn, and bursts of datagrams, on every port that is free.

#include <cstdint>
#include <vector>

#include "endpoint/host/host_shared.h"
#include "endpoint/host/nic_ports.h"
#include "endpoint/host/roce_side.h"
#include "endpoint/nic/attack.h"
#include "endpoint/nic/burst.h"
#include "endpoint/queue_pair/queue_pair_table.h"

namespace mrclab::endpoint {

class DataSender {
 public:
  /// All three outlive it.
  DataSender(HostShared& host, NicPorts& ports, QueuePairTable& queue_pairs, RoceSide& roce)
      : host_(host), ports_(ports), queue_pairs_(queue_pairs), roce_(roce) {}

  void add_burst(Burst burst) { bursts_.push_back(std::move(burst)); }
  /// The host attacks, with another rate, or no more. `paths` to the victim.
  void set_attack(const HostAttack& what, const std::vector<Path>& paths);
  bool attacks() const { return !attacks_.empty(); }
  /// When the next frame of an attack is due.
  FabricTime attack_due() const;
  /// Starts a packet on every port that is free, while there is one to send.
  void start_packets(FrameSink& out) {
    if (ports_.startable() != 0 || !bursts_.empty()) start_at_free_ports(out);
  }
  void power_off();
  /// Loads into the cache the queue pairs that are the next to send, and what their next packets will read. For Node::fetch().
  void fetch_next() const;

 private:
  void start_at_free_ports(FrameSink& out);
  void keep_turn_in_range();
  bool start_one_packet(uint32_t ports, FrameSink& out);
  bool send_packet(QueuePair& qp, uint32_t ports, FrameSink& out, bool& sent);
  inline bool start_of_queue_pair(QueuePair& qp, uint32_t ports, FrameSink& out, bool& sent);
  bool start_datagram(Burst& burst, uint32_t ports, FrameSink& out, bool& sent);
  bool start_of_attack(Attack& attack, uint32_t ports, FrameSink& out, bool& sent);
  Frame frame_of(const Attack& attack, const Burst::Datagram& shot) const;

  HostShared& host_;
  NicPorts& ports_;
  QueuePairTable& queue_pairs_;
  RoceSide& roce_;
  std::vector<Burst> bursts_;
  std::vector<Attack> attacks_;  ///< one for each kind and victim
  uint32_t next_ =
      0;  ///< round robin, over the places of MRC's queue pairs, RC's, and then bursts, attacks
};

}  // namespace mrclab::endpoint
