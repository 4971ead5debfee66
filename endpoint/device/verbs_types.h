#pragma once
// The values of the verbs of a host (endpoint/host/verbs.h): attributes, work, completions, events. Names follow the OCP
// MRC API (mrc.h) and ibverbs where they have one.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "endpoint/base/access_flags.h"
#include "endpoint/base/ev_profile.h"
#include "endpoint/base/memory.h"
#include "endpoint/base/region_access.h"
#include "endpoint/base/transport_profile.h"
#include "endpoint/paths/ev_events.h"
#include "fabric/packet/headers.h"

namespace mrclab::endpoint {

/// What the device can do (mrc_device_attr).
struct DeviceAttributes {
  uint32_t protocol_versions = 1;  ///< bit map; bit 0 is version 1
  uint16_t max_wimm = 0;           ///< Write-with-Immediate in flight, as requester
  uint16_t max_wimm_dest = 0;      ///< the same, as responder
  uint8_t max_mpr = 0;             ///< units of 128 PSNs
  uint8_t mpr_resolution = 1;
  bool dynamic_mpr = false;
  uint32_t max_queue_pairs = 0;
  uint32_t max_memory_regions = 0;
  uint32_t max_completion_queues = 0;
  uint32_t max_completions = 0;  ///< that one completion queue holds
  uint32_t max_shared_receive_queues = 0;
  uint32_t ports = 0;  ///< = planes
};

/// A port of the NIC is one of ibverbs to libmrc; to ibverbs all of them are one port.
struct PortAttributes {
  bool active = false;      ///< a port has light
  uint32_t live_ports = 0;  ///< bit map
  /// Bit map of the entries of the GID table that hold the host's address (Device::set_gid_moves).
  uint32_t gids = 0xF;
};

/// Registered memory: what a peer needs to reach it. The local key is the same as the remote one. The device chooses
/// the address of memory of this process, so that a simulated run does not depend on the process.
struct MemoryRegion {
  uint64_t va = 0;
  uint32_t rkey = 0;
  Bytes size;
};

struct CqHandle {
  uint32_t value = 0xFFFF'FFFF;
  constexpr auto operator<=>(const CqHandle&) const = default;
};
struct SrqHandle {
  uint32_t value = 0xFFFF'FFFF;
  constexpr auto operator<=>(const SrqHandle&) const = default;
};

/// ibv_wc_opcode.
enum class WorkOpcode : uint8_t {
  kRdmaWrite,
  kReceiveRdmaWithImmediate,
  kSend,
  kReceive,
  kRdmaRead,
  kFetchAdd,
  kCompareSwap,
};
enum class WorkStatus : uint8_t {
  kSuccess,
  kRetryExceeded,         ///< IBV_WC_RETRY_EXC_ERR
  kRnrRetryExceeded,      ///< IBV_WC_RNR_RETRY_EXC_ERR (RC)
  kRemoteInvalidRequest,  ///< IBV_WC_REM_INV_REQ_ERR
  kRemoteAccessError,     ///< IBV_WC_REM_ACCESS_ERR
  kRemoteOperationError,  ///< IBV_WC_REM_OP_ERR
  kFlushError,            ///< IBV_WC_WR_FLUSH_ERR; a flushed write may have happened
  kLocalLength,           ///< IBV_WC_LOC_LEN_ERR: a message that is longer than its receive
  kLocalQpOperation,      ///< IBV_WC_LOC_QP_OP_ERR
  kLocalProtection,       ///< IBV_WC_LOC_PROT_ERR
  kLocalAccess,           ///< IBV_WC_LOC_ACCESS_ERR: where the peer may not write (RC)
};
std::string_view name_of(WorkStatus status);

/// ibv_wc.
struct WorkCompletion {
  uint64_t wr_id = 0;
  WorkOpcode opcode = WorkOpcode::kRdmaWrite;
  WorkStatus status = WorkStatus::kSuccess;
  Qpn qpn;
  Qpn source_qpn;                     ///< receives only: the peer's
  std::optional<uint32_t> immediate;  ///< receives only
  /// Receives: length of the message; READs and atomics: of what came back.
  uint32_t byte_len = 0;
  bool solicited = false;  ///< receives only: the sender asked for an event
};

/// A piece of memory that an accessor reaches, which outlives the work.
struct MemoryPiece {
  RegionAccess* access = nullptr;
  uint64_t offset = 0;  ///< the accessor's
  uint32_t length = 0;
};

/// ibv_send_wr, checked by whoever posts: addresses and keys of the host's own memory mean nothing to the device.
struct WorkRequest {
  enum class Opcode : uint8_t { kWrite, kSend, kRead, kFetchAdd, kCompareSwap };
  uint64_t id = 0;
  Opcode opcode = Opcode::kWrite;
  std::optional<uint32_t> immediate = {};  ///< of WRITEs and SENDs
  bool signaled = true;                    ///< false: only a failure completes
  bool solicited = false;
  bool fence = false;  ///< starts after the READs and atomics before it
  /// What a WRITE or SEND sends, 0 to 2^32 - 1 bytes. It stays valid until the completion, or is held by `storage`.
  ConstMemory local = {};
  std::unique_ptr<uint8_t[]> storage = {};
  /// Where a READ, or the 8 bytes of an atomic's old value in host order, goes.
  std::vector<MemoryPiece> into = {};
  uint64_t remote_va = 0;
  uint32_t rkey = 0;
  uint64_t compare_add = 0, swap = 0;  ///< atomics
  /// It cannot be executed here: it completes so, in its turn, and ends the queue pair.
  std::optional<WorkStatus> local_error = {};
};

/// ibv_recv_wr.
struct ReceiveRequest {
  uint64_t id = 0;
  std::vector<MemoryPiece> pieces = {};  ///< none: for immediates, and SENDs of no bytes
  /// A message that uses it up fails so.
  std::optional<WorkStatus> local_error = {};
};

struct SrqAttributes {
  uint32_t max_wr = 1024;  ///< at most kMaxWorkRequests
  uint32_t limit = 0;      ///< kSrqLimit once when fewer receives are left; 0: not asked for
};

/// ibv_qp_state without SQD and SQE, which MRC does not have.
enum class QpState : uint8_t { kReset, kInit, kReadyToReceive, kReadyToSend, kError };
std::string_view name_of(QpState state);

/// mrc_qp_init_attr.
struct QpInitAttributes {
  CqHandle send_cq;
  CqHandle recv_cq;
  uint32_t max_send_wr = 1024;  ///< at most kMaxWorkRequests
  uint32_t max_recv_wr = 1024;
  uint32_t protocol_version = 0;  ///< 0: the device's; 1
  TransportKind transport = TransportKind::kMrc;
  uint32_t domain = 0;                ///< protection domain: reaches only regions of the same one
  std::optional<SrqHandle> srq = {};  ///< its receives come from there
};
inline constexpr uint32_t kMaxWorkRequests = 2048;
inline constexpr uint8_t kMaxReads = 16;  ///< READs and atomics of a queue pair under way

/// mrc_qp_hint_attr: the traffic that the queue pair will see. Kept and returned; it changes
/// nothing.
struct QpHint {
  uint32_t num_qps_per_peer = 0;
  uint32_t num_send_peers = 0;
  uint32_t num_remote_recv_peers = 0;
};

/// To INIT.
struct InitAttributes {
  AccessFlags access =
      AccessFlags::all();  ///< what the peer may do, where a region allows it as well
  QpHint hint = {};
  uint64_t ev_profile_id =
      0;  ///< 0: AUTO, the host's own choice of entropy values; modify_ev_profile()
  uint64_t cc_profile_id = 0;  ///< 0: the host's
};

/// To RTR: the path to the peer, and what it may send.
struct ReadyToReceiveAttributes {
  Ipv6Address
      remote_address{};  ///< inner address, the GID of IBV_QP_AV; its own: the NIC loops packets back
  Qpn remote_qpn;
  Psn rq_psn;                   ///< the first PSN that the peer will send
  uint16_t max_wimm_dest = 32;  ///< Write-with-Immediate in flight that we take
  uint8_t mpr_dest = 8;         ///< PSN range that we take, in units of 128
  bool dynamic_mpr_dest = false;
  bool service_time_dest = false;  ///< our SACKs carry how long packets waited here (SVC_TIME)
  // RC, which needs none of those four:
  uint32_t port = 0;          ///< its port at both ends, from 0
  uint8_t min_rnr_timer = 1;  ///< our "receiver not ready" asks for this code's time: 0 to 31
  uint8_t max_dest_rd_atomic =
      kMaxReads;  ///< READs and atomics of the peer that we answer at once, RC
};

/// To RTS: how we send.
struct ReadyToSendAttributes {
  Psn sq_psn;                 ///< the first PSN that we send
  uint16_t max_wimm = 32;     ///< Write-with-Immediate in flight that we send
  uint8_t mpr = 8;            ///< PSN range that we send with, in units of 128
  bool service_time = false;  ///< the peer's SACKs carry that
  uint8_t timeout = 0;        ///< ACK timeout = 1.024 us x 2^timeout, at most 24; 0: the profile's
  struct Retry {
    uint8_t linear_cnt = 7;  ///< at most 7
    uint8_t exp_cnt = 3;     ///< at most 25, which means for ever
  } retry;                   ///< RC: linear_cnt alone; its ACK timeout is 4.096 us x 2^timeout
  uint8_t rnr_retry = 7;     ///< RC: at most 7, which means for ever
  uint8_t max_rd_atomic = kMaxReads;  ///< READs and atomics that we have under way, RC
};

/// mrc_query_qp.
struct QpAttributes {
  QpState state = QpState::kReset;
  QpInitAttributes init_attributes;
  InitAttributes init;
  ReadyToReceiveAttributes receive;
  ReadyToSendAttributes send;
};

/// What happened beside completions (ibv_async_event and the MRC API's EV events).
struct AsyncEvent {
  enum class Kind : uint8_t {
    kQpFatal,          ///< qpn, reason
    kQpRequestError,   ///< qpn, reason: the peer sent what no rule allows
    kQpAccessError,    ///< qpn, reason: the peer accessed what it may not
    kCommEstablished,  ///< qpn: a packet came in while it was in RTR
    kCqError,          ///< cq: it was full; its queue pairs are in error
    kSrqLimit,         ///< srq: fewer receives than its limit are left
    kLastWqe,          ///< qpn: in error, and it takes no receive of its SRQ any more
    kPortActive,       ///< port
    kPortError,        ///< port: its carrier is gone
    kGidChange,        ///< the host's address has moved in the table of GIDs
    kEvGood,           ///< qpn, ev: back in use
    kEvAssumedBad,     ///< qpn, ev: a packet was lost on it and not trimmed
    kEvDenied,         ///< qpn, ev: the controller took it out of use
  } kind = Kind::kQpFatal;
  FabricTime at;
  Qpn qpn;
  CqHandle cq;
  SrqHandle srq;
  uint32_t port = 0;
  EntropyValue ev;
  std::string_view reason;
  /// A completion has the reason, too, or the user asked for it: ibverbs reports no event then.
  bool in_completion = false;
  /// kPortActive: the first of all, kPortError: the last. These are the events of ibverbs' one port.
  bool whole_nic = false;
  uint64_t drop_count = 0;  ///< events lost just before this one, the queue being full
};
std::string_view name_of(AsyncEvent::Kind kind);

/// A list of entropy values that queue pairs may use (mrc_ctl.h). Profile 0 is AUTO.
struct EvProfileAttributes {
  enum class State : uint8_t { kInit, kOffline, kOnline } state = State::kInit;
  EvProfile::Mode mode = EvProfile::Mode::kAuto;
  std::vector<EntropyValue> values = {};  ///< kExplicit: 1 to EvProfile::kMaxValues
  uint32_t users = 0;                     ///< queue pairs
};
struct CcProfileAttributes {
  std::string_view algorithm;  ///< "uet-1.0-nscc"; empty: nobody's standard
};

/// The answer to a probe of a path, or that there was none.
struct PathProbe {
  uint64_t request = 0;
  EntropyValue ev;
  std::optional<FabricTime> rtt;
};

enum class PostResult : uint8_t {
  kOk,
  kUnknownQp,
  kWrongState,   ///< writes need RTS, receives INIT or later; nothing in error
  kBadLength,    ///< more than 2^32 - 1 bytes
  kQueueFull,    ///< max_send_wr or max_recv_wr are outstanding: poll completions
  kUnsupported,  ///< a SEND, READ or atomic, which MRC does not have; a receive beside an SRQ
};

}  // namespace mrclab::endpoint
