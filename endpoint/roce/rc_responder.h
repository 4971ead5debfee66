#pragma once
// The receiving half of an RC queue pair (InfiniBand specification 9.7.4; Linux rdma_rxe's responder). It
// takes packets in the order of their PSNs:
//
//   the expected one   is executed; answered by an ACK if it asks for one
//   behind it          a duplicate: nothing is written, and the ACK of all that has arrived goes again
//   ahead of it        a gap: it is refused, and the first such packet is answered by a NAK "PSN sequence
//                      error" that names the expected PSN
//
// A selective receiver (option `recovery`) keeps WRITE packets up to 64 PSNs ahead. RC's middle packets have no
// address, so it takes those whose message has one: whose first packet has arrived, and whose length reaches that far.
// With `reorder` it asks for what is missing only when a packet is so many PSNs ahead.
//
// A placing receiver (NVIDIA's NICs with out-of-order data placement, for fabrics that route adaptively)
// takes a whole window in any order. Packets that overtake the first one of their message wait in the NIC until it
// is there: how products learn the place is not published, and a buffer of 128 packets is our choice.
//
// A message that ends with an immediate, or is a SEND, uses up a receive: a SEND when it begins. Without one: "receiver
// not ready", and the packet counts as not arrived. Requests that break a rule, and accesses that memory regions do not
// allow, are answered by a NAK that ends both queue pairs, behind the answers that are still to be sent.
//
// The answers of READs and atomics leave one after the other, in the class of data (RcAnswers). The memory of a READ is
// read when its packet leaves.

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "endpoint/base/application.h"
#include "endpoint/base/host_stats.h"
#include "endpoint/base/memory_registry.h"
#include "endpoint/base/receive_queue.h"
#include "endpoint/base/sequence.h"
#include "endpoint/roce/rc_answers.h"
#include "endpoint/roce/rc_packet.h"
#include "endpoint/roce/rc_parameters.h"
#include "fabric/packet/headers.h"

namespace mrclab::endpoint {

/// What goes back at once.
struct RcReply {
  Psn psn;
  Aeth aeth;
};

class RcResponderEvents {
 public:
  virtual ~RcResponderEvents() = default;
  /// The message is in memory.
  virtual void message_received(const ReceiveCompletion& completion) = 0;
  /// The message of this receive could not be put there; request_refused() follows.
  virtual void receive_failed(uint64_t id, std::string_view status) = 0;
  /// The peer broke a rule: its NAK is under way, and this end is over as well. `reason` outlives both.
  virtual void request_refused(std::string_view reason) = 0;
};

class RcResponder {
 public:
  /// `memory` and `events` outlive it.
  RcResponder(const RcParameters& parameters, Psn first_psn, const MemoryRegistry& memory,
              RcResponderEvents& events, HostStats& stats);

  /// `placed`: payload bytes that are new in memory.
  Refusal on_request(const MrcPacket& packet, std::optional<RcReply>& reply, uint64_t& placed);
  /// Does the packet with this PSN come in turn, or is it one that a selective receiver keeps?
  bool takes(Psn psn) const {
    const Sequence ahead = psns_.sequence(psn, expected_) - expected_;
    return ahead == 0 || (keeps_ahead() && ahead > 0 && ahead < most_ahead());
  }
  /// An answer with data, if there is one; its payload is valid until the next call. `reply`: a NAK that waited for it.
  std::optional<RcPacket> next_answer(std::optional<RcReply>& reply);
  bool has_answer() const { return !answers_.empty(); }

  const ReceiveQueue& receives() const { return shared_ != nullptr ? *shared_ : receives_; }
  ReceiveQueue& receives() { return shared_ != nullptr ? *shared_ : receives_; }
  /// From now on receives come from a queue that others use as well, which outlives it.
  void share_receives(ReceiveQueue& queue) { shared_ = &queue; }
  bool shares_receives() const { return shared_ != nullptr; }
  /// The receive of a SEND that has begun and not ended; it is gone then.
  std::optional<PostedReceive> give_up_receive() { return std::exchange(receive_, std::nullopt); }
  /// What the peer may do, and to the regions of which protection domain.
  void set_access(AccessFlags allowed, uint32_t domain) {
    allowed_ = allowed;
    domain_ = domain;
  }
  /// Everything before it has arrived.
  Sequence expected() const { return expected_; }

