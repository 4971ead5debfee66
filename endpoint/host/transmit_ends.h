#pragma once
// When the ports of a NIC have sent what they are sending, the soonest first. They are kept apart from the host's
// other events, since a port has one at most and there are as many as packets: frames that start later end later but
// for short ones, so each is put behind the last one or nearly so.

#include <bit>
#include <cassert>
#include <cstdint>
#include <vector>

#include "fabric/base/units.h"

namespace mrclab::endpoint {

class TransmitEnds {
 public:
  explicit TransmitEnds(uint32_t ports) : places_(std::bit_ceil(ports)) {}

  /// never() if no port is sending.
  FabricTime next_time() const { return count_ == 0 ? FabricTime::never() : place(0).at; }
  /// The port, which is sending nothing that was added before, will have sent its frame at `at`.
  void add(uint32_t port, FabricTime at) {
    assert(count_ < places_.size());
    uint32_t i = count_++;
    for (; i > 0 && is_later(place(i - 1), {at, port}); --i) place(i) = place(i - 1);
    place(i) = {at, port};
  }
  /// The port that is done next, taken out; of those at one instant the one with the lowest number.
  uint32_t pop() {
    const uint32_t port = place(0).port;
    ++first_;
    --count_;
    return port;
  }

 private:
  struct End {
    FabricTime at;
    uint32_t port = 0;
  };
  static bool is_later(const End& a, const End& b) {
    return a.at != b.at ? a.at > b.at : a.port > b.port;
  }
  End& place(uint32_t i) { return places_[(first_ + i) & (places_.size() - 1)]; }
  const End& place(uint32_t i) const { return places_[(first_ + i) & (places_.size() - 1)]; }

  std::vector<End> places_;  // a ring
  uint32_t first_ = 0;
  uint32_t count_ = 0;
};

}  // namespace mrclab::endpoint
