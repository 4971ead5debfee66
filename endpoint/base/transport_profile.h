#pragma once
// The numbers of the MRC transport, resolved to fabric time for one topology.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "endpoint/base/ev_profile.h"
#include "endpoint/base/ev_set_limits.h"
#include "fabric/base/ids.h"
#include "fabric/base/units.h"
#include "fabric/topology/topology.h"

namespace mrclab::endpoint {

inline constexpr uint32_t kDefaultPsnRange = 1024;  ///< PSNs, 8 units: the least that is required

/// Which transport carries a connection whose workload names none.
enum class TransportKind : uint8_t { kMrc, kRoce };
constexpr std::string_view name_of(TransportKind kind) {
  return kind == TransportKind::kRoce ? "roce" : "mrc";
}

/// What an RC sender repeats after a loss: everything from there, or the packet alone (rc_responder.h).
enum class RcRecovery : uint8_t { kGoBackN, kSelective, kPlacing };

/// When a compressed ACK timer of RC runs out: always after the same time, or, as a ConnectX-6 was seen to, at first
/// in six steps that grow and count as one retry.
enum class RcTimer : uint8_t { kFixed, kConnectX };

/// By whose rules an RC sender's ACK timer runs (endpoint/roce/rc_timers.h).
enum class RcTimers : uint8_t { kConnectX, kConnectXNoFloor, kExact, kCompressed };

/// The parameters of DCQCN (congestion/dcqcn.h).
enum class DcqcnChoice : uint8_t { kOff, kPaper, kFirmware, kHpcc, kAggressive, kMostAggressive };

/// Which CNPs of a receiver keep a least interval: all that a port sends, those to one host, or those of one queue pair
/// (dcqcn_choice.h).
enum class CnpScope : uint8_t { kPort, kDestination, kQueuePair };

enum class CongestionAlgorithm : uint8_t { kNscc, kFixed };

/// The rules of NSCC where UEC's text and even shares of a last hop differ (even_nscc.h, nscc.h).
enum class NsccRules : uint8_t { kEven, kUec };

/// When another packet may go. By the MRC specification §8.3.1 while cwnd > in flight; by UEC's
/// htsim while in flight + packet <= cwnd. The specification's overshoots by less than a
/// packet, and lets a window of less than a packet still move.
enum class WindowRule : uint8_t { kOpen, kFits };

/// Where a SACK's bitmap begins; MRC leaves it open. Never below cumulative + 1.
enum class SackBase : uint8_t {
  kTrigger,     ///< 63 before the packet that triggered it, every fourth at cumulative + 1 (UEC)
  kNewest,      ///< 63 before the newest packet received (the public MRC emulator)
  kCumulative,  ///< cumulative + 1, always
};

/// Every constant of the transport. `make_profile` fills it; a test may change single values.
// The members are grouped by what they belong to, which costs some bytes of padding, once for each host.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct TransportProfile {
  std::string name = "lab";
  FabricTime base_rtt;  ///< longest path, idle (Topology::base_rtt)
  uint32_t pmtu = 4096;
  DscpMap dscps;     ///< the fabric's
  bool icrc = true;  ///< compute and verify the ICRC of every packet
  TransportKind transport = TransportKind::kMrc;
  bool gid_moves = false;  ///< Device::set_gid_moves

  // Loss detection (RACK-style time rule, RFC 8985 §6.2 in fabric time).
  FabricTime reorder_window;  ///< base RTT + target queue delay (0.75 base RTT, UEC 1.0.3 p. 390)
  FabricTime reorder_window_max;  ///< spurious losses widen the window up to this
  FabricTime tail_probe;          ///< 2 x reorder window without news: ask with a reliability probe
  FabricTime ack_timeout;         ///< MRC API: local ACK timeout
  uint32_t linear_retries = 7;
  uint32_t exponential_retries = 3;

