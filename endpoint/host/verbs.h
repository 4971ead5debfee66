#pragma once
// The verbs of MRC 1.0: memory, queue pairs, posts, completions and asynchronous events of one host,
// for programs that are no state machine of the host's own (application.h). Names follow the OCP MRC
// API (mrc.h) and ibverbs where they have one; what is a C struct with a mask there is one type per
// transition here, so that an attribute cannot be forgotten. Only RDMA Write and Write-with-Immediate; a queue
// pair of the other transport, RC over RoCEv2, has SENDs as well, into the buffers of receives.
//
//   Device& device = host.device();
//   const CqHandle cq = device.create_completion_queue(256);
//   const MemoryRegion inbox = device.register_memory(memory);       // the peer needs: va, rkey
//   const Qpn qp = device.create_queue_pair({.send_cq = cq, .recv_cq = cq});  // and: qpn, first PSN
//   ...exchange with the peer, out of band...
//   device.modify(qp, InitAttributes{});                             // RESET -> INIT
//   device.modify(qp, ReadyToReceiveAttributes{.remote_address = a, .remote_qpn = q, .rq_psn = p});
//   device.modify(qp, ReadyToSendAttributes{.sq_psn = mine});        // -> RTR -> RTS
//   device.post_receive(qp, 1);               // one per Write-with-Immediate: there is no RNR
//   device.post_write(qp, {.id = 7, .local = bytes, .remote_va = va, .rkey = key, .immediate = 5});
//   ...run the host (WallDriver::poll, a simulator)...
//   WorkCompletion done[16];
//   for (const WorkCompletion& c : device.poll_completions(cq, done)) ...
//   while (const auto event = device.next_async_event()) ...
//
// Pure: nothing here blocks, runs a thread or reads a clock. What is posted starts to leave at the next run_until() of
// the host; completions and events are there after it. Call it from the host's one thread, between run_until() calls or
// as a DeviceUser at fabric time.
//
// Errors: set-up calls throw std::invalid_argument with what was asked, in which state, and what would
// be right; posting returns a PostResult. A failed queue pair completes everything that was posted
// (the write to blame with its reason, the rest flushed) and reports kQpFatal.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "endpoint/base/application.h"
#include "endpoint/base/transport_profile.h"
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
  uint32_t ports = 0;  ///< = planes
};

/// Registered memory: what a peer needs to write to it. The device chooses the address (as with
/// ibv_reg_mr_iova), so that a simulated run does not depend on the process.
struct MemoryRegion {
  uint64_t va = 0;
  uint32_t rkey = 0;
  Bytes size;
};

struct CqHandle {
  uint32_t value = 0xFFFF'FFFF;
  constexpr auto operator<=>(const CqHandle&) const = default;
};

enum class WorkOpcode : uint8_t { kRdmaWrite, kReceiveRdmaWithImmediate, kSend, kReceive };
enum class WorkStatus : uint8_t {
  kSuccess,
  kRetryExceeded,         ///< IBV_WC_RETRY_EXC_ERR
  kRnrRetryExceeded,      ///< IBV_WC_RNR_RETRY_EXC_ERR (RC)
  kRemoteInvalidRequest,  ///< IBV_WC_REM_INV_REQ_ERR
  kRemoteAccessError,     ///< IBV_WC_REM_ACCESS_ERR
  kRemoteOperationError,  ///< IBV_WC_REM_OP_ERR
  kFlushError,            ///< IBV_WC_WR_FLUSH_ERR; a flushed write may have happened
};
std::string_view name_of(WorkStatus status);

/// ibv_wc.
struct WorkCompletion {
  uint64_t wr_id = 0;
  WorkOpcode opcode = WorkOpcode::kRdmaWrite;
  WorkStatus status = WorkStatus::kSuccess;
  Qpn qpn;
  std::optional<uint32_t> immediate;  ///< receives only
  uint32_t byte_len = 0;              ///< receives only: length of the message
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
};
inline constexpr uint32_t kMaxWorkRequests = 2048;

/// mrc_qp_hint_attr: the traffic that the queue pair will see. Kept and returned; it changes
/// nothing.
struct QpHint {
  uint32_t num_qps_per_peer = 0;
  uint32_t num_send_peers = 0;
  uint32_t num_remote_recv_peers = 0;
};

/// To INIT.
struct InitAttributes {
  QpHint hint;
  uint64_t ev_profile_id = 0;  ///< 0: AUTO, the host's own choice of entropy values
  uint64_t cc_profile_id = 0;  ///< 0: the host's
};

