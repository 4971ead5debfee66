#pragma once
// A collective as NCCL runs it, as one host of it: data goes from slot to slot, and a sender needs a credit for each. The
// order of receives and sends is slot_program.h's. Per lane, which is a channel of a link:
//
//   - a message is a Write-with-Immediate from a slot of this host's send buffer into the slot of the same number at the
//     receiver. The send slot is free again when the write is acknowledged, as the NIC may have to send it again
//   - when the receiver has used a slot it writes a credit of 64 bytes back over the same queue pair (NCCL's "clear to
//     send", an element of its FIFO). Credits are lost and found again as data is
//   - credits are given for what this iteration receives and no more, so data comes only after both have begun it
//   - operations go in order; one that sends waits for its data, a free send slot and a credit at once, as a block
//     of NCCL's kernel does. Adding and copying take no time
//   - the next iteration begins when this one has ended here (a stream of kernels). Writes may still be under way then
//
// There is no vector in memory: own input is a ramp, and results are compared in the slot that they are in. So the size
// of a collective is not bounded by memory.

#include <vector>

#include "endpoint/base/application.h"
#include "endpoint/workload/collective_data.h"
#include "endpoint/workload/slot_program.h"

namespace mrclab::endpoint {

class SlottedCollective : public Application {
 public:
  static constexpr uint64_t kCreditBytes = 64;  ///< NCCL: an element of the sender's FIFO

  /// A link to one other host and a link from one (SlotProgram names the hosts).
  struct Link {
    std::vector<QpHandle> out;  ///< queue pairs, channel c uses out[c modulo size]
    std::vector<QpHandle> in;
    uint64_t remote_va = 0;  ///< slots at the receiver
    uint32_t remote_rkey = 0;
    uint64_t credit_va = 0;  ///< where the sender reads its credits
    uint32_t credit_rkey = 0;
    Memory inbox;     ///< inbox_size() bytes that the other host writes to
    Memory outgoing;  ///< as many, which this host sends from
  };
  struct Config {
    explicit Config(const SlotProgram& what) : program(what) {}
    SlotProgram program;
    size_t rank = 0;
    uint32_t iterations = 0;  ///< 0: until `end`
    FabricTime end = FabricTime::never();
    uint64_t seed = 0;  ///< as CollectiveData's
    std::vector<Link> links;
    Memory credit;      ///< kCreditBytes, which credits are sent from
    WorkReport report;  ///< members that name the work are filled in
  };
  explicit SlottedCollective(Config config);

  void start(Verbs& verbs) override { begin(verbs); }
  void on_write_complete(Verbs& verbs, QpHandle qp, uint64_t id) override;
  void on_receive_immediate(Verbs& verbs, QpHandle qp, uint32_t immediate) override;
  void on_wake(Verbs&) override {}
  void on_qp_error(Verbs&, QpHandle, std::string_view) override { dead_ = true; }
  bool finished() const override {
    return dead_ || (config_.iterations != 0 && iteration_ == config_.iterations);
  }
  const WorkReport* work() const override { return &config_.report; }

  const CollectiveData& data() const { return data_; }

 private:
  using Place = SlotProgram::Place;
  struct Lane {
    size_t link = 0;
    uint32_t channel = 0;
    size_t chunk_out = 0, chunk_in = 0;  ///< of a peer's messages
    Place next;                          ///< of a ring: the next operation; else the next receive
    Place next_send;                     ///< of a peer's messages
    // Messages since the beginning:
    uint64_t sent = 0, acknowledged = 0, credits = 0;
    uint64_t arrived = 0, used = 0, expected = 0, granted = 0;
  };

  void begin(Verbs& verbs);
  bool ended(const Lane& lane) const;
  void go_on(Verbs& verbs, Lane& lane);
  bool ring_step(Verbs& verbs, Lane& lane);
  bool peer_receive(Verbs& verbs, Lane& lane);
  bool peer_send(Verbs& verbs, Lane& lane);
  bool can_send(const Lane& lane) const;
  Memory arrived_piece(const Lane& lane, uint64_t length) const;
  Memory outgoing_piece(const Lane& lane, uint64_t length) const;
  void post(Verbs& verbs, Lane& lane, Memory piece);
  void grant(Verbs& verbs, Lane& lane);
  void verify(Verbs& verbs, Memory bytes, const ReduceChunk& piece, Ramp expected);

  Config config_;
  CollectiveData data_;
  std::vector<Lane> lanes_;  ///< link by link, of each its channels
  uint32_t iteration_ = 0;
  FabricTime begun_;
  bool dead_ = false;
};

}  // namespace mrclab::endpoint
