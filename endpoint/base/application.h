#pragma once
// The application interface: a state machine that its node runs at fabric time. It posts writes and
// gets completions; it never blocks and reads no clock of its own.

#include <cstdint>
#include <optional>
#include <string_view>

#include "endpoint/base/job_report.h"
#include "endpoint/base/memory.h"
#include "endpoint/base/region_access.h"
#include "endpoint/base/work_report.h"
#include "fabric/base/ids.h"
#include "fabric/base/units.h"

namespace mrclab::endpoint {

/// Index of a queue pair in its host.
struct QpHandle {
  uint32_t value = 0xFFFF'FFFF;
  constexpr auto operator<=>(const QpHandle&) const = default;
};

enum class WorkKind : uint8_t {
  kWrite,
  // RC only:
  kSend,  ///< into the buffer of the peer's next receive
  kRead,
  kFetchAdd,
  kCompareSwap,
};
/// Does the peer answer with data?
constexpr bool has_response(WorkKind kind) { return kind >= WorkKind::kRead; }

/// What a READ or an atomic has more than a write.
struct RemoteOperation {
  RegionAccess* into =
      nullptr;  ///< where the answer goes, from offset 0; 8 bytes of an atomic, in host order
  uint64_t compare_add = 0, swap = 0;  ///< atomics
};

/// One RDMA Write, or Write-with-Immediate if `immediate` is set, or another kind of work. `local` must stay valid and
/// unchanged until its completion.
struct WriteRequest {
  uint64_t id = 0;    ///< handed back with the completion
  ConstMemory local;  ///< a READ or an atomic uses its length alone
  uint64_t remote_va = 0;
  uint32_t rkey = 0;
  std::optional<uint32_t> immediate;
  WorkKind kind = WorkKind::kWrite;
  bool solicited = false;  ///< asks for an event at the receiver (RC)
  bool fence = false;      ///< starts when all READs and atomics before it are complete (RC)
  const RemoteOperation* operation =
      nullptr;  ///< set for a READ or an atomic; must stay valid as `local` must
};

/// Status of a write or receive that did not fail itself but whose queue pair did.
inline constexpr std::string_view kFlushed = "flushed";
/// Statuses of a receive whose message could not be put there.
inline constexpr std::string_view kTooLong = "Local Length Error";
inline constexpr std::string_view kProtected = "Local Protection Error";
inline constexpr std::string_view kNoAccess = "Local Access Error";

/// The arrival of a Write-with-Immediate or a SEND, reported in the order in which the peer posted them.
struct ReceiveCompletion {
  uint64_t id = 0;         ///< id of the receive that it used up; 0 if receives are replenished
  uint32_t immediate = 0;  ///< 0 if the message had none
  uint32_t bytes = 0;      ///< length of the message
  WorkKind kind = WorkKind::kWrite;
  bool has_immediate = true;
  bool solicited = false;
};

/// What an application may ask of its host.
class Verbs {
 public:
  virtual ~Verbs() = default;
  virtual FabricTime now() const = 0;
  /// Unknown or failed queue pairs, a full send queue and, by MRC, all but writes are refused: false.
  virtual bool post_write(QpHandle qp, const WriteRequest& request) = 0;
  /// Posts a receive for one Write-with-Immediate, or with a `buffer`, which stays valid until its
  /// completion, for one SEND. The first one ends the host's own replenishing: from then on a message that
  /// finds no receive ends an MRC queue pair, and makes an RC peer try again. False if the queue pair is
  /// unknown or failed, or has 4,096 receives.
  virtual bool post_receive(QpHandle qp, uint64_t id, Memory buffer = {}) = 0;
  /// Calls on_wake at `at` (not before now). One call per request.
  virtual void wake_at(FabricTime at) = 0;

  // What an application reports; the host counts and publishes it.
  virtual void report_verified(uint64_t bytes, uint64_t mismatched_bytes) = 0;
  virtual void report_collective_done(uint32_t iteration, FabricTime took) = 0;
  virtual void report_step_done(uint32_t step, FabricTime took) = 0;
};

class Application {
 public:
  virtual ~Application() = default;
  /// Called at fabric time 0: all queue pairs are set up.
  virtual void start(Verbs& verbs) = 0;
  /// Called when a transport ACK covers the whole write.
  virtual void on_write_complete(Verbs& verbs, QpHandle qp, uint64_t id) = 0;
  /// Called when everything that the peer posted on this queue pair, up to and including this
  /// Write-with-Immediate, is in memory; in the order of posting.
  virtual void on_receive_immediate(Verbs& verbs, QpHandle qp, uint32_t immediate) = 0;
  /// The same with all members of the completion; an application overrides one of the two.
  virtual void on_receive(Verbs& verbs, QpHandle qp, const ReceiveCompletion& completion) {
    on_receive_immediate(verbs, qp, completion.immediate);
  }
  /// The queue pair failed. Called for each write that is not complete, in the order of posting.
  /// The write that caused the failure has it as its status, the others kFlushed. A flushed write
  /// may have happened.
  virtual void on_write_failed(Verbs&, QpHandle, uint64_t /*id*/, std::string_view /*status*/) {}
  /// The queue pair failed, and this receive was not used, or is what failed: `status`.
  virtual void on_receive_failed(Verbs&, QpHandle, uint64_t /*id*/, std::string_view /*status*/) {}
  /// A request of the peer came in, and the queue pair awaited it.
  virtual void on_first_request(Verbs&, QpHandle) {}
  virtual void on_wake(Verbs& verbs) = 0;
  /// Does it stop while its host is paused? False for an application that stands for the lab's own
  /// view instead of a program: one-sided writes arrive without any program of the receiver.
  virtual bool stands_still() const { return true; }
  /// The queue pair is dead. Called after its outstanding writes and receives were reported.
  virtual void on_qp_error(Verbs& verbs, QpHandle qp, std::string_view reason) = 0;
  /// Has it done all its work? (Never for workloads that run until the end.)
  virtual bool finished() const = 0;
  /// Its measurements; null for an application that measures nothing.
  virtual const WorkReport* work() const { return nullptr; }
  /// Of one that runs a rank of a job.
  virtual std::optional<JobReport> job() const { return std::nullopt; }
};

}  // namespace mrclab::endpoint
