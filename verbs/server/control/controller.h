#pragma once
// The controller's side of one host: profiles, and to every program that asks for them events of entropy values and
// answers to probes. Called from the host's one thread. Bounds: kMaxQueues queues of events of kQueueLimit each, an event
// that finds one full is counted in the next that fits (mrc_ctl.h, precise drop counts); kMaxBatches batches of probes.

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "endpoint/host/verbs.h"
#include "verbs/protocol/messages.h"
#include "verbs/server/control/profile_table.h"

namespace mrclab::verbs {

class Controller {
 public:
  static constexpr uint32_t kMaxQueues = 64;
  static constexpr uint32_t kQueueLimit = 128;
  static constexpr uint32_t kMaxBatches = 64;

  /// Outlives it.
  explicit Controller(endpoint::Device& device) : device_(device), profiles_(device) {}

  ProfileTable& profiles() { return profiles_; }

  /// A number for one more program.
  uint64_t admit() { return ++programs_; }

  // `program` is such a number; what is another's is ENOENT. All give 0 or an errno.
  int create_events(uint64_t program, HandleReply& reply);
  int destroy_events(uint64_t program, uint32_t handle);
  int poll_event(uint64_t program, uint32_t handle, PathEventReply& reply);
  int probe(uint64_t program, const ProbeRequest& request, ProbeStartedReply& reply);
  int poll_probes(uint64_t program, const PollProbesRequest& request, ProbeReply& reply);
  /// Its queues and batches end.
  void forget(uint64_t program);

 private:
  struct Queue {
    uint64_t program = 0;
    std::deque<PathEventReply> events;
    uint32_t dropped = 0;
  };
  struct Batch {
    uint64_t program = 0;
    uint32_t left = 0;
    std::deque<endpoint::PathProbe> answers;
  };
  /// Takes what the device has and gives it to whom it concerns.
  void collect();

  endpoint::Device& device_;
  ProfileTable profiles_;
  std::map<uint32_t, Queue> queues_;
  std::map<uint64_t, Batch> batches_;  ///< by the device's number of the request
  uint32_t last_handle_ = 0;
  uint64_t programs_ = 0;
};

}  // namespace mrclab::verbs
