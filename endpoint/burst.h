#pragma once
// A burst of datagrams that are no MRC (fabric/effect.h: HostBurst): fire and forget, spread over
// ports and paths in turn. Asked by its host whenever ports are free; knows no clock.

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/path.h"
#include "fabric/units.h"

namespace mrclab::endpoint {

class Burst {
 public:
  struct Datagram {
    EntropyValue ev;
    uint32_t port = 0;
    uint32_t payload = 0;
  };

  /// `size` bytes of payload to `host`, up to `pmtu` in each datagram; `uplinks` of each plane lead
  /// there, none: both hosts are on one T0.
  Burst(uint32_t host, Bytes size, uint32_t pmtu, uint32_t planes, uint32_t uplinks)
      : host_(host), left_(size), pmtu_(pmtu), uplinks_(uplinks), next_uplink_(planes) {}

  uint32_t host() const { return host_; }
  bool done() const { return left_.value == 0; }
  /// The next datagram for one of `ports`, which are taken in turn; empty if there is none or the
  /// burst is done.
  std::optional<Datagram> next(uint32_t ports) {
    if (done() || ports == 0) return std::nullopt;
    const auto planes = static_cast<uint32_t>(next_uplink_.size());
    while ((ports & 1u << next_port_) == 0) next_port_ = (next_port_ + 1) % planes;
    const uint32_t port = next_port_;
    next_port_ = (next_port_ + 1) % planes;
    Path path{port, kT0LocalUplink};
    if (uplinks_ > 0) {
      path.uplink = next_uplink_[port];
      next_uplink_[port] = (path.uplink + 1) % uplinks_;
    }
    const auto payload = static_cast<uint32_t>(left_.value < pmtu_ ? left_.value : pmtu_);
    left_ -= {payload};
    return Datagram{ev_of(path), port, payload};
  }

 private:
  uint32_t host_;
  Bytes left_;
  uint32_t pmtu_;
  uint32_t uplinks_;
  uint32_t next_port_ = 0;
  std::vector<uint32_t> next_uplink_;  // by plane
};

}  // namespace mrclab::endpoint
