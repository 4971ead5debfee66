#pragma once
// The hosts that a host has, or had, queue pairs with, by number in the order in which they were met and by
// number of the host. A peer keeps its address until the host loses its power.

#include <boost/iterator/indirect_iterator.hpp>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "endpoint/queue_pair/peer.h"
#include "fabric/base/host_index.h"

namespace mrclab::endpoint {

class PeerTable {
 public:
  /// Null if there never was a queue pair to this host.
  Peer* find(uint32_t host) {
    const uint32_t index = index_of_host_.find(host);
    return index == HostIndex::kNone ? nullptr : peers_[index].get();
  }
  uint32_t index_of(const Peer& peer) const { return index_of_host_.find(peer.host); }
  Peer& operator[](uint32_t index) { return *peers_[index]; }
  uint32_t size() const { return static_cast<uint32_t>(peers_.size()); }

  /// A peer that is not there yet.
  template <class... Args>
  Peer& emplace(uint32_t host, Args&&... args) {
    index_of_host_.set(host, size());
    peers_.push_back(std::make_unique<Peer>(host, std::forward<Args>(args)...));
    return *peers_.back();
  }
  void clear() {
    peers_.clear();
    index_of_host_.clear();
  }

  auto begin() { return boost::make_indirect_iterator(peers_.begin()); }
  auto end() { return boost::make_indirect_iterator(peers_.end()); }
  auto begin() const { return boost::make_indirect_iterator(peers_.begin()); }
  auto end() const { return boost::make_indirect_iterator(peers_.end()); }

 private:
  std::vector<std::unique_ptr<Peer>> peers_;
  HostIndex index_of_host_;
};

}  // namespace mrclab::endpoint
