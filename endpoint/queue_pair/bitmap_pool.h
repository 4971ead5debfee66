#pragma once
// The bitmaps of a NIC, in units of 128 PSNs, that its queue pairs share (our choice; MRC only has the
// words: a smaller MPR in SACKs, and NACK NO_BITMAP). A queue pair holds as many units as reach
// from its cumulative PSN to the newest one that it has, and none while everything came in order.
// So packets in order are always taken, and no queue pair waits for another one for ever.

#include <cstdint>

namespace mrclab::endpoint {

class BitmapPool {
 public:
  /// `units` of the pool; 0: every queue pair has as many as its range needs.
  explicit BitmapPool(uint32_t units) : bounded_(units > 0), free_(units) {}

  bool bounded() const { return bounded_; }
  /// Units that one queue pair may use beside the others: as many as are left over (the dynamic
  /// threshold of Choudhury and Hahne, 1998, with a factor of one).
  uint32_t left() const { return free_; }

  /// Changes the units that a queue pair holds. False, leaving `held` alone, if there are not
  /// enough.
  bool hold(uint32_t& held, uint32_t units) {
    if (!bounded_) return true;
    if (units > held && units - held > free_) return false;
    free_ += held;
    free_ -= units;
    held = units;
    return true;
  }

 private:
  bool bounded_;
  uint32_t free_;
};

}  // namespace mrclab::endpoint
