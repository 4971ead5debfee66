#include "endpoint/workload/collective.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace mrclab::endpoint {
namespace {

// A write's id: lane and parity of its iteration.
uint64_t make_id(uint32_t lane, uint32_t iteration) {
  return uint64_t{lane} << 1 | (iteration & 1u);
}

constexpr uint32_t kLaneBits = 8;
static_assert(kMaxQps < 1u << kLaneBits);

bool contains(const std::vector<QpHandle>& qps, QpHandle qp) {
  return std::find(qps.begin(), qps.end(), qp) != qps.end();
}

}  // namespace

Collective::Collective(Config config)
    : config_(std::move(config)), lanes_(config_.schedule.layout().lanes()) {
  assert(config_.schedule.hosts() >= 2 && config_.rank < config_.schedule.hosts());
  assert(config_.links.size() == config_.schedule.links());
  for (Lane& lane : lanes_) lane.received.resize(config_.links.size());
}

void Collective::start(Verbs& verbs) {
  for (uint32_t lane = 0; lane < lanes_.size(); ++lane) begin(verbs, lane, 0);
}

void Collective::fill(uint32_t lane, uint32_t iteration) {
  const CollectiveLayout& layout = config_.schedule.layout();
  const Ramp input = input_of(config_.rank, iteration);
  for (size_t chunk = 0; chunk < layout.chunks(); ++chunk) {
    if (!config_.schedule.fills(config_.rank, chunk)) continue;
    const ReduceChunk slice = layout.slice(chunk, lane);
    const uint64_t at = config_.schedule.vector_offset(iteration) + slice.offset;
    fill_ramp(config_.own.subspan(at, slice.length), slice.offset / kReduceElementBytes, input);
  }
}

void Collective::begin(Verbs& verbs, uint32_t number, uint32_t iteration) {
  Progress& progress = progress_[iteration & 1];
  if (progress.begun++ == 0) progress.started = verbs.now();
  Lane& lane = lanes_[number];
  lane.iteration = iteration;
  fill(number, iteration);
  if (!config_.schedule.chained()) {
    for (uint32_t step = 0; step < config_.schedule.steps(); ++step) post(verbs, number, step);
    finish_if_all_received(verbs, number);
    return;
  }
  post(verbs, number, 0);
  while (lane.waiting > 0 && lane.finished <= lane.iteration) {
    --lane.waiting;
    receive_in_chain(verbs, number);
  }
}

bool Collective::may_start(const Verbs& verbs, const Lane& lane) const {
  const uint32_t next = lane.iteration + 1;
  if (lane.finished != next || dead_ || verbs.now() >= config_.end) return false;
  if (config_.iterations != 0 && next >= config_.iterations) return false;
  // (a) and (b) of the header.
  return lane.unacknowledged[next & 1] == 0 && finished_iterations_ + 1 >= next;
}

void Collective::start_lanes(Verbs& verbs) {
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

void Collective::on_receive_immediate(Verbs& verbs, QpHandle qp, uint32_t immediate) {
  const uint32_t number = immediate & ((1u << kLaneBits) - 1);
  if (dead_ || number >= lanes_.size()) return;
  for (size_t link = 0; link < config_.links.size(); ++link) {
    if (!contains(config_.links[link].in, qp)) continue;
    Lane& lane = lanes_[number];
    if (!config_.schedule.chained()) {
      receive_apart(verbs, number, link);
    } else if (lane.finished > lane.iteration) {
      ++lane.waiting;
    } else {
      receive_in_chain(verbs, number);
    }
    start_lanes(verbs);
    return;
  }
}

void Collective::receive_in_chain(Verbs& verbs, uint32_t number) {
  Lane& lane = lanes_[number];
  const uint32_t step = lane.step++;
  use(verbs, config_.schedule.receive(config_.rank, number, lane.iteration, step), lane.iteration);
  if (lane.step < config_.schedule.steps()) {
    post(verbs, number, lane.step);
    return;
  }
  lane.step = 0;
  finish_lane(verbs, number);
}

void Collective::receive_apart(Verbs& verbs, uint32_t number, size_t link) {
  const uint32_t iteration = lanes_[number].received[link]++;
  const auto step = static_cast<uint32_t>(link);
  use(verbs, config_.schedule.receive(config_.rank, number, iteration, step), iteration);
  finish_if_all_received(verbs, number);
}

void Collective::finish_if_all_received(Verbs& verbs, uint32_t number) {
  const Lane& lane = lanes_[number];
  if (lane.finished > lane.iteration) return;  // the next one has not started
  const uint32_t slowest = *std::min_element(lane.received.begin(), lane.received.end());
  if (slowest > lane.finished) finish_lane(verbs, number);
}

/// Adds what arrived, and compares it if it is a result.
void Collective::use(Verbs& verbs, const CollectiveSchedule::Receive& received,
                     uint32_t iteration) {
  Memory bytes = config_.links[received.link].inbox.subspan(received.at, received.length);
  if (received.add_to) {
    const Memory sum = config_.own.subspan(*received.add_to, received.length);
    add_elements(sum, bytes);
    bytes = sum;
  }
  if (!received.final) return;
  const Ramp expected = received.source ? input_of(*received.source, iteration) : sum_of(iteration);
  verbs.report_verified(bytes.size(),
                        count_mismatched_bytes(bytes, received.first_element, expected));
}

void Collective::post(Verbs& verbs, uint32_t number, uint32_t step) {
  Lane& lane = lanes_[number];
  const CollectiveSchedule::Send send =
      config_.schedule.send(config_.rank, number, lane.iteration, step);
  const Link& link = config_.links[send.link];
  WriteRequest request;
  request.id = make_id(number, lane.iteration);
  const Memory& memory = send.passed_on ? config_.links.front().inbox : config_.own;
  request.local = memory.subspan(send.from, send.length);
  request.remote_va = link.remote_va + send.to;
  request.rkey = link.remote_rkey;
  request.immediate = lane.iteration << kLaneBits | number;
  if (!verbs.post_write(link.out[number % link.out.size()], request)) {
    dead_ = true;
    return;
  }
  ++lane.unacknowledged[lane.iteration & 1];
}

void Collective::on_write_complete(Verbs& verbs, QpHandle, uint64_t id) {
  const uint64_t number = id >> 1;
  if (number >= lanes_.size()) return;
  Lane& lane = lanes_[number];
  --lane.unacknowledged[id & 1];
  start_lanes(verbs);
}

void Collective::finish_lane(Verbs& verbs, uint32_t number) {
  const uint32_t iteration = lanes_[number].finished++;
  Progress& progress = progress_[iteration & 1];
  if (++progress.finished < lanes_.size()) return;
  verbs.report_collective_done(iteration, verbs.now() - progress.started);
  config_.report.record_piece(progress.started, verbs.now());
  progress = Progress{};
  ++finished_iterations_;
}

}  // namespace mrclab::endpoint
