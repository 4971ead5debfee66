#pragma once
// What one responder has received: a bitmap over the window (cumulative, cumulative + MPR], with
// the message ends in it. Packets are accepted in any order; message ends are reported in the order of
// PSNs.

#include <cstdint>
#include <optional>
#include <vector>

#include "endpoint/queue_pair/sequence_ring.h"

namespace mrclab::endpoint {

class ReceiveWindow {
 public:
  explicit ReceiveWindow(uint32_t max_psn_range);

  enum class Position : uint8_t {
    kNew,        ///< in the window, not received yet
    kDuplicate,  ///< received already, at most MPR behind
    kFarPast,
    kAhead,  ///< beyond the window
  };
  Position classify(Sequence s) const;

  Sequence cumulative() const { return cumulative_; }  ///< everything up to here is in; -1: nothing
  Sequence highest() const { return highest_; }
  uint32_t out_of_order() const { return out_of_order_; }  ///< received above cumulative
  /// Bit i: cumulative < base + i and that packet is in. base > cumulative.
  uint64_t bitmap(Sequence base) const;

  /// A kNew packet is in memory. `last`: it ends a message of so many bytes, with `immediate`.
  void accept(Sequence s, bool last, uint32_t message_bytes, std::optional<uint32_t> immediate);
  struct MessageEnd {
    uint32_t bytes = 0;
    std::optional<uint32_t> immediate;
  };
  /// Moves cumulative() up by as much as is in, at most to the next end of a message: true there. Call until false.
  bool advance();
  /// Where advance() was true: the message that ends at cumulative().
  MessageEnd message_end() const;

 private:
  struct Slot {
    uint32_t immediate = 0;
    uint32_t bytes = 0;
    bool last = false;
    bool has_immediate = false;
  };
  bool has(Sequence s) const;

  Sequence range_;
  size_t mask_;
  std::vector<uint64_t> words_;
  SequenceRing<Slot> slots_;  // above cumulative_
  Sequence cumulative_ = -1;
  Sequence highest_ = -1;
  uint32_t out_of_order_ = 0;
};

}  // namespace mrclab::endpoint
