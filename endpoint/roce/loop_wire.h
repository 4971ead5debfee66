#pragma once
// Queue pairs of a host with itself: a NIC loops their packets back inside. None of them appears on a wire or in a packet
// history. One packet after the other takes as long as by all ports together, and arrives a host's latency later (our
// choice; no vendor publishes its own). Both transports loop by RC's rules: where there is one way, in order and without
// loss, MRC's have nothing to do.

#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "endpoint/roce/rc_queue_pair_table.h"
#include "fabric/packet/headers.h"

namespace mrclab::endpoint {

class LoopWire {
 public:
  LoopWire(BitRate rate, FabricTime latency) : rate_(rate), latency_(latency) {}

  /// Takes packets of looped queue pairs while the wire is free, in turns. The bytes are copied.
  void start_packets(RcQueuePairTable& queue_pairs, FabricTime now);
  /// What has arrived by now goes to its queue pair, if that is there and in order.
  void deliver_due(RcQueuePairTable& queue_pairs, FabricTime now);
  /// When one of the two has something to do next; never() if nothing is under way.
  FabricTime next_event(FabricTime now) const;
  void clear() { under_way_.clear(); }

 private:
  struct UnderWay {
    FabricTime at;
    Qpn to;
    MrcPacket packet;
    std::vector<uint8_t> payload;
  };
  void send(const RcQueuePair& from, const RcPacket& packet, FabricTime now);
  void answer(const RcQueuePair& from, const RcReply& reply, FabricTime now);
  void deliver(RcQueuePairTable& queue_pairs, const UnderWay& arrived, FabricTime now);

  BitRate rate_;
  FabricTime latency_;
  std::list<UnderWay>
      under_way_;  ///< as many as the wire takes within its latency; most hosts have none
  FabricTime free_at_;
  uint32_t turn_ = 0;  ///< place that is looked at first
};

}  // namespace mrclab::endpoint
