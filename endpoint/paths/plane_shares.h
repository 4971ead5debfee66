#pragma once
// How much is in flight to one destination in each plane, and how much may be.
//
// Spraying gives every plane as many packets. A plane that is slower than the others, because lanes
// of a link are lost or because others load it, answers later; packets in flight gather there until the
// whole window waits in its queues, and the fabric goes as slowly as its slowest plane. So no plane may
// hold more than its share of the window (our choice; the MRC paper leaves the spread to the sender),
// and the share follows the plane's feedback beyond that of all planes:
//
//   braked    the part of a plane's feedback that asks for less: trims, losses, delay above target
//   common    min(1, 2 x m / braked), m: the mean of `braked` over the half of the planes with the least of it
//   share     shrinks by the part of `braked` that is not common, grows while the plane is on time or all are alike
//
// What is common is the window's affair (even_nscc.h), so that a last hop which all planes share has one
// controller and not two. The largest share is always whole: what all planes give up leaves the window.
//
// A plane is judged by the least delay of its paths within a round trip or two: one slow path is for the
// choice of paths to leave (ev_set.h).

#include <cassert>
#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/base/units.h"

namespace mrclab::endpoint {

class PlaneShares {
 public:
  static constexpr uint32_t kWhole = 1 << 16;  ///< shares are in 1 / kWhole

  void enter_flight(uint32_t plane, Bytes packet) { of(plane).in_flight += packet; }
  void leave_flight(uint32_t plane, Bytes packet) {
    assert(plane < planes_.size());
    Plane& p = planes_[plane];
    assert(packet <= p.in_flight);
    p.in_flight -= packet;
  }
  /// Those of `asked` that may take another packet of the `planes` that share `window`, and count as in use
  /// from now on.
  uint32_t with_room(uint32_t asked, uint32_t planes, Bytes window, Bytes packet);

  /// Notes an answer from `plane` and its delay. Returns the least delay of its answers within the
  /// last one to two periods.
  FabricTime note_delay(uint32_t plane, FabricTime delay, FabricTime period, FabricTime now);
  /// The same least delay; empty without an answer in that time.
  std::optional<FabricTime> least_delay(uint32_t plane, FabricTime period, FabricTime now) const;
  /// Notes feedback about `plane`. Returns which part of it is common to the planes in use, in 1 /
  /// kWhole.
  uint32_t note_feedback(uint32_t plane, bool braked, FabricTime now);
  /// To be called when `part` of a round trip, in 1 / kWhole, has passed. Planes that did not ask
  /// for less since `quiet` get back a sixteenth of their whole share per round trip, also those
  /// that carry too little to give feedback.
  void recover(uint32_t part, FabricTime quiet);
  /// Changes the plane's share of `window` by this many bytes.
  void shrink(uint32_t plane, Bytes by, Bytes window);
  void grow(uint32_t plane, Bytes by, Bytes window);
  /// Raises all shares alike until the largest is whole. Returns the largest share before.
  uint32_t raise_all();
  uint32_t share(uint32_t plane) const { return of(plane).share; }

 private:
  struct Plane {
    Bytes in_flight;
    uint32_t share = kWhole;
    uint32_t braked = 0;                            // moving average, in 1 / kWhole
    FabricTime asked = FabricTime::from_ms(-1000);  // when it last asked for less
    // Least delays in the period that began at `since`, and in the one before.
    FabricTime since = FabricTime::from_ms(-1000);
    FabricTime least = FabricTime::never();
    FabricTime least_before = FabricTime::never();
  };
  Plane& of(uint32_t plane) {
    if (plane >= planes_.size()) make_room(plane + 1);
    return planes_[plane];
  }
  const Plane& of(uint32_t plane) const {
    static constexpr Plane kNew;
    return plane < planes_.size() ? planes_[plane] : kNew;
  }
  [[gnu::noinline]] void make_room(size_t planes);
  uint32_t lower_half() const;
  uint32_t fraction_of(Bytes by, Bytes window) const;
  static constexpr size_t kPlanes = 32;  // a set of ports has 32 bits
  std::vector<Plane> planes_;            // the first ones; those that were never used are not there
  uint32_t in_use_ = ~0u;
  uint32_t counted_ = 0;  // the planes that count_ is the number of
  uint32_t count_ = 1;
};

}  // namespace mrclab::endpoint
