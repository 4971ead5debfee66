#pragma once
// The application interface: a state machine that its node runs at fabric time. It posts writes and
// is told about completions; it never blocks, polls or reads a clock of its own.

#include <cstdint>
#include <optional>
#include <string_view>

#include "endpoint/base/memory.h"
#include "endpoint/base/work_report.h"
#include "fabric/ids.h"
#include "fabric/units.h"

namespace mrclab::endpoint {

/// Index of a queue pair in its host.
struct QpHandle {
  uint32_t value = 0xFFFF'FFFF;
  constexpr auto operator<=>(const QpHandle&) const = default;
};

/// One RDMA Write, or Write-with-Immediate if `immediate` is set. `local` must stay valid and
/// unchanged until its completion.
struct WriteRequest {
  uint64_t id = 0;  ///< handed back with the completion
  ConstMemory local;
  uint64_t remote_va = 0;
  uint32_t rkey = 0;
  std::optional<uint32_t> immediate;
};

/// The status of work that did not fail itself but belongs to a queue pair that did.
inline constexpr std::string_view kFlushed = "flushed";

/// A Write-with-Immediate of the peer, told in the order of its posting.
struct ReceiveCompletion {
  uint64_t id = 0;  ///< of the receive that it used up; 0 if receives are replenished
  uint32_t immediate = 0;
  uint32_t bytes = 0;  ///< length of the message
};

/// What an application may ask of its host.
class Verbs {
 public:
  virtual ~Verbs() = default;
  virtual FabricTime now() const = 0;
  /// Empty writes, unknown or failed queue pairs and a full send queue are refused: false.
  virtual bool post_write(QpHandle qp, const WriteRequest& request) = 0;
  /// A receive for one Write-with-Immediate. The first one ends the host's own replenishing: from
  /// then on a message that finds no receive is the end of the queue pair. False if the queue pair
  /// is unknown or failed, or has 4,096 receives.
  virtual bool post_receive(QpHandle qp, uint64_t id) = 0;
  /// Calls on_wake at `at` (not before now). One call per request.
  virtual void wake_at(FabricTime at) = 0;

  // What an application reports; the host counts and publishes it.
  virtual void report_verified(uint64_t bytes, uint64_t mismatched_bytes) = 0;
  virtual void report_collective_done(uint32_t iteration, FabricTime took) = 0;
};

class Application {
 public:
  virtual ~Application() = default;
  /// Fabric time 0: all queue pairs are set up.
  virtual void start(Verbs& verbs) = 0;
  /// A transport ACK covers the whole write.
  virtual void on_write_complete(Verbs& verbs, QpHandle qp, uint64_t id) = 0;
  /// Everything that the peer posted on this queue pair up to and including this
  /// Write-with-Immediate is in memory. Told in the order of posting.
  virtual void on_receive_immediate(Verbs& verbs, QpHandle qp, uint32_t immediate) = 0;
  /// The same with all that is known; an application overrides one of the two.
  virtual void on_receive(Verbs& verbs, QpHandle qp, const ReceiveCompletion& completion) {
    on_receive_immediate(verbs, qp, completion.immediate);
  }
  /// The queue pair failed: told of each write that is not complete, in the order of posting. The
  /// one that is to blame has the failure as its status, the others kFlushed. A flushed write may
  /// have happened.
  virtual void on_write_failed(Verbs&, QpHandle, uint64_t /*id*/, std::string_view /*status*/) {}
  /// The queue pair failed, and this receive was not used.
  virtual void on_receive_flushed(Verbs&, QpHandle, uint64_t /*id*/) {}
  virtual void on_wake(Verbs& verbs) = 0;
  /// Does it stand still while its host is paused? Not if it is the lab's eye rather than a program:
  /// one-sided writes arrive without any program of the receiver.
  virtual bool stands_still() const { return true; }
  /// The queue pair is dead. Told after its outstanding writes and receives.
  virtual void on_qp_error(Verbs& verbs, QpHandle qp, std::string_view reason) = 0;
  /// It has done all that it was asked for (never for workloads that run until the end).
  virtual bool finished() const = 0;
  /// What it measured; none for an application that measures nothing.
  virtual const WorkReport* work() const { return nullptr; }
};

}  // namespace mrclab::endpoint
