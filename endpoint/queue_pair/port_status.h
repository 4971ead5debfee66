#pragma once
// Port Status Updates (MRC specification §7.4.8): a host whose ports changed sends every peer its
// port mask, on several live planes, again and again until answered; and applies those of peers.
// This is the state towards one peer. Requests are numbered; an older one never undoes a newer one.
//
// The same mask may also ride in SACKs (MRC paper §3; specification decoders have no such field, so
// it is an option, in the reserved byte 12 of SETH). SACKs carry no such number and overtake each
// other, so one counts only if the packet that it answers left here after the last change that we
// learned: then the peer made it after that change (our choice).

#include <algorithm>
#include <cstdint>
#include <optional>

#include "fabric/base/units.h"

namespace mrclab::endpoint {

class PortStatus {
 public:
  /// Repeats at the plain interval; from then on each wait is twice the last, up to a maximum. The
  /// repeats never end: a peer whose paths are all dead for long must still learn it.
  static constexpr uint32_t kSteadyRepeats = 8;
  static constexpr uint32_t kSackMask = 0xFF;  ///< ports that the byte in a SACK can hold

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
  /// The request was sent (or could not be, as no port was live).
  void sent(FabricTime now, FabricTime interval, FabricTime longest) {
    if (repeats_ < UINT32_MAX) ++repeats_;
    const uint32_t doublings = repeats_ > kSteadyRepeats ? repeats_ - kSteadyRepeats : 0;
    for (uint32_t i = 0; i < doublings && interval < longest; ++i) interval = interval * 2;
    due_ = now + std::max(std::min(interval, longest), FabricTime::from_ps(1));
  }
  /// Was the request sent before, without an answer?
  bool repeated() const { return repeats_ > 0; }
  /// False if the answer is not about the newest request. Each of its copies is answered.
  bool answered(uint16_t id) {
    if (id != id_ || repeats_ == 0) return false;
    due_ = FabricTime::never();
    return true;
  }

  uint32_t remote_ports() const { return remote_ports_; }
  /// Nothing is under way any more, and the peer may have begun anew, with its numbers from the start.
  /// Its last report holds until the next one.
  void begin_anew() {
    due_ = FabricTime::never();
    repeats_ = 0;
    remote_id_.reset();
  }
  /// A request of the peer. True if it changes remote_ports().
  bool received(uint16_t id, uint32_t mask, FabricTime now) {
    if (remote_id_ && static_cast<int16_t>(id - *remote_id_) <= 0) return false;
    remote_id_ = id;
    return apply_mask(mask & all_ports_, now);
  }
  /// The mask of a SACK whose trigger we sent at `caused`. 0 means that the peer sends none.
  bool received_by_sack(uint8_t mask, FabricTime caused, FabricTime now) {
    if (mask == 0 || caused <= changed_) return false;
    return apply_mask((remote_ports_ & ~kSackMask) | (mask & all_ports_), now);
  }

 private:
  bool apply_mask(uint32_t mask, FabricTime now) {
    if (mask == remote_ports_) return false;
    remote_ports_ = mask;
    changed_ = now;
    return true;
  }

  uint32_t mask_ = 0;
  uint16_t id_ = 0;
  uint32_t repeats_ = 0;
  FabricTime due_ = FabricTime::never();
  std::optional<uint16_t> remote_id_;
  uint32_t remote_ports_;
  uint32_t all_ports_;
  FabricTime changed_;  // when we last learned of a change
};

}  // namespace mrclab::endpoint
