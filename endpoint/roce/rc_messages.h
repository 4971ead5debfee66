#pragma once
// The work requests of an RC requester, in the order in which they were posted. A message takes as many PSNs
// as it has packets, from the instant at which it is posted, so a packet can be made again from its sequence
// alone.

#include <cstdint>
#include <deque>
#include <optional>

#include "endpoint/base/application.h"
#include "endpoint/base/sequence.h"
#include "fabric/packet/headers.h"

namespace mrclab::endpoint {

class RcMessages {
 public:
  static constexpr size_t kLimit = 2048;  ///< messages that are not complete

  explicit RcMessages(uint32_t pmtu) : pmtu_(pmtu) {}

  /// False if it is empty, longer than 2^32 - 1 bytes, or the queue is full.
  bool post(const WriteRequest& request);
  bool empty() const { return messages_.empty(); }
  /// The sequence behind the last packet of the last message.
  Sequence end() const { return end_; }

  /// What a packet of a message looks like.
  struct PacketView {
    Opcode opcode = Opcode::kRcWriteOnly;
    ConstMemory payload;
    std::optional<Reth> reth;
    std::optional<uint32_t> immediate;
    bool last = false;  ///< of its message
  };
  /// `s` is of a message that is not complete.
  PacketView view(Sequence s) const;
  uint32_t length(Sequence s) const { return static_cast<uint32_t>(view(s).payload.size()); }

  /// The id of the oldest message if everything before `acknowledged` covers it; it is gone then.
  std::optional<uint64_t> complete_next(Sequence acknowledged);
  /// Is `s` of the oldest message? There is one.
  bool oldest_covers(Sequence s) const {
    return messages_.front().first <= s && s <= messages_.front().last;
  }
  /// The id of the oldest message, which is given up. There is one.
  uint64_t give_up_oldest();

 private:
  struct Message {
    WriteRequest request;
    Sequence first = 0, last = 0;
  };
  const Message* find(Sequence s) const;

  uint32_t pmtu_;                 ///< bytes
  std::deque<Message> messages_;  // ascending
  Sequence end_ = 0;
};

}  // namespace mrclab::endpoint
