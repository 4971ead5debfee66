#pragma once
// Where the messages of a stream (permutation, repeated writes) go: a ring of slots at the
// receiver. Messages are told of in batches, by an immediate with the last of each batch, so that
// small messages do not run into the limit of Write-with-Immediate in flight.

#include <algorithm>
#include <cstdint>

#include "fabric/units.h"

namespace mrclab::endpoint {

class StreamLayout {
 public:
  explicit StreamLayout(Bytes message) : message_(message) {
    batch_ = static_cast<uint32_t>(std::clamp<uint64_t>(kBatchBytes / message.value, 1, kMaxBatch));
    batches_ = static_cast<uint32_t>(
        std::clamp<uint64_t>(kRingBytes / (message.value * batch_), 2, kMaxBatches));
  }

  Bytes message() const { return message_; }
  uint32_t batch() const { return batch_; }  ///< messages per immediate
  uint32_t slots() const { return batch_ * batches_; }
  Bytes slot_size() const { return {(message_.value + 7) / 8 * 8}; }
  Bytes region_size() const { return {slot_size().value * slots()}; }
  uint64_t offset(uint64_t number) const { return number % slots() * slot_size().value; }

 private:
  static constexpr uint64_t kBatchBytes = 256 * 1024;
  static constexpr uint64_t kMaxBatch = 64;
  static constexpr uint64_t kRingBytes = 4 * 1024 * 1024;  ///< a few bandwidth-delay products
  static constexpr uint64_t kMaxBatches = 16;

  Bytes message_;
  uint32_t batch_;
  uint32_t batches_;
};

}  // namespace mrclab::endpoint
