#pragma once
// What a node or a wire can be made to do from an instant on. faults/ compiles faults into these;
// the nodes that are concerned execute them at exact fabric time.
//
// Every effect is an absolute state of one target, so that replaying effects needs no memory, and
// one whose state is the default is as built: what undoes any fault. Only a burst and the failure
// of queue pairs are no states: they happen once. Who executes what:
//
//   wire_state, wire_loss, wire_errors, wire_delay, wire_duplicates, wire_rate, wire_codewords
//                                 the sender (fabric/node/wire_model.h); both ends get it
//   port_carrier                  the port's own node
//   ev_denial, host_state, host_drain, host_burst, host_storm, host_attack,
//   host_verbs                                                                   the host
//   switch_state, switch_errors, switch_route, switch_trim, switch_ecn, switch_buffer  the switch

#include <cstdint>
#include <variant>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"

namespace mrclab {

/// A directed wire stops or starts to carry light. The sender does not notice.
struct WireState {
  WireId wire = {};
  bool up = true;
  bool operator==(const WireState&) const = default;
};

/// How a wire chooses the frames that it loses.
enum class LossKind : uint8_t {
  kNone,
  kRandom,    ///< each with probability `loss`
  kBursty,    ///< Gilbert-Elliott: in the bad state each with `loss`, in the good state none
  kEveryNth,  ///< the n-th, 2n-th, ... frame that starts
};

/// A directed wire loses frames; neither end notices. Losses of all frames and losses of one
/// entropy value are separate targets on the same wire and work side by side; those of all frames
/// are decided first.
struct WireLoss {
  WireId wire;
  bool one_ev = false;  ///< only data frames of `ev` are concerned (and counted, and drawn for)
  EntropyValue ev = {};
  LossKind kind = LossKind::kNone;
  Probability loss = {};
  Probability enter_bad = {};  ///< kBursty: per frame, from the good state to the bad one
  Probability leave_bad = {};  ///< kBursty: per frame, back
  uint32_t every = 0;          ///< kEveryNth
  bool operator==(const WireLoss&) const = default;
};
/// Every frame is lost with probability `loss`; zero: as built.
constexpr WireLoss random_loss(WireId wire, Probability loss) {
  WireLoss result;
  result.wire = wire;
  result.kind = loss.ppb > 0 ? LossKind::kRandom : LossKind::kNone;
  result.loss = loss;
  return result;
}

/// Bits flip on a directed wire; the receiving port's frame check finds them and drops the frame.
struct WireErrors {
  WireId wire = {};
  BitErrorRate rate = {};
  bool operator==(const WireErrors&) const = default;
};

/// A share of the frames takes longer over a directed wire: `fixed`, plus up to `jitter`, uniform.
struct WireDelay {
  WireId wire = {};
  FabricTime fixed = {};
  FabricTime jitter = {};
  Probability share = {};  ///< share of the frames that are delayed; zero: as built
  bool overtaken = false;  ///< later frames may arrive earlier; else they wait behind
  bool operator==(const WireDelay&) const = default;
};

/// A directed wire carries a share of the frames twice, one right behind the other.
struct WireDuplicates {
  WireId wire = {};
  Probability share = {};
  bool operator==(const WireDuplicates&) const = default;
};

/// The rate of a directed wire, from the next frame that starts on; zero: the link's own.
struct WireRate {
  WireId wire = {};
  BitRate rate = {};
  bool operator==(const WireRate&) const = default;
};

/// What a port itself sees: carrier lost or back. A port without carrier does not start frames.
struct PortCarrier {
  PortRef port = {};
  bool up = true;
  bool operator==(const PortCarrier&) const = default;
};

/// A controller denies an entropy value on a host, or allows it again (MRC API: DENIED, GOOD).
struct EvDenial {
  NodeId host = {};
  EntropyValue ev = {};
  NodeId toward = {};  ///< only toward this host; invalid: toward every one
  bool denied = false;
  bool operator==(const EvDenial&) const = default;
};

/// How well a switch works. The worse counts where several faults meet.
enum class SwitchWork : uint8_t {
  kForwarding,
  kNoTable,  ///< booted, ports up, table not loaded yet: no route for anything
  kHung,     ///< ports up, takes every frame in and forwards none; what it had queued is lost
  kDown,     ///< no power: queues and counters of the pipeline lost, ports dark (by PortCarrier)
};
struct SwitchState {
  NodeId node = {};
  SwitchWork work = SwitchWork::kForwarding;
  bool operator==(const SwitchState&) const = default;
};

/// Bits flip inside a switch, behind its ingress frame check: the frame leaves with a good frame
/// check, and only the ICRC at the receiving host can find it.
struct SwitchErrors {
  NodeId node = {};
  BitErrorRate rate = {};
  bool operator==(const SwitchErrors&) const = default;
};

/// The route of a switch for one uSID.
enum class RouteKind : uint8_t { kAsBuilt, kMissing, kWrong };
struct SwitchRoute {
  NodeId node = {};
  Usid usid = {};
  RouteKind kind = RouteKind::kAsBuilt;
  PortId port = {};  ///< kWrong: leads here
  bool operator==(const SwitchRoute&) const = default;
};

/// Trimming, on all ports of a switch; without it what is too much is dropped.
struct SwitchTrim {
  NodeId node = {};
  bool off = false;
  bool operator==(const SwitchTrim&) const = default;
};

/// ECN marking, on the ports of a switch that may mark.
enum class EcnKind : uint8_t { kAsBuilt, kOff, kAlways };
struct SwitchEcn {
  NodeId node = {};
  EcnKind kind = EcnKind::kAsBuilt;
  bool operator==(const SwitchEcn&) const = default;
};

/// A switch has lost some of its buffer: every threshold of its queues shrinks by this share.
struct SwitchBuffer {
  NodeId node = {};
  Probability lost = {};
  bool operator==(const SwitchBuffer&) const = default;
};

/// How well a host works. The worse counts where several faults meet.
enum class HostWork : uint8_t {
  kRunning,
  kPaused,  ///< its applications do nothing; the NIC goes on with what it has been given
  kDown,    ///< no power: queue pairs, applications and memory are gone and do not come back
};
struct HostState {
  NodeId host = {};
  HostWork work = HostWork::kRunning;
  bool operator==(const HostState&) const = default;
};

/// How fast a host's NIC moves what it has received to memory. The worse counts where several faults
/// meet; a NIC that is slower as built stays so.
enum class DrainKind : uint8_t { kAsBuilt, kSlow, kStalled };
struct HostDrain {
  NodeId host = {};
  DrainKind kind = DrainKind::kAsBuilt;
  BitRate rate = {};  ///< kSlow: of payload
  bool operator==(const HostDrain&) const = default;
};

/// A host sends `size` bytes of datagrams that are no MRC to another, over all ports as fast as they
/// go, without any congestion control. Happens once.
struct HostBurst {
  NodeId host = {};
  NodeId toward = {};
  Bytes size = {};
  bool operator==(const HostBurst&) const = default;
};

/// A NIC pauses RoCE's data at all its ports without end: a stuck receive pipeline (Guo et al., SIGCOMM 2016
/// §4.3).
struct HostStorm {
  NodeId host = {};
  bool storming = false;
  bool operator==(const HostStorm&) const = default;
};

/// What a host does that it should not. Datagrams are sent over all ports, at `rate` together, without any congestion
/// control.
enum class AttackKind : uint8_t {
  kLoop,  ///< datagrams with carriers as long as one container holds: up and down again, then to `toward`
  kTenant,  ///< datagrams to a host of another tenant
  kSpoof,   ///< datagrams with the address of another host as their source
  kProbes,  ///< MRC's probe requests, which the receiver answers
  kFlood,   ///< datagrams to a host that it may send to
  kNoEcn,   ///< its transport does not react to congestion on the way to `toward`
};
struct HostAttack {
  NodeId host = {};
  NodeId toward = {};
  AttackKind kind = AttackKind::kLoop;
  BitRate rate = {};  ///< of wire bytes; zero: as built. kNoEcn: any
  bool operator==(const HostAttack&) const = default;
};

/// The Reed-Solomon code of a wire: of 100 Gb/s lanes and faster, of 25 Gb/s lanes, of low latency.
enum class FecCode : uint8_t { kNone, kKp4, kKr4, kLl };
/// Bits flip on a directed wire whose ends correct errors: whole codewords are lost, each with all frames that have a
/// bit in it (fabric/node/fec_code.h). Beside WireErrors, which are errors that no code has seen.
struct WireCodewords {
  WireId wire = {};
  FecCode code = FecCode::kNone;
  BitErrorRate rate = {};        ///< before the correction
  Probability propagation = {};  ///< that an error of the line is followed by another
  uint32_t seed = 0;             ///< of the draws: which codewords are lost
  bool operator==(const WireCodewords&) const = default;
};

/// What work of a queue pair that a fault ends completes with: the oldest that it sends, all else is flushed. With kFatal
/// everything is flushed, and the program gets the event alone (ibverbs: IBV_WC_*, IBV_EVENT_QP_FATAL).
enum class VerbsStatus : uint8_t {
  kNone,
  kFatal,
  kRetryExceeded,
  kRnrRetryExceeded,
  kRemoteAccess,
  kRemoteInvalidRequest,
  kRemoteOperation,
  kLocalProtection,
  kLocalLength,
};
/// A NIC ends queue pairs of its host without a reason that a packet could show. Happens once.
struct HostVerbs {
  NodeId host = {};
  uint32_t qp = 0;  ///< the low 12 bits of its number; 0: all of the host's
  VerbsStatus status = VerbsStatus::kNone;
  bool operator==(const HostVerbs&) const = default;
};

using Effect = std::variant<WireState, WireLoss, WireErrors, WireDelay, WireDuplicates, WireRate,
                            PortCarrier, EvDenial, SwitchState, SwitchErrors, SwitchRoute,
                            SwitchTrim, SwitchEcn, SwitchBuffer, HostState, HostBurst, HostDrain,
                            HostStorm, WireCodewords, HostAttack, HostVerbs>;

/// No extra delay of a wire is longer than this (our choice: a hundred base RTTs): bounds what a
/// receiver must remember.
inline constexpr FabricTime kMaxWireDelay = FabricTime::from_ms(1);
/// Our choice: more than an RTT of a whole NIC, less than what a frame pool holds.
inline constexpr Bytes kMaxBurst{16u << 20};

/// One line of a fault schedule. Equal instants keep the order of `sequence`.
struct ScheduledEffect {
  FabricTime at;
  Effect effect;
  uint64_t sequence = 0;  ///< unique within a run: the tie-break of the node's event order
  uint32_t fault = 0;     ///< index of the fault (in the run's list) that this belongs to
  bool heals = false;     ///< part of the fault's undo
};

}  // namespace mrclab
