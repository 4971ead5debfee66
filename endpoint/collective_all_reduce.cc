#include "endpoint/collective_all_reduce.h"

#include <cassert>
#include <utility>

#include "fabric/random.h"

namespace mrclab::endpoint {
namespace {

// A write's id: lane, parity of its iteration, and whether it is of the reduce-scatter.
uint64_t make_id(uint32_t lane, uint32_t iteration, bool scatter) {
  return uint64_t{lane} << 2 | (iteration & 1u) << 1 | (scatter ? 1u : 0u);
}

constexpr uint32_t kLaneBits = 8;

}  // namespace

AllReduce::AllReduce(const Config& config) : config_(config), lanes_(config.layout.lanes()) {
  assert(config.layout.hosts() >= 2 && config.rank < config.layout.hosts());
  assert(config.memory.size() >= config.layout.region_size().value);
}

Ramp AllReduce::input_of(size_t rank, uint32_t iteration) const {
  const uint64_t random = draw(config_.seed, NodeId{static_cast<uint32_t>(rank)}, PortId{},
                               DrawPurpose::kWorkload, iteration);
  return {static_cast<uint32_t>(random), static_cast<uint32_t>(random >> 32) | 1};
}

Ramp AllReduce::sum_of(uint32_t iteration) const {
  Ramp sum;
  for (size_t rank = 0; rank < config_.layout.hosts(); ++rank) {
    sum = sum + input_of(rank, iteration);
  }
  return sum;
}

/// (rank - minus) modulo hosts, for minus up to hosts.
size_t AllReduce::chunk(size_t minus) const {
  const size_t n = config_.layout.hosts();
  return (config_.rank + n - minus) % n;
}

ReduceChunk AllReduce::part(uint32_t iteration, size_t chunk_number, uint32_t lane) const {
  ReduceChunk slice = config_.layout.slice(chunk_number, lane);
  slice.offset += config_.layout.vector_offset(iteration);
  return slice;
}

void AllReduce::start(Verbs& verbs) {
  for (uint32_t lane = 0; lane < lanes_.size(); ++lane) begin(verbs, lane, 0);
}

void AllReduce::begin(Verbs& verbs, uint32_t lane, uint32_t iteration) {
  Progress& progress = progress_[iteration & 1];
  if (progress.begun++ == 0) progress.started = verbs.now();
  lanes_[lane].iteration = iteration;
  lanes_[lane].wants_next = false;
  const Ramp input = input_of(config_.rank, iteration);
  for (size_t c = 0; c < config_.layout.hosts(); ++c) {
    const ReduceChunk slice = config_.layout.slice(c, lane);
    fill_ramp(bytes(part(iteration, c, lane)), slice.offset / kReduceElementBytes, input);
  }
  send_scatter(verbs, lane, 0);
  while (lanes_[lane].waiting > 0 && lanes_[lane].receiving <= lanes_[lane].iteration) {
    --lanes_[lane].waiting;
    receive_step(verbs, lane);
  }
}

bool AllReduce::may_start(const Verbs& verbs, const Lane& lane) const {
  const uint32_t next = lane.iteration + 1;
  if (!lane.wants_next || dead_ || verbs.now() >= config_.end) return false;
  if (config_.iterations != 0 && next >= config_.iterations) return false;
  // (a), (b) and (c) of the header.
  return lane.unacknowledged[next & 1] == 0 && lane.unacknowledged_scatter == 0 &&
         finished_iterations_ + 1 >= next;
}

void AllReduce::start_lanes(Verbs& verbs) {
  // One lane's start can finish an iteration that another lane waits for, so look again; a lane can
  // get at most two iterations ahead of the slowest, which bounds this.
  for (bool started = true; started;) {
    started = false;
    for (uint32_t lane = 0; lane < lanes_.size(); ++lane) {
      if (!may_start(verbs, lanes_[lane])) continue;
      begin(verbs, lane, lanes_[lane].iteration + 1);
      started = true;
    }
  }
}

void AllReduce::on_receive_immediate(Verbs& verbs, QpHandle qp, uint32_t immediate) {
  const uint32_t lane = immediate & ((1u << kLaneBits) - 1);
  if (dead_ || qp != config_.left || lane >= lanes_.size()) return;
  if (lanes_[lane].receiving > lanes_[lane].iteration) {
    ++lanes_[lane].waiting;
    return;
  }
  receive_step(verbs, lane);
  start_lanes(verbs);
}

void AllReduce::receive_step(Verbs& verbs, uint32_t number) {
  Lane& lane = lanes_[number];
  const uint32_t iteration = lane.receiving;
  const uint32_t steps = scatter_steps();
  const uint32_t step = lane.step++;
  if (step < steps) {
    const size_t received = chunk(step + 1);
    const ReduceChunk into = part(iteration, received, number);
    add_elements(bytes(into),
                 bytes({config_.layout.scratch_offset(step, received, number), into.length}));
    if (step + 1 < steps) {
      send_scatter(verbs, number, step + 1);
    } else {
      send_gather(verbs, number, 0);
    }
    return;
  }
  const uint32_t gather = step - steps;
  if (gather + 1 < steps) {
    send_gather(verbs, number, gather + 1);
    return;
  }
  lane.step = 0;
  ++lane.receiving;
  finish_lane(verbs, number, iteration);
}

void AllReduce::send_scatter(Verbs& verbs, uint32_t lane, uint32_t step) {
  const size_t sent = chunk(step);
  post(verbs, lane, part(lanes_[lane].iteration, sent, lane),
       config_.layout.scratch_offset(step, sent, lane), true);
}

void AllReduce::send_gather(Verbs& verbs, uint32_t lane, uint32_t step) {
  const size_t n = config_.layout.hosts();
  const ReduceChunk from = part(lanes_[lane].iteration, (chunk(step) + 1) % n, lane);
  post(verbs, lane, from, from.offset, false);
  if (step + 1 == scatter_steps()) lanes_[lane].wants_next = true;
}

void AllReduce::post(Verbs& verbs, uint32_t number, ReduceChunk from, uint64_t to, bool scatter) {
  Lane& lane = lanes_[number];
  WriteRequest request;
  request.id = make_id(number, lane.iteration, scatter);
  request.local = bytes(from);
  request.remote_va = config_.remote_va + to;
  request.rkey = config_.remote_rkey;
  request.immediate = lane.iteration << kLaneBits | number;
  if (!verbs.post_write(config_.right, request)) {
    dead_ = true;
    return;
  }
  ++lane.unacknowledged[lane.iteration & 1];
  if (scatter) ++lane.unacknowledged_scatter;
}

void AllReduce::on_write_complete(Verbs& verbs, QpHandle qp, uint64_t id) {
  const uint64_t number = id >> 2;
  if (qp != config_.right || number >= lanes_.size()) return;
  Lane& lane = lanes_[number];
  --lane.unacknowledged[id >> 1 & 1];
  if ((id & 1) != 0) --lane.unacknowledged_scatter;
  start_lanes(verbs);
}

void AllReduce::finish_lane(Verbs& verbs, uint32_t lane, uint32_t iteration) {
  const Ramp sum = sum_of(iteration);
  Progress& progress = progress_[iteration & 1];
  for (size_t c = 0; c < config_.layout.hosts(); ++c) {
    const ReduceChunk slice = config_.layout.slice(c, lane);
    const std::span<const uint8_t> result = bytes(part(iteration, c, lane));
    const uint64_t wrong = count_mismatched_bytes(result, slice.offset / kReduceElementBytes, sum);
    verbs.report_verified(result.size(), wrong);
  }
  if (++progress.finished < lanes_.size()) return;
  verbs.report_collective_done(iteration, verbs.now() - progress.started);
  progress = Progress{};
  ++finished_iterations_;
}

void AllReduce::on_qp_error(Verbs&, QpHandle, std::string_view) { dead_ = true; }

}  // namespace mrclab::endpoint
