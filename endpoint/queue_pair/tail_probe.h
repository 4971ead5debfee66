#pragma once
// The reliability probe of a requester that gets no answers: when one is due, which one is out, and the
// numbers of all probes of a queue pair.

#include <cstdint>
#include <utility>

#include "fabric/base/units.h"

namespace mrclab::endpoint {

class TailProbe {
 public:
  /// Numbers go round and are never 0.
  uint16_t new_probe_id() {
    if (++last_id_ == kNone) ++last_id_;
    return last_id_;
  }

  bool is_requested() const { return wanted_; }
  /// When it was sent or requested last.
  FabricTime last() const { return last_; }
  void request(FabricTime now) {
    wanted_ = true;
    last_ = now;
  }
  bool take_request() { return std::exchange(wanted_, false); }

  /// Its number. An answer to an earlier one counts no more.
  uint16_t send(FabricTime now) {
    id_ = new_probe_id();
    sent_ = now;
    return id_;
  }
  FabricTime sent() const { return sent_; }
  /// Is `id` the answer to the one that is out? Then none is out any more.
  bool answered(uint16_t id) {
    if (id == kNone || id != id_) return false;
    id_ = kNone;
    return true;
  }

 private:
  static constexpr uint16_t kNone = 0;

  FabricTime sent_;
  FabricTime last_;
  uint16_t id_ = kNone;
  uint16_t last_id_ = kNone;
  bool wanted_ = false;
};

}  // namespace mrclab::endpoint