  // Mechanisms that experiments may switch off to show their effect.
  bool spray = true;  ///< off: a queue pair has one entropy value, drawn from the seed
  PathChoice path_choice = PathChoice::kMrc;
  bool skip = true;            ///< off: marks and trims cost an entropy value no turn
  bool avoid_lost = true;      ///< off: no entropy value is ever assumed bad
  bool loss_guards = true;     ///< off: one loss is enough for any value (path_keeper.h)
  bool ev_probes = true;       ///< off: values that are assumed bad stay so
  bool selective_acks = true;  ///< off: only cumulative acknowledgements count
  bool port_status = true;     ///< off: the host does not report which ports are down

  // Entropy values.
  uint32_t ev_limit = 256;     ///< EV Universe of a QP: active and backups (MRC paper §2.4)
  uint32_t active_evs = 128;   ///< values in use at once (MRC paper §2.4: more than 100)
  uint32_t ev_min_active = 0;  ///< see EvSetLimits
  Probability ev_min_active_share{250'000'000};  ///< MRC API example: ev_count / 4
  FabricTime skip_age_out;    ///< our choice: 2 base RTT, the life of a queue that was marked
  bool plane_shares = true;   ///< no plane holds more than its share of the window
  bool skip_holds = true;     ///< marks cost a share of the turns; off: one turn each
  FabricTime probe_interval;  ///< first reliability probe of a bad EV, then x 1.5
  FabricTime probe_interval_max;
  uint32_t probe_jitter_percent = 20;
  uint32_t revive_successes = 3;  ///< consecutive good probes that resurrect an EV
  uint32_t revive_successes_max = 48;
  FabricTime damping_window;  ///< a re-failure within it doubles the successes needed

  EvProfile ev_profile;

  /// EV probes of the way back while the peer sends and we do not: one RTT (MRC paper §2.4).
  FabricTime reverse_probe_interval;

  // Port status updates (endpoint requests, QPN 0x2).
  FabricTime port_status_interval;      ///< repeated until answered
  FabricTime port_status_interval_max;  ///< interval of later repeats
  bool sack_port_mask = false;  ///< the mask also in SACKs (MRC paper §3; no field in the decoders)
  uint32_t port_status_copies = 3;  ///< on as many live planes

  // Windows.
  uint32_t max_psn_range = kDefaultPsnRange;  ///< MPR; make_profile: at least three BDPs
  uint32_t max_immediates = 32;               ///< WriteImm in flight
  bool dynamic_mpr = false;   ///< destinations may shrink the range while it is used
  bool trim_nack = true;      ///< data may be trimmed, and trims are answered by NACKs
  bool service_time = false;  ///< SVC_TIME: waiting for a receiver's software is no delay
  /// Share of (line rate of live ports x base RTT), for the fixed window.
  uint32_t window_percent = 150;
  uint32_t sack_threshold = 16384;  ///< bytes received per SACK (UEC ACK_GEN_TRIGGER)

  // Congestion control. NSCC's values are for all ports of a host, derived from their rate and the
  // base RTT (nscc_parameters.h); with fewer live ports they shrink in proportion.
  CongestionAlgorithm congestion_control = CongestionAlgorithm::kNscc;
  WindowRule window_rule = WindowRule::kOpen;
  NsccRules nscc_rules = NsccRules::kEven;
  bool receive_shares = true;  ///< a receiver evens out its senders by penalties
  bool buffer_penalty = true;  ///< a receiver asks for less before its buffer is full
  uint32_t ports = 1;          ///< NIC ports of a host
  FabricTime nscc_base_rtt;
  FabricTime nscc_target_delay;
  uint32_t nscc_max_cwnd = 0;           ///< bytes
  uint32_t nscc_fi = 0;                 ///< bytes per RTT
  uint32_t nscc_eta = 0;                ///< bytes per adjust period
  uint32_t nscc_pi = 0;                 ///< bytes per RTT
  uint32_t nscc_fi_scale_permille = 0;  ///< per 1,000 bytes that arrived
  Probability nscc_gamma{800'000'000};
  Probability nscc_max_md_jump{500'000'000};
  Probability nscc_delay_alpha{12'500'000};
  FabricTime nscc_clear_delay;
  uint32_t nscc_adjust_bytes = 0;
  FabricTime nscc_adjust_period;
  uint32_t nscc_qa_gate = 3;
  FabricTime nscc_qa_threshold;
  bool nscc_disable_qa = false;
  bool receiver_penalty = true;  ///< a sender applies rcv_cwnd_pen and restore_cwnd

