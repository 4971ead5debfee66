#pragma once
// Which port of a node has something to do first: a tree of winners (a tournament) over one instant for each port. When
// the instant of a port changes, set() decides the matches between the port's leaf and the root anew. It computes
// their outcomes without branches, because a processor would mispredict half of those, and keeps the winner's instant at
// hand, because a processor would wait for it at every match. The tree of a node with many ports is as high as the ports
// need that had something to do: of a fabric that is used in part those are few.

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fabric/base/cache_line.h"
#include "fabric/base/units.h"

namespace mrclab {

class SoonestPort {
 public:
  /// At most 65,536 ports, none of which has anything to do yet.
  explicit SoonestPort(size_t ports) : most_(std::bit_ceil(ports)) {
    grow(std::min(most_, kFirstLeaves));
  }

  /// never(): no port has anything to do.
  FabricTime next_time() const { return FabricTime::from_ps(times_[1]); }
  /// Whose time is the next one; the lowest of several.
  uint32_t next() const { return winners_[1]; }
  /// Loads the instant of a port into the cache.
  void fetch(uint32_t port) const {
    if (port < leaves_) fetch_line(&times_[leaves_ + port]);
  }
  /// never(): the port has nothing to do.
  void set(uint32_t port, FabricTime at) {
    if (port >= leaves_) [[unlikely]]
      grow(std::bit_ceil(size_t{port} + 1));
    int64_t* const times = times_.data();
    uint16_t* const winners = winners_.data();
    int64_t time = at.ps();
    uint32_t winner = port;
    size_t node = leaves_ + port;
    times[node] = time;
    while (node > 1) {
      const int64_t other_time = times[node ^ 1];
      const uint32_t other = winners[node ^ 1];
      // If both ports have the same instant, the one with the lower number wins. A left child has lower numbers than
      // its sibling, so the sibling wins a tie if this node is a right child, whose number is odd.
      const bool other_wins = other_time - static_cast<int64_t>(node & 1) < time;
      const int64_t mask = -int64_t{other_wins};
      time ^= (time ^ other_time) & mask;
      winner ^= (winner ^ other) & static_cast<uint32_t>(mask);
      node /= 2;
      times[node] = time;
      winners[node] = static_cast<uint16_t>(winner);
    }
  }

 private:
  static constexpr size_t kFirstLeaves = 64;

  [[gnu::noinline]] void grow(size_t leaves) {
    assert(leaves <= most_);
    std::vector<int64_t> instants(leaves, FabricTime::never().ps());
    if (!times_.empty()) {
      std::copy(times_.begin() + static_cast<std::ptrdiff_t>(leaves_), times_.end(),
                instants.begin());
    }
    leaves_ = leaves;
    times_.assign(2 * leaves, FabricTime::never().ps());
    winners_.resize(2 * leaves);
    for (size_t port = 0; port < leaves; ++port) {
      times_[leaves + port] = instants[port];
      winners_[leaves + port] = static_cast<uint16_t>(port);
    }
    for (size_t node = leaves - 1; node > 0; --node) {
      const size_t winner = 2 * node + (times_[2 * node + 1] < times_[2 * node] ? 1 : 0);
      times_[node] = times_[winner];
      winners_[node] = winners_[winner];
    }
  }

  size_t most_;
  size_t leaves_ = 0;
  // Node n, from 1, has the instant and the number of the winner of its children 2n and 2n + 1; the second half are the
  // ports themselves.
  std::vector<int64_t> times_;  // ps
  std::vector<uint16_t> winners_;
};

}  // namespace mrclab
