#pragma once
// A burst of datagrams that are no MRC (fabric/node/effect.h: HostBurst): fire and forget, spread over
// ports and paths in turn. Asked by its host whenever ports are free; has no clock.

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/base/units.h"
#include "fabric/topology/path.h"

namespace mrclab::endpoint {

class Burst {
 public:
  struct Datagram {
    EntropyValue ev;
    uint32_t port = 0;
    uint32_t payload = 0;
  };

  /// A burst of `size` bytes of payload to `host`, up to `pmtu` in each datagram, over all of
  /// `paths`. A port without a path is not used.
  Burst(uint32_t host, Bytes size, uint32_t pmtu, uint32_t planes, const std::vector<Path>& paths)
      : host_(host), left_(size), pmtu_(pmtu), planes_(planes) {
    for (const Path path : paths) {
      planes_[path.plane].paths.push_back(path);
      usable_ |= 1u << path.plane;
    }
  }

  uint32_t host() const { return host_; }
  bool done() const { return left_.value == 0; }
  /// The next datagram for one of `ports`, which are taken in turn; empty if there is none or the
  /// burst is done.
  std::optional<Datagram> next(uint32_t ports) {
    ports &= usable_;
    if (done() || ports == 0) return std::nullopt;
    const auto planes = static_cast<uint32_t>(planes_.size());
    while ((ports & 1u << next_port_) == 0) next_port_ = (next_port_ + 1) % planes;
    const uint32_t port = next_port_;
    next_port_ = (next_port_ + 1) % planes;
    Plane& plane = planes_[port];
    const Path path = plane.paths[plane.next];
    plane.next = (plane.next + 1) % plane.paths.size();
    const auto payload = static_cast<uint32_t>(left_.value < pmtu_ ? left_.value : pmtu_);
    left_ -= {payload};
    return Datagram{ev_of(path), port, payload};
  }

 private:
  uint32_t host_;
  Bytes left_;
  uint32_t pmtu_;
  uint32_t usable_ = 0;  ///< a bit for each port with a path
  uint32_t next_port_ = 0;
  struct Plane {
    std::vector<Path> paths;
    size_t next = 0;
  };
  std::vector<Plane> planes_;
};

}  // namespace mrclab::endpoint
