#pragma once
// What the verbs libraries in a program and the host's daemon (or the simulator) send each other: plain structs over a
// SOCK_SEQPACKET socket, one request and one reply per message, both ends on one machine and of one build. Each is
// hostile until it is parsed: the server reads a struct only from a message of at least its size, and no length, count,
// handle or address in it is believed.
//
//   program                                        server
//     hello (its /proc/self/mem as a descriptor) ->
//                                      <- device, host, mode, time; descriptors: WorkRing, events
//     create_cq, create_qp, modify ... ->
//                                      <- handle; of a completion queue its ring as a descriptor
//     work requests: records in the WorkRing, without a message (ring.h)
//     completions:   entries in the ring of their completion queue, without a message (ring.h)
//
// In mode kWall the server takes what it finds at its ticks. In mode kHeld (verbs/held/README.md) fabric time stands
// while the program runs: it passes at requests alone. Each request says how much of it the program has used up by
// itself since the last reply (`spent_ps`: calls that need no answer, reads of a clock, declared computing); the server
// answers when the host's time has come to that instant, and the reply says which it is.

#include <cstdint>
#include <type_traits>

namespace mrclab::verbs {

inline constexpr uint32_t kProtocolVersion = 1;
/// Bytes of a message, header included.
inline constexpr uint32_t kMaxMessage = 16 * 1024;
/// The socket, in each host's own /run; MRCLAB_VERBS names another.
inline constexpr const char* kSocketPath = "/run/mrclab-verbs";
inline constexpr const char* kSocketVariable = "MRCLAB_VERBS";

enum class Mode : uint32_t {
  kWall,  ///< the program lives in this machine's time
  kHeld,  ///< the program is an application of its host's node
};

enum class Op : uint32_t {
  // Any mode.
  kHello = 1,  ///< HelloRequest -> HelloReply; descriptor ->: memory; <-: work ring, async events
  kQueryPort,  ///< none -> PortReply
  kRegisterMemory,    ///< RegionRequest -> RegionReply
  kDeregisterMemory,  ///< HandleRequest -> none
  kCreateChannel,     ///< none -> HandleReply; descriptor <-: channel events
  kDestroyChannel,    ///< HandleRequest -> none
  kCreateCq,          ///< CqRequest -> HandleReply; descriptor <-: its ring
  kDestroyCq,         ///< HandleRequest -> none
  kArmCq,             ///< ArmRequest -> none
  kCreateSrq,         ///< SrqRequest -> HandleReply
  kModifySrq,         ///< SrqRequest -> none
  kQuerySrq,          ///< HandleRequest -> SrqReply
  kDestroySrq,        ///< HandleRequest -> none
  kCreateQp,          ///< QpRequest -> QpReply
  kModifyQp,          ///< ModifyRequest -> none
  kQueryQp,           ///< HandleRequest -> QueryReply
  kDestroyQp,         ///< HandleRequest -> none
  kFlushWork,         ///< none -> none: everything in the work ring was taken
  // libmrc.
  kQueryProfile,       ///< ProfileRequest -> ProfileReply
  kModifyProfile,      ///< ProfileRequest -> none
  kQueryControl,       ///< none -> ControlReply
  kCreatePathEvents,   ///< none -> HandleReply, `limit` events wait at most
  kDestroyPathEvents,  ///< HandleRequest -> none
  kPollPathEvent,      ///< HandleRequest -> PathEventReply; EAGAIN: none
  kProbePaths,         ///< ProbeRequest -> ProbeStartedReply
  kPollProbes,         ///< PollProbesRequest -> ProbeReply
  // kHeld alone.
  kAdvance,    ///< WaitRequest without conditions: time passes to `until_ps`, or by what was spent
  kWait,       ///< WaitRequest -> WaitReply: until one of its conditions holds, or `until_ps`
  kPollEmpty,  ///< PollRequest -> none: the program polled an empty queue once more (held/README.md)
  kNextEvent,  ///< none -> none: until something changed in the program's memory: for a proven spin
  kSocket,   ///< SocketRequest -> SocketReply: what the management network carries (held/README.md)
  kNotHeld,  ///< NotHeldRequest -> none: cannot be held, why; the server goes on in kWall
  kExit,     ///< none, no reply: the program ends at this instant
};

struct RequestHeader {
  Op op;
  uint32_t size;    ///< of the whole message
  uint32_t thread;  ///< 0: the program side runs one thread at a time and waits for all at once
  uint32_t reserved;
  uint64_t spent_ps;  ///< fabric time used up since the last reply to this thread; kHeld
};

struct ReplyHeader {
  Op op;           ///< that of the request
  uint32_t size;   ///< of the whole message
  int32_t status;  ///< 0, or an errno
  uint32_t thread;
  uint64_t now_ps;  ///< fabric time of the host
  /// In mode kWall: fabric picoseconds per 1,000 nanoseconds of this machine, 0 if the clock stands.
  uint64_t rate;
};

struct HelloRequest {
  uint32_t version;
  uint32_t process;
  char program[64];  ///< for messages; ends with 0
};

struct HelloReply {
  uint32_t version;
  Mode mode;
  char host[32];    ///< "h3"
  char device[32];  ///< "mrc0", or "roce0" where the fabric has RC
  uint8_t gid[16];  ///< the host's inner address
  uint64_t node_guid;
  uint32_t host_number;
  uint32_t transport;  ///< endpoint::TransportKind: 0 MRC, 1 RC
  uint32_t ports;      ///< = planes
  uint32_t max_qp, max_mr, max_cq, max_srq, max_cqe, max_wr, max_sge, max_inline;
  uint32_t capabilities;  ///< bits of Capability
  uint64_t rate_bps;      ///< of all planes
  uint16_t mtu, max_wimm;
  uint8_t max_mpr, reserved[3];
  /// kHeld: what calls cost, in picoseconds (held/README.md).
  uint64_t cost_call_ps, cost_clock_ps, cost_post_ps, cost_poll_ps;
  uint64_t epoch_ns;  ///< kHeld: CLOCK_REALTIME at fabric time 0
  /// kHeld: of all random numbers that the system gives the program; of the scenario's seed, host and program.
  uint64_t seed;
  uint32_t program;  ///< kHeld: its number among the programs of its host
  uint32_t reserved2;
};

enum Capability : uint32_t {
  kCanWrite = 1,
  kCanSend = 2,
  kCanRead = 4,
  kCanAtomic = 8,
  kSendIsEmulated = 16,  ///< by Write-with-Immediate into a hidden ring, on request
  kCanSrq = 32,
};

struct HandleRequest {
  uint32_t handle, reserved;
};
struct HandleReply {
  uint32_t handle, limit;
};

struct PortReply {
  uint32_t active;      ///< a plane is up
  uint32_t live_ports;  ///< bit map
  uint32_t gids;        ///< entries of the table that hold the host's address, as bits
  uint32_t reserved;
};

/// IBV_ACCESS_*, those that the device knows.
enum Access : uint32_t { kLocalWrite = 1, kRemoteWrite = 2, kRemoteRead = 4, kRemoteAtomic = 8 };
struct RegionRequest {
  uint64_t address, length, iova;
  uint32_t access, domain;
};
struct RegionReply {
  uint32_t handle, lkey, rkey, reserved;
};

struct CqRequest {
  uint32_t depth, channel;
};  ///< channel 0: none
struct ArmRequest {
  uint32_t cq, solicited_only;
};
struct SrqRequest {
  uint32_t handle, max_wr, max_sge, limit, mask, domain;
};
struct SrqReply {
  uint32_t max_wr, max_sge, limit, reserved;
};

struct QpRequest {
  uint32_t send_cq, recv_cq, srq, domain;
  uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline;
  uint32_t signal_all;
  uint32_t transport;  ///< of a queue pair: endpoint::TransportKind
  uint32_t reserved;
};
struct QpReply {
  uint32_t handle, qpn;
  uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline, reserved;
};

/// ibv_qp_attr and mrc_qp_attr as far as the device uses them.
struct QpAttributesWire {
  uint32_t state;  ///< ibv_qp_state
  uint32_t access;
  uint8_t remote_gid[16];
  uint32_t remote_qpn, rq_psn, sq_psn, path_mtu;
  uint8_t timeout, retry_cnt, rnr_retry, min_rnr_timer;
  uint8_t max_rd_atomic, max_dest_rd_atomic, sgid_index, exponential_retries;
  uint64_t ev_profile, cc_profile;
  uint16_t max_wimm, max_wimm_dest;
  uint8_t mpr, mpr_dest, dynamic_mpr, service_time;
  uint32_t hint[3];
  uint32_t reserved;
};
struct ModifyRequest {
  uint32_t handle, mask /* ibv_qp_attr_mask */, mrc_mask, reserved;
  QpAttributesWire attributes;
};
struct QueryReply {
  QpAttributesWire attributes;
};

/// Profiles of libmrc: kept by the host, for all its programs. Names, bits of masks and values of states, modes and
/// operations are those of mrc_ctl.h; an entropy value is its first 4 bytes in this machine's order.
enum class ProfileKind : uint32_t { kFormat, kEv, kCc };
inline constexpr uint32_t kMaxEvEntries = 512;
inline constexpr uint32_t kMaxEvFields = 8;
struct EvEntryWire {
  uint32_t ev, replacement, state, flags;
};
struct EvFieldWire {
  uint32_t width, init_val, min_val, max_val, mask;
};
struct ProfileWire {
  uint64_t id;
  uint64_t format_id;
  ProfileKind kind;
  uint32_t mask;  ///< request: what to set or answer
  uint32_t state, current_state;
  uint32_t mode, count, min_active, event_mask;
  uint32_t op;  ///< of `entries` or `fields`
  uint32_t entry_count,
      first;  ///< a reply has the values from `first` on, and their number in all in `count`
  uint32_t field_count;
  uint32_t algorithm;  ///< kCc: 0 none, 1 "uet-1.0-nscc"
  uint32_t reserved;
  EvFieldWire fields[kMaxEvFields];  ///< kFormat: the width alone
  uint8_t config[64];                ///< kCc: mrc_ctl_cc_nscc_cfg
  uint8_t vendor[128];
  EvEntryWire entries[kMaxEvEntries];
};
struct ProfileRequest {
  ProfileWire profile;
};
struct ProfileReply {
  ProfileWire profile;
};
/// What the host's device has of profiles; modes as bit maps of mrc_ctl.h.
struct ControlReply {
  uint32_t max_format_profiles, max_profiles, max_cc_profiles;
  uint32_t max_count, free_count, max_count_profile;
  uint32_t format_modes, modes;
};
/// One queue of events of entropy values, for the profiles whose event mask asks for them.
struct PathEventReply {
  uint64_t at_ps, profile;
  uint32_t ev, port /* from 1 */, state, drops;
};
struct ProbeRequest {
  uint8_t gid[16];
  uint32_t count, timeout_ns;
  uint32_t values[256];
};
struct ProbeStartedReply {
  uint64_t request;
};
struct PollProbesRequest {
  uint64_t request;
};
/// What came since the last poll, in the order in which it came; `left` are under way still.
struct ProbeReply {
  uint32_t count, left;
  struct {
    uint32_t ev, answered;
    uint64_t rtt_ns;
  } paths[256];
};

/// What a program waits for: bits. A descriptor of a channel or of events is readable, a socket has credit.
struct WaitRequest {
  uint64_t until_ps;  ///< UINT64_MAX: for ever
  uint32_t async;     ///< 1: an asynchronous event
  uint32_t channels;  ///< how many of `handles` are channels; the rest are sockets
  uint32_t count;
  uint32_t memory;  ///< 1: what kNextEvent waits for; the reply has no index for it
  uint32_t handles[64];
};
struct WaitReply {
  uint32_t ready_async, count;
  uint32_t ready[64];
};  ///< indices into handles; nothing: time is up
struct PollRequest {
  uint32_t cq, in_a_row;
};

/// The management network: bytes go by real sockets, their times by these messages. None of them waits; kWait does, in
/// which a socket is ready when something came for it: bytes, an end, a connection, the answer to its connect, or room
/// after a kSent that found none. What one host sends arrives at the other kManagementDelay later (20 us), in order.
///
///   kListen     connections to address:port are taken from now on; `bytes`: how many may wait. EADDRINUSE
///   kConnect    from local_port to address:port. What listens there when it arrives decides; the answer comes back
///               another delay later. 0: on its way; ENETUNREACH: no such host
///   kConnected  the program saw the answer, and its real connection stands: the third step. After one more delay
///               kAccept gives the connection, and both ends may send
///   kAccept     `socket` listens; the connection gets the number in `bytes` -> its two ends. EAGAIN: none is there.
///               `bytes` 0 only asks
///   kSent       -> `bytes`: how many of so many the program may write into the real socket, before its next request.
///               At most kSocketWindow are unread at the other end. EAGAIN: no room; EPIPE: nobody will read them.
///               `bytes` 0 only asks
///   kReceive    -> `bytes`: how many of at most so many have arrived, and are now taken; `closed`: the end came behind
///               them. EAGAIN: none; EINPROGRESS, ECONNREFUSED: of a connect. `bytes` 0 only asks: how many there are
///   kShutdown   `bytes` is SHUT_RD, SHUT_WR or SHUT_RDWR
///   kClose      the number is free again
enum class SocketOp : uint32_t {
  kListen,
  kConnect,
  kAccept,
  kSent,
  kReceive,
  kShutdown,
  kClose,
  kConnected
};
inline constexpr uint64_t kManagementDelayPs = 20'000'000;
inline constexpr uint64_t kSocketWindow = 64 * 1024;  ///< fits into the kernel's buffers
struct SocketRequest {
  SocketOp what;
  uint32_t socket;   ///< the program's own number for it, not 0
  uint32_t address;  ///< IPv4, host order; kListen, kConnect
  uint16_t port, local_port;
  uint64_t bytes;
  uint64_t reserved;
};
struct SocketReply {
  uint64_t bytes;
  uint32_t closed, address;   ///< kAccept: of the peer
  uint16_t port, local_port;  ///< kAccept: the peer's, ours
  uint32_t reserved;
};

struct NotHeldRequest {
  uint64_t address;
  uint32_t thread, reserved;
  char why[160];
};

/// Through the descriptor of asynchronous events, one each.
struct AsyncEventWire {
  uint32_t event /* ibv_event_type */, handle /* qp, cq, srq or port */;
  uint64_t at_ps;
};
/// Through the descriptor of a channel, one each.
struct ChannelEventWire {
  uint32_t cq, reserved;
};

static_assert(std::is_trivially_copyable_v<HelloReply> && sizeof(RequestHeader) == 24 &&
              sizeof(ReplyHeader) == 32);

}  // namespace mrclab::verbs
