#pragma once
// Port Status Updates (MRC specification §7.4.8): a host whose ports changed tells every peer its
// port mask, on several live planes, again and again until answered; and believes what peers say.
// Here: the state towards one peer. Requests are numbered; an older one never undoes a newer one.

#include <cstdint>
#include <optional>

#include "fabric/units.h"

namespace mrclab::endpoint {

class PortStatus {
 public:
  static constexpr uint32_t kMaxRepeats = 64;

  explicit PortStatus(uint32_t all_ports) : remote_ports_(all_ports), all_ports_(all_ports) {}

  /// Our ports changed: a request with this mask is due at once.
  void announce(uint32_t mask, FabricTime now) {
    mask_ = mask;
    id_ = static_cast<uint16_t>(id_ + 1);
    repeats_ = 0;
    due_ = now;
  }
  FabricTime due() const { return due_; }
  uint16_t id() const { return id_; }
  uint32_t mask() const { return mask_; }
  /// The request was sent (or could not be, for want of a live port).
  void sent(FabricTime now, FabricTime interval) {
    due_ = ++repeats_ < kMaxRepeats ? now + interval : FabricTime::never();
  }
  /// False if the answer is not about the newest request. Each of its copies is answered.
  bool answered(uint16_t id) {
    if (id != id_ || repeats_ == 0) return false;
    due_ = FabricTime::never();
    return true;
  }

  uint32_t remote_ports() const { return remote_ports_; }
  /// A request of the peer. True if it changes what we believe.
  bool received(uint16_t id, uint32_t mask) {
    if (remote_id_ && static_cast<int16_t>(id - *remote_id_) <= 0) return false;
    remote_id_ = id;
    mask &= all_ports_;
    const bool changed = mask != remote_ports_;
    remote_ports_ = mask;
    return changed;
  }

 private:
  uint32_t mask_ = 0;
  uint16_t id_ = 0;
  uint32_t repeats_ = 0;
  FabricTime due_ = FabricTime::never();
  std::optional<uint16_t> remote_id_;
  uint32_t remote_ports_;
  uint32_t all_ports_;
};

}  // namespace mrclab::endpoint