/// To RTR: the path to the peer, and what it may send.
struct ReadyToReceiveAttributes {
  Ipv6Address remote_address{};  ///< inner address, the GID of IBV_QP_AV
  Qpn remote_qpn;
  Psn rq_psn;                   ///< the first PSN that the peer will send
  uint16_t max_wimm_dest = 32;  ///< Write-with-Immediate in flight that we take
  uint8_t mpr_dest = 8;         ///< PSN range that we take, in units of 128
  bool dynamic_mpr_dest = false;
  bool service_time_dest = false;  ///< our SACKs carry how long packets waited here (SVC_TIME)
  // RC, which needs none of those four:
  uint32_t port = 0;          ///< its port at both ends, from 0
  uint8_t min_rnr_timer = 1;  ///< our "receiver not ready" asks for this code's time: 0 to 31
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
    kQpFatal,       ///< qpn, reason
    kCqError,       ///< cq: it was full; its queue pairs are in error
    kPortActive,    ///< port
    kPortError,     ///< port: its carrier is gone
    kEvGood,        ///< qpn, ev: back in use
    kEvAssumedBad,  ///< qpn, ev: a packet was lost on it and not trimmed
    kEvDenied,      ///< qpn, ev: the controller took it out of use
  } kind = Kind::kQpFatal;
  FabricTime at;
  Qpn qpn;
  CqHandle cq;
  uint32_t port = 0;
  EntropyValue ev;
  std::string_view reason;
  uint64_t drop_count = 0;  ///< events lost just before this one, the queue being full
};
std::string_view name_of(AsyncEvent::Kind kind);

enum class PostResult : uint8_t {
  kOk,
  kUnknownQp,
  kWrongState,   ///< writes need RTS, receives INIT or later; nothing in error
  kBadLength,    ///< 1 to 2^32 - 1 bytes
  kQueueFull,    ///< max_send_wr or max_recv_wr are outstanding: poll completions
  kUnsupported,  ///< a SEND, which MRC does not have
};

/// A program of the host that runs at fabric time: the device calls it within run_until(), at the instant at which
/// something happened. In on_wake() it may call every function of the device; the other calls come in the middle of
/// what the host does, so a user that wants to act there asks for `wake_at(now())`.
class DeviceUser {
 public:
  virtual ~DeviceUser() = default;
  /// A completion was put into the queue.
  virtual void on_completion(CqHandle) {}
  /// next_async_event() has one.
  virtual void on_async_event() {}
  /// A packet wrote to memory that is reached by an accessor.
  virtual void on_memory_written() {}
  /// An instant that wake_at() named has come. While the host is paused its software stands still, and this call
  /// waits.
  virtual void on_wake() {}
  /// The host lost its power: all queue pairs are in error without a completion, and no call that was asked for comes.
  virtual void on_power_lost() {}
};

class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceAttributes query_device() const = 0;

  /// Null: nobody is called. It outlives the device, or is taken back.
  virtual void set_user(DeviceUser* user) = 0;
  /// Calls DeviceUser::on_wake() at `at`, or now if that is past; once for all requests of one instant that were made
  /// before it.
  virtual void wake_at(FabricTime at) = 0;
  /// The instant of the event in hand, or how far the host has run.
  virtual FabricTime now() const = 0;

  /// Lets peers that have the rkey write to `memory`, which must stay until it is deregistered.
  virtual MemoryRegion register_memory(std::span<uint8_t> memory) = 0;
  /// Refuses writes to the region from here on: remote access error at the writer.
  virtual void deregister_memory(const MemoryRegion& region) = 0;

  /// Holds `depth` completions (1 to 65,536). One that finds it full is lost, with kCqError.
  virtual CqHandle create_completion_queue(uint32_t depth) = 0;
  /// Takes up to out.size() completions, oldest first; the used front of `out`.
  virtual std::span<WorkCompletion> poll_completions(CqHandle cq,
                                                     std::span<WorkCompletion> out) = 0;
  /// Throws while a queue pair uses it.
  virtual void destroy_completion_queue(CqHandle cq) = 0;

  /// Creates it in state RESET. The QPN is random in its upper half, so that old packets reach no
  /// queue pair.
  virtual Qpn create_queue_pair(const QpInitAttributes& attributes) = 0;
  /// A first PSN for the queue pair, drawn from the host's seed (the caller may take any other).
  virtual Psn draw_first_psn(Qpn qpn) = 0;
  virtual void modify(Qpn qpn, const InitAttributes& attributes) = 0;
  virtual void modify(Qpn qpn, const ReadyToReceiveAttributes& attributes) = 0;
  virtual void modify(Qpn qpn, const ReadyToSendAttributes& attributes) = 0;
  /// To ERROR: everything outstanding is flushed.
  virtual void modify_to_error(Qpn qpn) = 0;
  virtual QpAttributes query_queue_pair(Qpn qpn) const = 0;
  /// Destroys it at once; nothing completes any more. The peer gets no report.
  virtual void destroy_queue_pair(Qpn qpn) = 0;

  /// RDMA Write, or by RC a SEND, with immediate if `request.immediate` is set. `request.local` stays the
  /// device's until the completion, which comes when the peer's transport ACK covers the whole message.
  virtual PostResult post_write(Qpn qpn, const WriteRequest& request) = 0;
  /// For one message with immediate or, with a `buffer` that stays valid until its completion, one SEND.
  virtual PostResult post_receive(Qpn qpn, uint64_t wr_id, Memory buffer = {}) = 0;

  virtual std::optional<AsyncEvent> next_async_event() = 0;
};

}  // namespace mrclab::endpoint
