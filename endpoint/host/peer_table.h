#pragma once
// The hosts that a host has, or had, queue pairs with, by number in the order in which they were met and by
// number of the host. A peer keeps its address until the host loses its power.

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "endpoint/queue_pair/peer.h"

namespace mrclab::endpoint {

class PeerTable {
 public:
  explicit PeerTable(uint32_t hosts) : index_of_host_(hosts, kNone) {}

  /// Null if there never was a queue pair to this host.
  Peer* find(uint32_t host) {
    return index_of_host_[host] == kNone ? nullptr : &peers_[index_of_host_[host]];
  }
  uint32_t index_of(const Peer& peer) const { return index_of_host_[peer.host]; }
  Peer& operator[](uint32_t index) { return peers_[index]; }
  uint32_t size() const { return static_cast<uint32_t>(peers_.size()); }

  /// A peer that is not there yet.
  template <class... Args>
  Peer& emplace(uint32_t host, Args&&... args) {
    index_of_host_[host] = size();
    return peers_.emplace_back(host, std::forward<Args>(args)...);
  }
  void clear() {
    peers_.clear();
    index_of_host_.assign(index_of_host_.size(), kNone);
  }

  auto begin() { return peers_.begin(); }
  auto end() { return peers_.end(); }
  auto begin() const { return peers_.begin(); }
  auto end() const { return peers_.end(); }

 private:
  static constexpr uint32_t kNone = 0xFFFF'FFFF;

  std::deque<Peer> peers_;
  std::vector<uint32_t> index_of_host_;  ///< kNone, or index
};

}  // namespace mrclab::endpoint
