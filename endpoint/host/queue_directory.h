#pragma once
// The queue pairs of a host as applications see them, whichever transport carries each. A handle is a place
// in the table of its transport; those of RC have the highest bit set.

#include <cstdint>

#include "endpoint/base/application_queue.h"
#include "endpoint/queue_pair/queue_pair_table.h"
#include "endpoint/roce/rc_queue_pair_table.h"

namespace mrclab::endpoint {

class QueueDirectory {
 public:
  static constexpr uint32_t kRcHandle = 0x8000'0000;

  /// Both outlive it.
  QueueDirectory(QueuePairTable& mrc, RcQueuePairTable& rc) : mrc_(mrc), rc_(rc) {}

  /// Null if it is gone. The queue pair counts as touched.
  ApplicationQueue* use(QpHandle handle) {
    return (handle.value & kRcHandle) != 0 ? touched(rc_, handle.value & ~kRcHandle)
                                           : touched(mrc_, handle.value);
  }
  /// The same, to look at it only.
  const ApplicationQueue* look_at(QpHandle handle) const {
    const uint32_t place = handle.value & ~kRcHandle;
    if ((handle.value & kRcHandle) != 0) return rc_.contains(place) ? &rc_[place] : nullptr;
    return mrc_.contains(place) ? &mrc_[place] : nullptr;
  }
  /// Null if no queue pair has this number.
  ApplicationQueue* find(Qpn qpn) {
    if (ApplicationQueue* const found = mrc_.find(qpn)) return found;
    return rc_.find(qpn);
  }

 private:
  template <class Table>
  static ApplicationQueue* touched(Table& table, uint32_t place) {
    if (!table.contains(place)) return nullptr;
    table.touch(table[place]);
    return &table[place];
  }

  QueuePairTable& mrc_;
  RcQueuePairTable& rc_;
};

}  // namespace mrclab::endpoint
