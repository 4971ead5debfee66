#pragma once
// Where the bytes of RC's packets go: only the first packet of a WRITE has the address, and those of the others follow from
// their distance to it.

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

#include "analysis/history/packet_history.h"
#include "fabric/packet/headers.h"

namespace mrclab::analysis {

class RcMessagesSeen {
 public:
  explicit RcMessagesSeen(uint32_t pmtu) : pmtu_(pmtu) {}

  /// The placement of a packet of the flow with this key (flow_keys.h); empty for a SEND, and if the first
  /// packet of its message has not been seen. The sample is left out.
  std::optional<Placement> placement_of(uint64_t flow, const MrcPacket& packet);

 private:
  /// Messages of a flow that a packet may still belong to: go-back-N does not go back further.
  static constexpr size_t kKept = 256;
  struct Message {
    Psn first;
    Reth reth;
    int64_t packets = 0;
  };

  struct Flow {
    std::deque<Message> messages;  ///< newest first
    std::optional<Psn> end;        ///< behind the last packet of all messages seen
  };

  uint32_t pmtu_;
  std::unordered_map<uint64_t, Flow> flows_;  ///< lookup only
};

}  // namespace mrclab::analysis
