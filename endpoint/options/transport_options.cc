// The table of transport options. A new one is a member of TransportProfile and a line here.

#include <array>

#include "endpoint/base/connection_attributes.h"
#include "endpoint/options/transport_choice.h"

namespace mrclab::endpoint {

namespace {
constexpr int64_t kMaxBytes = 1'000'000'000;

std::vector<std::string> words_with_auto(std::vector<std::string> words) {
  words.insert(words.begin(), "auto");
  return words;
}

/// `word` of words_with_auto().
template <class E>
void set_or_auto(std::optional<E>& member, size_t word) {
  member = word == 0 ? std::nullopt : std::optional(static_cast<E>(word - 1));
}
}  // namespace

std::span<const TransportOption> transport_options() {
  using O = TransportOption;
  using P = TransportProfile;
  static const std::array kOptions{
      O{"spray", "a queue pair uses many paths (MRC paper §2.1); off: one, drawn from the seed",
        O::Switch{&P::spray}},
      O{"path_choice",
        "mrc: marks and losses take values out of the rotation (MRC paper §2.1); oblivious: none "
        "does; reps: values that were answered without a mark are used again (REPS, htsim)",
        O::Word{{"mrc", "oblivious", "reps"},
                [](const P& p) { return static_cast<size_t>(p.path_choice); },
                [](P& p, size_t word) { p.path_choice = static_cast<PathChoice>(word); }}},
      O{"skip",
        "an ECN mark or trim costs an entropy value one turn (MRC specification §9.3.1: SKIP)",
        O::Switch{&P::skip}},
      O{"skip_holds",
        "a value takes fewer of its turns, down to one in 128, the more often it is marked than its "
        "plane (our choice); off: a mark costs one turn (MRC specification §9.3.1)",
        O::Switch{&P::skip_holds}, "off"},
      O{"plane_shares",
        "no plane has more than its share of the window in flight, and a slow one less (our "
        "choice); off: as many packets to each as its port takes",
        O::Switch{&P::plane_shares}, "off"},
      O{"avoid_lost", "an untrimmed loss makes an entropy value ASSUMED_BAD (MRC paper §2.1)",
        O::Switch{&P::avoid_lost}},
      O{"loss_guards",
        "but not the last one of a plane, nor in a plane that loses on whatever path, nor while most packets are "
        "trimmed: those need several losses (our choice); off: one loss (MRC paper §2.1)",
        O::Switch{&P::loss_guards}, "off"},
      O{"ev_probes", "probes bring back what was assumed bad (MRC paper §2.1); off: nothing does",
        O::Switch{&P::ev_probes}},
      O{"selective_acks",
        "senders read the bitmaps of SACKs; off: only their cumulative PSN, so losses are found "
        "by timeouts",
        O::Switch{&P::selective_acks}},
      O{"port_status", "the host reports to peers which ports are down (MRC paper §3)",
        O::Switch{&P::port_status}},
      O{"evs", "entropy values of a queue pair, active and backups (MRC paper §2.4: 128-256)",
        O::Integer{&P::ev_limit, 1, 4096}},
      O{"active_evs", "of them in use at once, equally many per plane (MRC paper §2.4: over 100)",
        O::Integer{&P::active_evs, 1, 4096}},
      O{"ev_min_active",
        "active values never assumed bad, such as 8 or 25% (MRC API: ev_min_active)",
        O::CountOrShare{&P::ev_min_active, &P::ev_min_active_share, 4096}},
      O{"skip_age_out", "an ECN mark or trim older than this costs a value no turn (our choice)",
        O::Time{&P::skip_age_out}},
      O{"congestion_control", "nscc (MRC specification §8: UEC's NSCC) or a fixed window",
        O::Word{{"nscc", "fixed"},
                [](const P& p) { return static_cast<size_t>(p.congestion_control); },
                [](P& p, size_t word) {
                  p.congestion_control = static_cast<CongestionAlgorithm>(word);
                }}},
      O{"ev_profile", "auto, a list of paths, or fields that generate them (MRC API: EV profiles)",
        O::Evs{&P::ev_profile}},
      O{"reverse_probe_interval",
        "EV probes of the way back to a peer that we send no data (MRC paper §2.4: each RTT)",
        O::Time{&P::reverse_probe_interval}},
      O{"sack_port_mask", "send the port mask in SACKs too, in SETH byte 12 (MRC paper §3)",
        O::Switch{&P::sack_port_mask}},
      O{"window_percent", "the fixed window of a destination, in percent of line rate x base RTT",
        O::Integer{&P::window_percent, 1, 1000}},
      O{"window_rule",
        "another packet may go: open: while cwnd > in flight (MRC specification §8.3.1); fits: "
        "while in flight + packet <= cwnd (htsim)",
        O::Word{{"open", "fits"},
                [](const P& p) { return static_cast<size_t>(p.window_rule); },
                [](P& p, size_t word) { p.window_rule = static_cast<WindowRule>(word); }}},
      O{"nscc_rules",
        "even: unmarked delay above target brakes, so a last hop is shared evenly (our "
        "choice); uec: to the letter of UEC 3.6.13",
        O::Word{{"even", "uec"},
                [](const P& p) { return static_cast<size_t>(p.nscc_rules); },
                [](P& p, size_t word) { p.nscc_rules = static_cast<NsccRules>(word); }},
        "uec"},
      O{"receive_shares",
        "a receiver whose ports are full asks each sender for a penalty in proportion to its share (our choice; "
        "the field is MRC's)",
        O::Switch{&P::receive_shares}, "off"},
      O{"buffer_penalty",
        "a receiver whose buffer is a quarter full asks each sender for a smaller window (our choice; the field is "
        "MRC's); off: it answers NO_PKT_BUFFER when full",
        O::Switch{&P::buffer_penalty}, "off"},
      O{"nscc_base_rtt",
        "MRC API base_rtt: longest path, idle, a full packet; lowered by what is measured",
        O::Time{&P::nscc_base_rtt}},
      O{"nscc_target_delay",
        "MRC API target_delay: T = 0.75 base RTT, without trimming 1.0 (UEC p. 390)",
        O::Time{&P::nscc_target_delay}},
      O{"nscc_max_cwnd", "MRC API max_cwnd, bytes, also the first window: 1.5 BDP (UEC p. 390)",
        O::Integer{&P::nscc_max_cwnd, 1, kMaxBytes}},
      O{"nscc_fi", "MRC API fi: fair increase, bytes per RTT: 5 x MSS x BDP / 150 kB (UEC p. 390)",
        O::Integer{&P::nscc_fi, 0, kMaxBytes}},
      O{"nscc_eta", "MRC API eta, bytes per adjust period: 0.15 x MSS x BDP / 150 kB (UEC p. 390)",
        O::Integer{&P::nscc_eta, 0, kMaxBytes}},
      O{"nscc_pi",
        "UEC alpha x T: proportional increase, bytes per RTT without queue delay: 4 x MSS x BDP / "
        "150 kB x T / 12 us",
        O::Integer{&P::nscc_pi, 0, kMaxBytes}},
      O{"nscc_fi_scale_permille",
        "MRC API fi_scale x 1000: fast increase per byte that arrives: 250 x BDP / 150 kB "
        "(UEC); 0: none",
        O::Integer{&P::nscc_fi_scale_permille, 0, 1'000'000}},
      O{"nscc_gamma", "MRC API gamma: strength of the multiplicative decrease (UEC: 0.8)",
        O::Share{&P::nscc_gamma}},
      O{"nscc_max_md_jump", "MRC API max_md_jump: share that a decrease leaves (UEC: 0.5)",
        O::Share{&P::nscc_max_md_jump}},
      O{"nscc_delay_alpha", "weight of a sample in the average delay (htsim: 0.0125)",
        O::Share{&P::nscc_delay_alpha}},
      O{"nscc_clear_delay",
        "queue delay below which a path counts as empty: base RTT / 12 (htsim: 1 us of 12)",
        O::Time{&P::nscc_clear_delay}},
      O{"nscc_adjust_bytes", "MRC API adjust_bytes_threshold: 8 MTU",
        O::Integer{&P::nscc_adjust_bytes, 0, kMaxBytes}},
      O{"nscc_adjust_period", "MRC API adjust_period_threshold: base RTT",
        O::Time{&P::nscc_adjust_period}},
      O{"nscc_qa_gate", "MRC API qa_gate: quick adapt below the largest window >> gate (UEC: 3)",
        O::Integer{&P::nscc_qa_gate, 0, 31}},
      O{"nscc_qa_threshold",
        "MRC API qa_threshold: delay that triggers quick adapt: 4 T (htsim), with trimming never",
        O::Time{&P::nscc_qa_threshold}},
      O{"nscc_disable_qa", "MRC API disable_qa", O::Switch{&P::nscc_disable_qa}},
      O{"receiver_penalty", "a sender applies the receiver's window penalty and restore (off: not)",
        O::Switch{&P::receiver_penalty}},
      O{"receive_rate",
        "what a NIC moves to memory, of payload, such as 400Gb/s (our choice: unlimited, at once)",
        O::Rate{&P::receive_rate}},
      O{"receive_buffer",
        "bytes between a NIC's ports and memory: from a quarter on it asks for a smaller "
        "window (buffer_penalty), and full it answers NO_PKT_BUFFER (our choice: line rate x base RTT)",
        O::Integer{&P::receive_buffer, 4096, kMaxBytes}},
      O{"receive_bitmaps",
        "units of 128 PSNs that a NIC's queue pairs share: with dynamic_mpr they are offered what "
        "is "
        "left, and without any the answer is NO_BITMAP (our choice: 0, each has its own)",
        O::Integer{&P::receive_bitmaps, 0, 1 << 20}},
      O{"ack_timeout", "local ACK timeout of a packet (MRC API: 1.024 us x 2^n; its examples: 2^8)",
        O::Time{&P::ack_timeout}},
      O{"reorder_window",
        "a packet is lost when one sent this much later has arrived (base RTT + 0.75 base RTT; "
        "wider after a loss that was none)",
        O::Time{&P::reorder_window}},
      O{"tail_probe", "silence after which a probe asks what has arrived (2 reorder windows)",
        O::Time{&P::tail_probe}},
      O{"linear_retries", "timeouts in a row at that interval (MRC API: at most 7)",
        O::Integer{&P::linear_retries, 0, RetryPolicy::kMaxLinear}},
      O{"exponential_retries",
        "timeouts after those, each twice as long, before the queue pair fails (MRC API: 25: "
        "never; production: 13, which is after 4.3 s, our choice)",
        O::Integer{&P::exponential_retries, 0, RetryPolicy::kMaxExponential}},
      O{"max_psn_range", "PSNs in flight, rounded down to units of 128 (MRC specification: MPR)",
        O::Integer{&P::max_psn_range, kMprUnit, kMaxMprUnits * kMprUnit}},
      O{"max_wimm", "Write-with-Immediate messages in flight (MRC specification: MAX_WIMM)",
        O::Integer{&P::max_immediates, 1, 0x7FFF}},
      O{"dynamic_mpr", "a destination may shrink the PSN range by its SACKs (MRC specification)",
        O::Switch{&P::dynamic_mpr}},
      O{"trim_nack", "trims are answered by NACKs; off: data in a class that is not trimmed",
        O::Switch{&P::trim_nack}},
      O{"service_time",
        "SACKs carry how long packets waited for their receiver's software (MRC specification: "
        "SVC_TIME)",
        O::Switch{&P::service_time}},
      O{"sack_threshold", "bytes per SACK (UEC: 16 KiB at PMTU 4096; MRC: implementation-defined)",
        O::Integer{&P::sack_threshold, 0, 1 << 24}},
      O{"sack_base",
        "first PSN of a SACK's bitmap: around its trigger, the newest, or cumulative+1, "
        "which keeps senders within the bitmap's 64 PSNs",
        O::Word{{"trigger", "newest", "cumulative"},
                [](const P& p) { return static_cast<size_t>(p.sack_base); },
                [](P& p, size_t word) { p.sack_base = static_cast<SackBase>(word); }}},
      O{"out_of_window", "a PSN ahead of the window: NACK (MRC table 7-3) or silence (§6.3.1)",
        O::Word{{"nack", "drop"},
                [](const P& p) -> size_t { return p.nack_out_of_window ? 0 : 1; },
                [](P& p, size_t word) { p.nack_out_of_window = word == 0; }}},
      O{"qps", "queue pairs of each connection whose workload sets no other number",
        O::Integer{&P::qps, 1, 64}},
      O{"recovery",
        "RoCE: after a loss RC retransmits everything from there, or with a receiver that keeps up "
        "to 64 packets ahead (htsim), or places a whole window in any order (NVIDIA: data "
        "placement out of order), only what is missing",
        O::Word{{"go_back_n", "selective", "placing"},
                [](const P& p) { return static_cast<size_t>(p.recovery); },
                [](P& p, size_t word) { p.recovery = static_cast<RcRecovery>(word); }}},
      O{"reorder",
        "RoCE: PSNs that a selective receiver waits for a missing packet before it sends a NAK",
        O::Integer{&P::reorder, 0, 8191}},
      O{"rc_window", "RoCE: PSNs in flight of a queue pair (ConnectX-6 Dx: 128; our choice: 2 BDP)",
        O::Integer{&P::rc_window, 1, 8192}},
      O{"rc_ack_every", "RoCE: every so many packets ask for an ACK (rdma_rxe: 66; our choice: 16)",
        O::Integer{&P::rc_ack_every, 1, 8192}},
      O{"timers",
        "RoCE: whose ACK timer: a ConnectX's, with its adaptive phase and floor of 0.5 s, or without; exactly "
        "4.096 us x 2^T (rdma_rxe); compressed: rc_ack_timeout, for a run that stands for more time "
        "(endpoint/roce/rc_timers.h)",
        O::Word{{"connectx", "connectx_no_floor", "exact", "compressed"},
                [](const P& p) { return static_cast<size_t>(p.timers); },
                [](P& p, size_t word) { p.timers = static_cast<RcTimers>(word); }}},
      O{"rc_timeout", "RoCE: T of the ACK timeout, 4.096 us x 2^T (NCCL: 20); 0: none",
        O::Integer{&P::rc_timeout, 0, 31}},
      O{"rc_ack_timeout", "RoCE: compressed ACK timeout of a queue pair (our choice: 32 base RTT)",
        O::Time{&P::rc_ack_timeout}},
      O{"rc_timer",
        "RoCE: compressed timers, fixed: that long; connectx: six steps of 1 to 24 eighths of it, then 8 times "
        "it, as a ConnectX-6 was seen to (public measurement, 2026; in eighths: our choice)",
        O::Word{{"fixed", "connectx"},
                [](const P& p) { return static_cast<size_t>(p.rc_timer); },
                [](P& p, size_t word) { p.rc_timer = static_cast<RcTimer>(word); }}},
      O{"rc_rnr_retries",
        "RoCE: retries in a row after \"receiver not ready\"; 7: without end (ibverbs; NCCL: 7)",
        O::Integer{&P::rc_rnr_retries, 0, 7}},
      O{"rc_retries", "RoCE: timeouts without progress before a queue pair fails (NCCL: 7)",
        O::Integer{&P::rc_retries, 0, 7}},
      O{"dcqcn",
        "RoCE: DCQCN's parameters: the paper's, NVIDIA's firmware defaults, the HPCC simulator's, "
        "or firmware that lets rates come back more slowly (our choice)",
        O::Word{{"off", "paper", "firmware", "hpcc", "aggressive", "most_aggressive"},
                [](const P& p) { return static_cast<size_t>(p.dcqcn); },
                [](P& p, size_t word) { p.dcqcn = static_cast<DcqcnChoice>(word); }}},
      O{"dcqcn_scaled",
        "RoCE: DCQCN's rates and timers are made for this port rate and base RTT (our choice); "
        "off: as their sources have them, at 40 or 100 Gb/s",
        O::Switch{&P::dcqcn_scaled}},
      O{"dcqcn_g", "RoCE: DCQCN's g in parts of 1024; this and the next, 0: as `dcqcn` has it here",
        O::Integer{&P::dcqcn_g, 0, 1024}},
      O{"dcqcn_alpha_period", "RoCE: between two updates of DCQCN's alpha",
        O::Time{&P::dcqcn_alpha_period}},
      O{"dcqcn_cut_period", "RoCE: between two cuts of a rate (firmware's order of steps)",
        O::Time{&P::dcqcn_cut_period}},
      O{"dcqcn_increase_period", "RoCE: between two increases by DCQCN's timer",
        O::Time{&P::dcqcn_increase_period}},
      O{"dcqcn_increase_bytes", "RoCE: bytes between two increases by DCQCN's byte counter",
        O::Integer{&P::dcqcn_increase_bytes, 0, kMaxBytes}},
      O{"dcqcn_fast_recovery", "RoCE: DCQCN's increases that only recover (F)",
        O::Integer{&P::dcqcn_fast_recovery, 0, 100}},
      O{"dcqcn_additive", "RoCE: DCQCN's additive increase (R_AI)", O::Rate{&P::dcqcn_additive}},
      O{"dcqcn_hyper", "RoCE: DCQCN's hyper increase (R_HAI)", O::Rate{&P::dcqcn_hyper}},
      O{"dcqcn_least", "RoCE: the least rate of a queue pair", O::Rate{&P::dcqcn_least}},
      O{"cnp_interval", "RoCE: least time between two CNPs (NVIDIA's firmware: 4 us; paper: 50 us)",
        O::Time{&P::cnp_interval}},
      O{"cnp_scope",
        "RoCE: that time is between CNPs of a port (NVIDIA's firmware), to a host, or of a queue pair "
        "(paper); as `dcqcn` if absent",
        O::Word{{"port", "destination", "qp"},
                [](const P& p) { return static_cast<size_t>(p.cnp_scope); },
                [](P& p, size_t word) { p.cnp_scope = static_cast<CnpScope>(word); }}},
      O{"red",
        "RoCE: thresholds of switches' marks, in place of the fabric's: HPCC's, SimAI's, DCQCN's paper's "
        "(fabric/asic/red_profile.h); auto: the fabric's, or with `dcqcn: hpcc` HPCC's",
        O::Word{words_with_auto(red_profile_names()),
                [](const P& p) { return p.red ? static_cast<size_t>(*p.red) + 1 : 0; },
                [](P& p, size_t word) { set_or_auto(p.red, word); }}},
      O{"asic",
        "RoCE: switches have the buffer of this ASIC, in place of the fabric's (fabric/asic/"
        "switch_buffer.h); auto: the fabric's, or with `dcqcn: hpcc` HPCC's",
        O::Word{words_with_auto(asic_names()),
                [](const P& p) { return p.asic ? static_cast<size_t>(*p.asic) + 1 : 0; },
                [](P& p, size_t word) { set_or_auto(p.asic, word); }}},
      O{"pfc", "RoCE: switches and NICs pause the class of its data before it overflows (802.1Qbb)",
        O::Switch{&P::pfc}},
      O{"adaptive_routing",
        "RoCE: switches send each packet to the uplink with the shortest queue; needs a receiver "
        "that is selective and patient (recovery, reorder)",
        O::Switch{&P::adaptive_routing}},
      O{"gid_after_flap",
        "when all ports of a NIC were down, the host's address comes back at the same entries of its "
        "table of GIDs, or at others, with GID_CHANGE (NCCL's issue 2157); for programs of RDMA",
        O::Word{{"kept", "moved"},
                [](const P& p) -> size_t { return p.gid_moves ? 1 : 0; },
                [](P& p, size_t word) { p.gid_moves = word == 1; }}},
      O{"icrc", "compute and verify the ICRC of every packet", O::Switch{&P::icrc}},
  };
  return kOptions;
}

std::string letter_options() {
  std::string text;
  for (const TransportOption& option : transport_options()) {
    if (option.letter.empty()) continue;
    text +=
        (text.empty() ? "" : ", ") + std::string(option.name) + ": " + std::string(option.letter);
  }
  return text;
}

}  // namespace mrclab::endpoint
