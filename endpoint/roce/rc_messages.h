#pragma once
// The work requests of an RC requester, in the order in which they were posted. A message takes as many PSNs
// as it has packets, from the instant at which it is posted, so a packet can be made again from its sequence
// alone. A READ takes as many as its answer has packets, and one packet asks for all that is missing of it.

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

  /// False if it is longer than 2^32 - 1 bytes, or the queue is full.
  bool post(const WriteRequest& request);
  bool empty() const { return messages_.empty(); }
  /// The sequence behind the last packet of the last message.
  Sequence end() const { return end_; }

  /// What a packet of a message looks like.
  struct PacketView {
    Opcode opcode = Opcode::kRcWriteOnly;
    ConstMemory payload;
    Extension extension;
    bool last = false;  ///< of its message
    bool solicited = false;
    Sequence end = 0;  ///< the packet behind it
  };
  /// `s` is of a message that is not complete.
  PacketView view(Sequence s) const;
  uint32_t length(Sequence s) const { return static_cast<uint32_t>(view(s).payload.size()); }

  /// May the message that begins at `s`, if one does, start while so many READs and atomics may be open?
  bool may_start(Sequence s, uint32_t most_open) const;
  /// The first packet before `limit` whose answer with data has not come; `limit` if there is none.
  Sequence answered_to(Sequence limit) const;
  /// Takes the data that is the answer to the packet `s`: the first of those that answered_to() waits for. False, and
  /// nothing happened, if it is not what `s` asks for.
  bool take_answer(Sequence s, const MrcPacket& packet);
  /// Is it a packet of a READ or an atomic that is not complete?
  bool wants_answer(Sequence s) const;

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
    Sequence answered = 0;        ///< packets of the answer that have come
    uint64_t fetches_before = 0;  ///< READs and atomics posted before it
    bool fetches() const { return has_response(request.kind); }
  };
  const Message* find(Sequence s) const;
  PacketView view_of_fetch(const Message& m, Sequence s) const;

  uint32_t pmtu_;                 ///< bytes
  std::deque<Message> messages_;  // ascending
  Sequence end_ = 0;
  uint64_t fetches_posted_ = 0, fetches_done_ = 0;  ///< READs and atomics
};

}  // namespace mrclab::endpoint
