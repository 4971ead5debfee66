#pragma once
// What a host sends that attacks others (fabric/node/effect.h: HostAttack): frames at a rate, over ports and paths in
// turn, without any congestion control. Asked by its host whenever ports are free, and at due(); has no clock. What a
// busy port held up is sent later, a few frames and no more.

#include <algorithm>

#include "endpoint/nic/burst.h"
#include "fabric/node/effect.h"

namespace mrclab::endpoint {

class Attack {
 public:
  /// `paths` to the victim, of which there is one at least.
  Attack(const HostAttack& what, uint32_t victim, uint32_t pmtu, uint32_t planes,
         const std::vector<Path>& paths, FabricTime now)
      : what_(what), shots_(victim, Bytes{UINT64_MAX}, pmtu, planes, paths), due_(now) {}

  const HostAttack& what() const { return what_; }
  uint32_t victim() const { return shots_.host(); }
  /// How many were given out: tells them apart.
  uint32_t number() const { return number_; }
  void set_rate(BitRate rate) { what_.rate = rate; }
  bool done() const { return what_.rate.bps == 0; }
  /// When the next one may go.
  FabricTime due() const { return due_; }

  /// The next one for one of `ports`, which are taken in turn; empty if none is due or no port leads there.
  std::optional<Burst::Datagram> next(uint32_t ports, FabricTime now) {
    if (done() || now < due_) return std::nullopt;
    const auto shot = shots_.next(ports);
    if (shot) ++number_;
    return shot;
  }
  /// One of this length was sent, or could not be.
  void sent(Bytes wire_length, FabricTime now) {
    constexpr int64_t kMostLate = 16;  // our choice: one for each port of most hosts
    const FabricTime step = serialization_time(wire_length, what_.rate);
    due_ = std::max(due_, now - step * kMostLate) + step;
  }

 private:
  HostAttack what_;
  Burst shots_;
  FabricTime due_;
  uint32_t number_ = 0;
};

}  // namespace mrclab::endpoint
