#pragma once
// Counts the requests to a queue pair and its answers, where applications meet the transport:
// evidence that no completion was lost or reordered. It sees no packets.

#include <cstdint>

#include "fabric/base/fifo.h"

namespace mrclab::endpoint {

class WorkLedger {
 public:
  static constexpr size_t kLimit = 4096;  ///< open messages; more than any send queue takes

  void posted(uint64_t id) {
    ++posted_;
    open_.push(id);
  }
  void completed(uint64_t id) {
    ++completed_;
    answer(id);
  }
  void failed(uint64_t id) {
    ++failed_;
    answer(id);
  }

  uint64_t posted() const { return posted_; }
  uint64_t completed() const { return completed_; }
  uint64_t failed() const { return failed_; }
  /// Answers that were not about the oldest open message.
  uint64_t out_of_order() const { return out_of_order_; }

 private:
  void answer(uint64_t id) {
    if (open_.empty() || open_.pop() != id) ++out_of_order_;
  }

  Fifo<uint64_t> open_{kLimit};  // ids in the order of posting
  uint64_t posted_ = 0, completed_ = 0, failed_ = 0, out_of_order_ = 0;
};

}  // namespace mrclab::endpoint