  // A finite receiver (receive_buffer.h, bitmap_pool.h): limits of a NIC for all its queue pairs.
  BitRate receive_rate;          ///< payload from the NIC to memory; zero: at once
  uint32_t receive_buffer = 0;   ///< bytes between ports and memory; line rate x base RTT
  uint32_t receive_bitmaps = 0;  ///< units of 128 PSNs; 0: each queue pair has what its range needs

  // RC over RoCEv2 (endpoint/roce).
  RcRecovery recovery = RcRecovery::kGoBackN;
  uint32_t reorder = 0;        ///< PSNs that a selective receiver waits before it asks
  uint32_t rc_window = 128;    ///< PSNs in flight
  uint32_t rc_ack_every = 16;  ///< packets
  RcTimers timers = RcTimers::kConnectX;
  uint32_t rc_timeout = 20;  ///< T, 4.096 us x 2^T; 0: none (NCCL's NCCL_IB_TIMEOUT)
  FabricTime
      rc_ack_timeout;  ///< compressed; our choice: 32 base RTT, as paused queues are longer than one
  RcTimer rc_timer = RcTimer::kFixed;  ///< compressed
  uint32_t rc_retries = 7;             ///< NCCL's retry count
  uint32_t rc_rnr_retries = 7;         ///< after "receiver not ready"; 7: for ever (ibverbs, NCCL)
  DcqcnChoice dcqcn = DcqcnChoice::kFirmware;
  bool dcqcn_scaled = true;  ///< to the port's rate and the base RTT (dcqcn_choice.h)
  // Single numbers of DCQCN, as they are for this fabric; zero: those of `dcqcn`.
  uint32_t dcqcn_g = 0;  ///< in parts of 1024
  FabricTime dcqcn_alpha_period, dcqcn_cut_period, dcqcn_increase_period;
  uint32_t dcqcn_increase_bytes = 0, dcqcn_fast_recovery = 0;
  BitRate dcqcn_additive, dcqcn_hyper, dcqcn_least;
  FabricTime cnp_interval;               ///< least time between CNPs (dcqcn_choice.h)
  CnpScope cnp_scope = CnpScope::kPort;  ///< which CNPs keep that time from one another
  /// Thresholds and buffer that this transport's switches have; empty: the fabric's, or those that go with `dcqcn`.
  std::optional<RedProfile> red;
  std::optional<SwitchAsic> asic;
  bool pfc = true;                ///< switches and NICs pause the class of RoCE's data
  bool adaptive_routing = false;  ///< switches choose the uplink of each packet of RoCE's data
  uint32_t qps = 1;               ///< queue pairs of a connection whose workload asks for one

  SackBase sack_base = SackBase::kTrigger;
  bool nack_out_of_window = true;  ///< mandatory in table 7-3; §6.3.1 rule 6: silently dropped

  /// Tests only: every requester starts here instead of at a PSN drawn from the seed.
  std::optional<Psn> first_psn;
  /// Tests only: so many messages, all with immediate, count as done before the first one.
  uint32_t first_msn = 0;

  EvSetLimits ev_limits() const {
    EvSetLimits limits{active_evs, ev_min_active, ev_min_active_share, skip_age_out, skip,
                       {},         avoid_lost};
    if (skip_holds) limits.turn_period = base_rtt;
    if (path_choice == PathChoice::kMrc) return limits;
    limits.skip = limits.avoid_lost = false;
    limits.turn_period = {};
    limits.choice = path_choice;
    limits.frozen = base_rtt * 64;
    return limits;
  }
};

}  // namespace mrclab::endpoint
