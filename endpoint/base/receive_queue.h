#pragma once
// The receives posted for incoming messages that end with an immediate, or are SENDs: one is used up by
// each. In MRC there is no "receiver not ready": a message that finds none is the end of the queue pair (MRC
// specification §6; the sender has to keep pace with its receiver). In RC the sender tries again.
//
// An application that never posts a receive has them replenished for it, as the lab's own
// workloads do; from its first post_receive() on only what it posts is there (our choice).

#include <cstdint>
#include <optional>

#include "endpoint/base/memory.h"
#include "endpoint/base/region_access.h"
#include "fabric/base/fifo.h"

namespace mrclab::endpoint {

struct PostedReceive {
  uint64_t id = 0;
  Memory buffer;  ///< where a SEND goes; empty: for immediates only
  /// Reaches the buffer, from offset 0, where that is memory of another process; `buffer` has its size only.
  RegionAccess* access = nullptr;
  bool broken = false;  ///< its keys are wrong: a message that uses it up cannot be put there
};

class ReceiveQueue {
 public:
  static constexpr size_t kLimit = 4096;

  /// False if the queue is full.
  bool post(const PostedReceive& receive) {
    replenished_ = false;
    return posted_.push(receive);
  }
  /// Takes the oldest receive, one with id 0 if they are replenished; empty if there is none.
  std::optional<PostedReceive> take_receive() {
    if (replenished_) return PostedReceive{};
    if (posted_.empty()) return std::nullopt;
    return posted_.pop();
  }
  /// The receive that take_receive() would take.
  std::optional<PostedReceive> next_receive() const {
    if (replenished_) return PostedReceive{};
    if (posted_.empty()) return std::nullopt;
    return posted_.front();
  }
  /// Ends replenishing before a first post: an application of the verbs API has only the receives
  /// that it posted.
  void stop_replenishing() { replenished_ = false; }
  bool has_posted() const { return !posted_.empty(); }
  size_t size() const { return posted_.size(); }

 private:
  bool replenished_ = true;
  Fifo<PostedReceive> posted_{kLimit};
};

}  // namespace mrclab::endpoint