 private:
  static constexpr uint32_t kMostHeld = 128;  ///< packets
  /// Where a message goes. Invalid before its first packet.
  struct Message {
    Sequence first = 0, last = -1;
    uint64_t va = 0;  ///< of a WRITE
    uint32_t rkey = 0;
    uint32_t length = 0;
    bool send = false;
    bool covers(Sequence s) const { return first <= s && s <= last; }
  };
  /// A packet that arrived ahead.
  struct Ahead {
    bool present = false;
    bool turned_away = false;  ///< it came, and could not be kept
    Message message;
    Opcode opcode = Opcode::kRcWriteMiddle;
    std::optional<uint32_t> immediate;
    bool solicited = false;
    uint32_t held = 0;  ///< length of a payload that waits for its place; 0: it is in memory
    std::vector<uint8_t> bytes;  ///< the payload that waits; empty in a run without payload
  };

  Refusal on_expected(const MrcPacket& packet, std::optional<RcReply>& reply, uint64_t& placed);
  Refusal on_ahead(const MrcPacket& packet, Sequence s, std::optional<RcReply>& reply,
                   uint64_t& placed);
  bool hold(const MrcPacket& packet, Sequence s);
  uint64_t place_held(Sequence first, const Message& message);
  Refusal check_expected(const MrcPacket& packet, Message& message) const;
  Refusal begin_message(const MrcPacket& packet, Sequence s, Message& message) const;
  Refusal begin_send(Sequence s, Message& message) const;
  Refusal on_fetch(const MrcPacket& packet, std::optional<RcReply>& reply);
  Refusal on_read(const Reth& reth, std::optional<RcReply>& reply);
  Refusal on_atomic(const MrcPacket& packet, std::optional<RcReply>& reply);
  Refusal answer_again(const MrcPacket& packet, Sequence s, std::optional<RcReply>& reply);
  bool may_reach(uint32_t rkey, uint64_t va, uint64_t length, Reach reach, Refusal& why) const;
  MemoryRegistry::Target target_of(Sequence s, uint64_t length, const Message& message) const;
  bool is_reachable(Sequence s, uint64_t length, const Message& message) const;
  Refusal blame_receive(uint8_t syndrome, std::string_view status, std::optional<RcReply>& reply);
  const Message* message_of(Sequence s) const;
  bool fits(Opcode opcode, uint64_t length, Sequence s, const Message& message) const;
  uint64_t offset_of(Sequence s, const Message& message) const;
  uint64_t place(const MrcPacket& packet, Sequence s, const Message& message) const;
  void put(Sequence s, std::span<const uint8_t> bytes, const Message& message, bool last) const;
  bool lacks_receive(Opcode opcode) const;
  void finish_packet(Opcode opcode, const Message& message, std::optional<uint32_t> immediate,
                     bool solicited);
  void take_what_waits(std::optional<RcReply>& reply);
  void ask_for_missing(Sequence furthest, std::optional<RcReply>& reply);
  bool keeps_ahead() const { return parameters_.recovery != RcRecovery::kGoBackN; }
  Sequence most_ahead() const { return static_cast<Sequence>(ahead_.size()); }
  RcReply acknowledge() const;
  Refusal refuse(uint8_t syndrome, Refusal why, std::optional<RcReply>& reply);
  Refusal reject(Refusal why, std::optional<RcReply>& reply);
  Ahead& ahead(Sequence s) { return ahead_[static_cast<size_t>(s) % ahead_.size()]; }
  const Ahead& ahead(Sequence s) const { return ahead_[static_cast<size_t>(s) % ahead_.size()]; }

  RcParameters parameters_;
  PsnSpace psns_;
  const MemoryRegistry& memory_;
  RcResponderEvents& events_;
  HostStats& stats_;
  ReceiveQueue receives_;
  ReceiveQueue* shared_ = nullptr;
  std::optional<PostedReceive> receive_;  ///< of the SEND that is coming in
  AccessFlags allowed_ = AccessFlags::all();
  uint32_t domain_ = 0;
  struct HeldRefusal {
    RcReply reply;
    std::string_view reason;
  };
  std::optional<HeldRefusal> refusal_;  ///< waits for answers
  std::vector<uint8_t> scratch_;        ///< the payload of an answer
  Sequence expected_ = 0;
  Sequence highest_ = -1;  ///< the furthest packet that waits ahead
  Message current_;
  bool in_message_ = false;   ///< the expected packet is not the first of a message
  bool nak_sent_ = false;     ///< for the expected packet
  std::vector<Ahead> ahead_;  ///< a ring
  RcAnswers answers_;
  uint32_t held_ = 0;      ///< packets that wait for their place
  uint32_t messages_ = 0;  ///< MSN: how many have been completed
};

}  // namespace mrclab::endpoint
