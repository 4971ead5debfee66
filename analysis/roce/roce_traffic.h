#pragma once
// What the packets of RoCEv2 show, whoever sent them: per flow, as plain numbers.
//
//   flow        requests of one host to one queue pair of another (RC, XRC, UC), or its datagrams (UD)
//   peer        the flow the other way: its destination is the queue pair that sends this one. Acknowledgements, NAKs and
//               CNPs to it are about this one
//   lost        a transmission that did not arrive: where both ends were captured, one that was overtaken; where a PSN is
//               skipped, in front of the capture's place; else what a NAK asked for, or what was retransmitted without
//               one and was not acknowledged before
//   gone back   a retransmission of a packet that had arrived behind a gap, which go-back-N refuses. Selective repeat
//               would not have needed it
//   needless    a retransmission of a packet that had arrived and had been taken
//   place       a capture interface at which a packet still has that hop limit: a mirror of both sides of a router is two

#include <array>
#include <map>
#include <string>
#include <vector>

#include "analysis/capture/histogram.h"
#include "fabric/base/ids.h"
#include "fabric/base/units.h"
#include "fabric/node/node.h"
#include "fabric/packet/roce_frame.h"

namespace mrclab::analysis {

/// Why a flow went back.
enum class RoceCause : uint8_t { kNak, kNotReady, kTimer };
inline constexpr size_t kRoceCauses = 3;

/// How a loss was found.
/// kGap: of datagrams (UD), which take their PSNs from the queue pair that sends them, whoever they go to: what is missing was
/// lost before this place, or went past it. It is in the list of losses and in no count of them.
enum class RoceLossSign : uint8_t { kOvertaken, kSkipped, kNak, kTimer, kDropRecord, kGap };

struct RoceLoss {
  FabricTime t;  ///< when it was sent; skipped: when the next one was seen
  uint32_t flow = 0;
  uint32_t psn = 0, count = 1;
  RoceLossSign sign = RoceLossSign::kOvertaken;
  DropCause cause = DropCause::kNone;  ///< of a drop record
};

/// A flow went back to an earlier PSN.
struct RoceRound {
  FabricTime t;
  uint32_t flow = 0;
  uint32_t psn = 0, packets = 0;
  FabricTime waited;  ///< since it had sent a packet
  RoceCause cause = RoceCause::kTimer;
};

/// Sent bytes over time: so many bins, each twice as long whenever the flow is longer than they are.
struct RoceBins {
  static constexpr size_t kBins = 32;
  FabricTime width = FabricTime::from_us(10);
  FabricTime from = FabricTime::never();
  std::array<uint64_t, kBins> bytes{};
  std::array<uint32_t, kBins> cnps{}, marked{};
  /// The bin of that time, after room was made for it.
  size_t bin_of(FabricTime t);
};

struct RoceFlow {
  static constexpr uint32_t kNone = 0xFFFF'FFFF;
  Ipv6Address source{}, destination{};
  Qpn qp;
  IbtaTransport transport = IbtaTransport::kRc;
  uint16_t source_port = 0;
  uint32_t peer = kNone;
  std::optional<Qpn> source_qp;  ///< by the peer, by the connection manager, or by DETH
  bool by_cm = false;
  FabricTime first = FabricTime::never(), last;
  uint64_t packets = 0, bytes = 0,
           resent = 0;     ///< first transmissions, and their payload; later ones
  bool both_ends = false;  ///< captured at two places
  uint64_t delivered = 0,
           delivered_bytes = 0;  ///< both ends: those that arrived; else those acknowledged
  uint64_t lost = 0, open = 0;
  uint64_t gaps = 0;  ///< UD: PSNs of its sender that are missing in front of its datagrams
  uint64_t needed = 0, gone_back = 0, needless = 0, need_unknown = 0;
  std::array<uint64_t, kRoceCauses> rounds{}, resent_by{};
  uint64_t acks = 0, naks = 0, not_ready = 0,
           refusals = 0;  ///< refusals: NAKs that end a queue pair
  uint64_t cnps = 0, marked = 0, reads = 0, atomics = 0, responses = 0, response_bytes = 0;
  uint64_t reordered = 0;
  FabricTime longest_wait;  ///< before a round by the timer
  uint64_t rtts = 0;
  int64_t rtt_sum_ps = 0, rtt_min_ps = INT64_MAX, rtt_max_ps = 0;
  uint32_t sent_at = kNone, arrived_at = kNone;  ///< capture points
  RoceBins bins;
  bool is_data() const { return packets + resent > 0; }
};

struct RoceTraffic {
  static constexpr size_t kMaxFlows = 1u << 14, kMaxEvents = 1u << 17;
  std::vector<RoceFlow> flows;
  std::vector<RoceLoss> losses;  ///< in order of time
  std::vector<RoceRound> rounds;
  std::map<std::string_view, uint64_t> cm;  ///< messages of the connection manager, by name
  LogHistogram rtt_ns, one_way_ns;
  FabricTime first = FabricTime::never(), last;
  uint64_t frames = 0, copies = 0, repeats = 0, over_limit = 0, filtered = 0;
  uint64_t answers_unmatched = 0;  ///< acknowledgements of which no flow is known
  uint64_t cut = 0;                ///< whose extended headers are not in the record
  bool events_cut = false;
};

}  // namespace mrclab::analysis
