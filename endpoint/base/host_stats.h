#pragma once
// What a host counts: for the progress line, the verdict and `inspect`. All counts are since start.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"

namespace mrclab::endpoint {

/// Why the endpoint refused a packet. Packets lost on the wire are not here.
enum class Refusal : uint8_t {
  kNone,             ///< accepted
  kMalformed,        ///< not a packet of MRC; the parser has the reason
  kOtherTraffic,     ///< ordinary traffic of the host's kernel, which the NIC leaves to it
  kNotMrc,           ///< for this port's uSID, but not MRC: datagrams of another program
  kWrongCarrier,     ///< the outer destination is not this port's uSID
  kCarrierNotEmpty,  ///< the outer destination names hops behind this port (RFC 9800)
  kWrongAddress,     ///< the inner destination is not this host
  kBadIcrc,
  kUnknownQp,
  kWrongPeer,  ///< the inner source is not the queue pair's peer
  kQpInError,
  kBadTrim,    ///< a whole packet with a trimmed packet's DSCP
  kBadLength,  ///< payload does not fit opcode, PMTU or message
  kBadRkey,
  kOutOfBounds,  ///< rkey is right, the address range is not inside its region
  kDuplicate,
  kPsnOutOfWindow,  ///< ahead of the window: answered by a NACK
  kPsnFarPast,
  kSackOfFuture,  ///< acknowledges a PSN that was never sent
  kNackOfUnsent,  ///< refers to a PSN that is not outstanding
  kAckOfFuture,
  kUnknownEv,      ///< feedback about an entropy value that is not in the set
  kStaleFeedback,  ///< NACK or probe answer about an earlier transmission
  kUnexpectedOpcode,
  kBrokenMessage,      ///< packets that do not make a whole message: seen only when all are in
  kTooManyImmediates,  ///< more WriteImm in flight than agreed
  kNoPacketBuffer,     ///< no room before memory (receive_buffer.h): answered by a NACK
  kNoBitmap,           ///< the queue pairs share too few (bitmap_pool.h): answered by a NACK
  kOutOfOrder,  ///< RC: ahead of the expected PSN; the first one of a gap is answered by a NAK
  kNotReady,    ///< RC: no receive is posted: answered by "receiver not ready"
};
std::string_view name_of(Refusal refusal);
inline constexpr size_t kRefusals = static_cast<size_t>(Refusal::kNotReady) + 1;

struct PlaneStats {
  uint64_t tx_packets = 0;        ///< frames of any kind whose transmission started
  uint64_t rx_packets = 0;        ///< frames of any kind that arrived whole
  uint64_t tx_payload_bytes = 0;  ///< write payload sent, retransmissions included
  uint64_t rx_payload_bytes = 0;  ///< goodput: write payload placed in memory for the first time
};

struct QpErrorCount {
  std::string reason;
  uint32_t count = 0;
};

/// What a host counts. The lab gets it as a part of HostAccount (host_account.h).
struct HostStats {
  std::vector<PlaneStats> planes;
  uint64_t data_packets_sent = 0;  ///< first transmissions
  uint64_t retransmissions = 0;
  uint64_t losses_detected = 0;  ///< by time rule, probe or timeout; trims are not losses
  uint64_t spurious_losses = 0;  ///< losses by time rule or probe that turned out to be none
  uint64_t timeouts = 0;         ///< ACK timeouts
  uint64_t trims_seen = 0;       ///< trimmed packets received here
  uint64_t trim_nacks_received = 0;
  uint64_t resource_nacks_received = 0;  ///< the receiver lacked buffer, bitmap or window
  uint64_t ce_marks_seen = 0;            ///< data packets with an outer CE mark
  /// Datagrams that are not MRC (fabric/node/effect.h: HostBurst).
  uint64_t datagrams_sent = 0;
  uint64_t not_authorised =
      0;  ///< frames that its NIC did not let out (fabric/packet/authorised.h)
  uint64_t sequence_naks_received = 0;  ///< RC: NAK "PSN sequence error"
  uint64_t cnps_sent = 0;               ///< RC: congestion notification packets
  uint64_t cnps_received = 0;
  uint64_t sacks_sent = 0;
  uint64_t sacks_received = 0;
  uint64_t probes_sent = 0;
  uint64_t ev_probes_sent = 0;  ///< EV probes of the way back (endpoint requests)
  uint64_t ev_probes_answered = 0;
  FabricTime ev_probe_rtt;  ///< round trip of the last EV probe
  uint64_t port_status_sent = 0;
  uint64_t port_status_received = 0;
  uint64_t evs_lost = 0;  ///< transitions to ASSUMED_BAD or, by a port of either end, to PORT_DOWN
  uint64_t evs_regained = 0;
  uint32_t evs_bad = 0;    ///< now not usable, over all queue pairs
  uint32_t qps = 0;        ///< now
  uint32_t qps_ended = 0;  ///< that had a peer and were destroyed or reset by their program
  uint32_t qps_in_error = 0;
  std::vector<QpErrorCount> qp_errors;  ///< qps_in_error by reason, the first reason first
  uint32_t qps_pending =
      0;  ///< now, of the scheduler's states (scheduler_state.h); the rest is idle
  uint32_t qps_active = 0;
  uint32_t qps_ready = 0;
  uint64_t window_bytes = 0;     ///< now, over all destinations
  uint64_t in_flight_bytes = 0;  ///< now, over all destinations
  uint64_t writes_completed = 0;
  uint64_t bytes_verified = 0;
  uint64_t bytes_mismatched = 0;
  uint64_t collectives_completed = 0;  ///< iterations of all-reduce finished here
  uint64_t no_buffer = 0;              ///< a frame or queue entry was not available
  uint64_t memory_faults = 0;          ///< kBadRkey + kOutOfBounds
  std::array<uint64_t, kRefusals> refused{};

  uint64_t refused_for(Refusal refusal) const { return refused[static_cast<size_t>(refusal)]; }
  uint64_t goodput_bytes() const;
  void count_qp_error(std::string_view reason);
};

/// What one queue pair was asked to write and what it answered (work_ledger.h).
struct QueueCounts {
  Qpn local;
  Qpn remote;
  uint32_t peer = 0;  ///< host number
  uint64_t posted = 0;
  uint64_t completed = 0;
  uint64_t failed = 0;
  uint64_t out_of_order = 0;
  bool in_error = false;
};

}  // namespace mrclab::endpoint
