#include "verbs/server/control/controller.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "verbs/server/control/profile_bits.h"

namespace mrclab::verbs {

namespace {

uint32_t bit_of(endpoint::EvState state) {
  switch (state) {
    case endpoint::EvState::kGood:
    case endpoint::EvState::kSkip: return kStateGood;
    case endpoint::EvState::kAssumedBad: return kStateAssumedBad;
    case endpoint::EvState::kDenied: return kStateDenied;
  }
  return 0;
}

}  // namespace

int Controller::create_events(uint64_t program, HandleReply& reply) {
  if (queues_.size() >= kMaxQueues) return ENOSPC;
  collect();  // What came before belongs to those that were there.
  queues_[++last_handle_].program = program;
  reply = {last_handle_, kQueueLimit};
  return 0;
}

int Controller::destroy_events(uint64_t program, uint32_t handle) {
  const auto found = queues_.find(handle);
  if (found == queues_.end() || found->second.program != program) return ENOENT;
  queues_.erase(found);
  return 0;
}

int Controller::poll_event(uint64_t program, uint32_t handle, PathEventReply& reply) {
  collect();
  const auto found = queues_.find(handle);
  if (found == queues_.end() || found->second.program != program) return ENOENT;
  std::deque<PathEventReply>& events = found->second.events;
  if (events.empty()) return EAGAIN;
  reply = events.front();
  events.pop_front();
  return 0;
}

int Controller::probe(uint64_t program, const ProbeRequest& request, ProbeStartedReply& reply) {
  if (request.count < 1 || request.count > std::size(request.values)) return EINVAL;
  if (batches_.size() >= kMaxBatches) return EAGAIN;
  std::vector<EntropyValue> evs;
  for (uint32_t i = 0; i < request.count; ++i) evs.push_back({request.values[i]});
  Ipv6Address to;
  static_assert(sizeof to == sizeof request.gid);
  std::memcpy(&to, request.gid, sizeof to);
  try {
    reply.request =
        device_.probe_paths(to, evs, FabricTime::from_ps(uint64_t{request.timeout_ns} * 1000));
  } catch (const std::invalid_argument&) {
    return EINVAL;  // No path of the fabric, or no host that this one has queue pairs with.
  }
  Batch& batch = batches_[reply.request];
  batch.program = program;
  batch.left = request.count;
  return 0;
}

int Controller::poll_probes(uint64_t program, const PollProbesRequest& request, ProbeReply& reply) {
  collect();
  const auto found = batches_.find(request.request);
  if (found == batches_.end() || found->second.program != program) return ENOENT;
  Batch& batch = found->second;
  reply = {};
  while (!batch.answers.empty() && reply.count < std::size(reply.paths)) {
    const endpoint::PathProbe& answer = batch.answers.front();
    auto& path = reply.paths[reply.count++];
    path.ev = answer.ev.value;
    path.answered = answer.rtt.has_value();
    path.rtt_ns = answer.rtt ? static_cast<uint64_t>(answer.rtt->ps()) / 1000 : 0;
    batch.answers.pop_front();
  }
  reply.left = batch.left + static_cast<uint32_t>(batch.answers.size());
  if (reply.left == 0) batches_.erase(found);
  return 0;
}

void Controller::forget(uint64_t program) {
  std::erase_if(queues_, [program](const auto& queue) { return queue.second.program == program; });
  std::erase_if(batches_, [program](const auto& batch) { return batch.second.program == program; });
}

void Controller::collect() {
  while (const auto event = device_.poll_ev_event()) {
    uint64_t profile = 0;
    try {
      profile = device_.query_queue_pair(event->qp).init.ev_profile_id;
    } catch (const std::invalid_argument&) {
      // Its queue pair is gone.
    }
    const uint32_t state = bit_of(event->state);
    profiles_.note_state(profile, event->ev, state);
    const bool wanted = (profiles_.event_mask_of(profile) & state) != 0;
    for (auto& [handle, queue] : queues_) {
      queue.dropped += event->drop_count;  // Nobody saw those, whoever they were for.
      if (!wanted) continue;
      if (queue.events.size() >= kQueueLimit) {
        ++queue.dropped;
        continue;
      }
      queue.events.push_back({static_cast<uint64_t>(event->at.ps()), profile, event->ev.value,
                              event->port, state, queue.dropped});
      queue.dropped = 0;
    }
  }
  while (const auto answer = device_.next_path_probe()) {
    const auto found = batches_.find(answer->request);
    if (found == batches_.end() || found->second.left == 0) continue;
    --found->second.left;
    found->second.answers.push_back(*answer);
  }
}

}  // namespace mrclab::verbs
