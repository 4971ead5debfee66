#pragma once
// Where the messages of a stream (permutation, repeated writes) go: a ring of slots at the
// receiver. Messages are signalled in batches, by an immediate with the last of each batch, so that
// small messages do not run into the limit of Write-with-Immediate in flight.
//
// The ring holds what the path needs to have in flight, and the batch that is not acknowledged yet;
// 4 MiB at least. A send queue has 2,048 places (Requester), so small messages get no more.

#include <algorithm>
#include <cstdint>

#include "fabric/base/units.h"

namespace mrclab::endpoint {

class StreamLayout {
 public:
  /// `in_flight`: bytes of one queue pair that the path has room for.
  explicit StreamLayout(Bytes message, Bytes in_flight = {}) : message_(message) {
    batch_ = static_cast<uint32_t>(std::clamp<uint64_t>(kBatchBytes / message.value, 1, kMaxBatch));
    batches_ = static_cast<uint32_t>(
        std::clamp<uint64_t>(kRingBytes / (message.value * batch_), 2, kMaxBatches));
    if (in_flight.value <= kRingBytes) return;
    const uint64_t ring = in_flight.value + in_flight.value / (kMaxBatches - 1);
    const uint64_t of_batch = message.value * kMaxBatches;
    batches_ = kMaxBatches;
    batch_ = static_cast<uint32_t>(
        std::clamp<uint64_t>((ring + of_batch - 1) / of_batch, batch_, kMaxLongBatch));
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
  static constexpr uint64_t kMaxBatches = 16;              ///< half of MAX_WIMM's default
  static constexpr uint64_t kMaxLongBatch = 128;  ///< all batches together fill a send queue

  Bytes message_;
  uint32_t batch_;
  uint32_t batches_;
};

}  // namespace mrclab::endpoint
