#pragma once
// Why a host receives next to nothing at an instant: who waits for whom, by the packets alone.
//
//   h1 <- h0 <- h7     h0 sends to h1 only when it has got something from h7: the packets show it, because the last
//                      thing that arrives at h0 before it sends again is h7's
//
// A host waits for a sender of its own whose packets were lost, trimmed or refused and have not arrived since, else for
// whose packets are under way, else for the one that sends to it next. What that one waits for is found likewise: the
// last data that arrives at it before it sends, at most a base RTT before. So the history must reach beyond the
// instant to name the whole chain; where it does not, the chain ends with who sends nothing.
// Pure; the page fills it from a recording (session/waits_look.h), the judge from a packet history (wait_history.h).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/text/enum_words.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// One data packet: when its host sent it, when it was lost, retransmitted and delivered.
struct AwaitedPacket {
  uint32_t source = 0, destination = 0;        ///< host numbers
  uint32_t bytes = 0;                          ///< on the wire or of payload: one of them, for all
  FabricTime sent;                             ///< its first transmission
  FabricTime delivered = FabricTime::never();  ///< first whole arrival
  FabricTime lost = FabricTime::never();       ///< first time that it was lost, trimmed or refused
  FabricTime again = FabricTime::never();      ///< first retransmission behind that
  PortRef where = {};                          ///< port at which it was lost
};

enum class WaitReason : uint8_t {
  kBusy,            ///< it receives: it does not wait
  kRetransmission,  ///< for packets that were lost, trimmed or refused
  kUnderWay,        ///< for packets that were sent and wait in queues or on wires
  kSender,          ///< for a sender that still receives what it passes on
  kOwnPace,         ///< for a sender that sends when it wants to: nothing that arrives lets it
  kSilent,          ///< for a sender that sends nothing more, as far as is known
  kCircle,          ///< each waits for the next one, and the first for the last
  kNoData,          ///< nothing was ever sent to it, up to the instant and behind it
};

inline constexpr auto kWaitWords =
    words_by_value<WaitReason>({{WaitReason::kBusy, "busy"},
                                {WaitReason::kRetransmission, "retransmission"},
                                {WaitReason::kUnderWay, "under_way"},
                                {WaitReason::kSender, "sender"},
                                {WaitReason::kOwnPace, "own_pace"},
                                {WaitReason::kSilent, "silent"},
                                {WaitReason::kCircle, "circle"},
                                {WaitReason::kNoData, "no_data"}});
constexpr std::string_view name_of(WaitReason reason) {
  return kWaitWords[static_cast<size_t>(reason)];
}

struct HostWait {
  uint32_t host = 0;
  double share = 0;  ///< of its line rate, that it received in the third of a base RTT before
  WaitReason reason = WaitReason::kBusy;
  std::vector<uint32_t> chain;  ///< whom it waits for, whom that one waits for, and so on
  uint32_t receiver =
      0;  ///< of the packets that are waited for: the last but one of the chain, or the host
  uint64_t packets = 0;    ///< that are waited for at its end
  uint64_t not_again = 0;  ///< of them not retransmitted yet
  FabricTime since;        ///< when the first of them was lost, or sent
  FabricTime until =
      FabricTime::never();  ///< the last of them arrives, or the sender sends; never: not known
  PortRef where;            ///< where most of them were lost
  FabricTime known = FabricTime::never();  ///< up to here packets are known; never: to the end
};

/// "h1 waits for h0, which waits for 4 packets of h7 that were lost at p0.t0-0:d0 ...".
std::string to_string(const Topology& topology, const HostWait& wait);

class HostWaits {
 public:
  /// Who receives at least this share of its line rate is busy (our choice).
  static constexpr double kBusyShare = 0.1;
  /// Its load is that of so much of a base RTT: what the page shows as its load (our choice).
  static constexpr int64_t kSharesPerRtt = 3;
  static constexpr size_t kMaxChain = 64;  ///< hosts that are named of a chain

  /// `topology` outlives it. `known`: what comes later is in none of the packets; never: nothing does.
  HostWaits(const Topology& topology, std::vector<AwaitedPacket> packets,
            FabricTime known = FabricTime::never());
  HostWait at(uint32_t host, FabricTime t) const;

 private:
  /// All packets from one host to another, by `sent`.
  struct Stream {
    uint32_t source = 0, destination = 0;
    std::vector<uint32_t> packets;
    std::vector<FabricTime>
        all_there;  ///< when this packet and all before it had arrived; never: not all did
  };
  struct Arrival {
    FabricTime t;
    uint32_t packet = 0;
    uint64_t bytes = 0;  ///< with all before it
  };
  struct Open;

  double share(uint32_t host, FabricTime t) const;
  Open open_packets(const Stream& stream, FabricTime t) const;
  const AwaitedPacket* next_of(const Stream& stream, FabricTime t) const;
  /// The last data that arrives at a host in (t, until], at most a base RTT before `until`; null: none.
  const AwaitedPacket* released_by(uint32_t host, FabricTime t, FabricTime until) const;
  bool ends_here(uint32_t host, FabricTime t, HostWait& wait) const;

  const Topology& topology_;
  FabricTime known_;
  std::vector<AwaitedPacket> packets_;
  std::vector<std::vector<Stream>> streams_;    // by destination
  std::vector<std::vector<Arrival>> arrivals_;  // by destination, in order of time
};

}  // namespace mrclab::analysis
