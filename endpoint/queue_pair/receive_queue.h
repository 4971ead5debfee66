#pragma once
// The receives posted for incoming Write-with-Immediate messages: one is used up by each. There is
// no "receiver not ready": a message that finds none is the end of the queue pair (MRC
// specification §6; the sender has to keep pace with its receiver).
//
// An application that never posts a receive has them replenished for it, as the lab's own
// workloads do; from its first post_receive() on only what it posts is there (our choice).

#include <cstdint>
#include <optional>

#include "fabric/fifo.h"

namespace mrclab::endpoint {

class ReceiveQueue {
 public:
  static constexpr size_t kLimit = 4096;

  /// False if the queue is full.
  bool post(uint64_t id) {
    replenished_ = false;
    return ids_.push(id);
  }
  /// Takes the oldest receive, 0 if they are replenished; empty if there is none.
  std::optional<uint64_t> take() {
    if (replenished_) return 0;
    if (ids_.empty()) return std::nullopt;
    return ids_.pop();
  }
  /// Ends replenishing before a first post: an application of the verbs API has only the receives
  /// that it posted.
  void stop_replenishing() { replenished_ = false; }
  bool has_posted() const { return !ids_.empty(); }

 private:
  bool replenished_ = true;
  Fifo<uint64_t> ids_{kLimit};
};

}  // namespace mrclab::endpoint
