#pragma once
// What an application measured, at fabric time: pieces of work with their beginning and end. A
// piece is a message of a stream, a ping with its pong, or an iteration of a collective.

#include <cstdint>
#include <vector>

#include "fabric/base/units.h"

namespace mrclab::endpoint {

struct WorkSample {
  FabricTime from;  ///< posted, or begun
  FabricTime to;    ///< acknowledged, answered, or finished
};

struct WorkReport {
  /// Samples are kept for that many pieces; perftest, too, keeps no times beyond 20,000 iterations.
  static constexpr size_t kMaxSamples = 20'000;

  uint32_t workload = 0;  ///< index in the scenario's list
  uint32_t from = 0;      ///< host numbers; a collective reports for one host: from == to
  uint32_t to = 0;
  uint32_t queue = 0;  ///< which of the queue pairs of this connection
  Bytes unit;          ///< per piece
  uint64_t done = 0;   ///< pieces
  FabricTime first;    ///< when the first piece began
  FabricTime last;     ///< when the newest one was done
  std::vector<WorkSample> samples;

  void record_piece(FabricTime begun, FabricTime finished) {
    if (done++ == 0) first = begun;
    last = finished;
    if (samples.size() < kMaxSamples) samples.push_back({begun, finished});
  }
};

}  // namespace mrclab::endpoint
