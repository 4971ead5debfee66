#pragma once
// The queues of a device: what was posted and is not complete, and what is complete and was not polled.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "endpoint/base/application.h"
#include "endpoint/base/receive_queue.h"
#include "endpoint/device/scatter_list.h"
#include "endpoint/device/verbs_types.h"
#include "fabric/base/fifo.h"
#include "fabric/base/slots.h"

namespace mrclab::endpoint {

/// Work of a send queue. Its place is stable until it is complete: the transport refers to it.
struct SentWork {
  uint64_t id = 0;
  WorkOpcode opcode = WorkOpcode::kRdmaWrite;
  bool signaled = true;
  bool in_transport = false;  ///< else it waits behind a local error, or is one
  std::optional<WorkStatus> local_error;
  uint32_t bytes = 0;  ///< that come back
  std::unique_ptr<uint8_t[]> storage;
  std::unique_ptr<ScatterList> into;
  RemoteOperation operation;
};

/// A receive, of a queue pair or of a shared queue.
struct ReceiveWork {
  uint64_t id = 0;
  uint64_t size = 0;
  bool broken = false;
  std::unique_ptr<ScatterList> into;

  ReceiveWork() = default;
  ReceiveWork(ReceiveRequest&& request, MemoryWatch& watch)
      : id(request.id),
        size(ScatterList::size_of(request.pieces)),
        broken(request.local_error.has_value()) {
    if (size > 0) into = std::make_unique<ScatterList>(std::move(request.pieces), watch);
  }
  /// As the transport has it; `number` comes back with its completion.
  PostedReceive posted(uint64_t number) const {
    return {.id = number, .buffer = Memory::elided(size), .access = into.get(), .broken = broken};
  }
};

struct CompletionQueue {
  explicit CompletionQueue(uint32_t depth) : completions(depth) {}
  Fifo<WorkCompletion> completions;
  uint32_t users = 0;
  bool failed = false;
};

struct SharedReceiveQueue {
  explicit SharedReceiveQueue(const SrqAttributes& with) : attributes(with) {
    queue.stop_replenishing();
  }
  SrqAttributes attributes;
  ReceiveQueue queue;
  Slots<ReceiveWork> work;  ///< by the number of the posted receive
  uint32_t users = 0;
};

/// A queue pair.
struct DeviceQueuePair {
  Qpn qpn;
  uint32_t use =
      0;  ///< how often its number was given out, this time included: HostIdentities makes QPN and PSN of it
  QpAttributes attributes;
  std::optional<QpHandle> handle;    ///< from RTR on
  std::deque<SentWork> sends;        ///< in the order of posting
  std::deque<ReceiveWork> receives;  ///< likewise; of its own queue
  size_t in_transport = 0;           ///< the first so many sends
  bool blamed = false;               ///< a completion has the reason of its failure

  bool is_rc() const { return attributes.init_attributes.transport == TransportKind::kRoce; }
  const std::optional<SrqHandle>& srq() const { return attributes.init_attributes.srq; }
};

}  // namespace mrclab::endpoint
