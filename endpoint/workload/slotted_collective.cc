#include "endpoint/workload/slotted_collective.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace mrclab::endpoint {
namespace {

// A write's id: its lane, and whether it is a credit. An immediate is the channel.
constexpr uint64_t kCreditBit = 1;

bool has(const std::vector<QpHandle>& qps, QpHandle qp) {
  return std::find(qps.begin(), qps.end(), qp) != qps.end();
}

Ramp without(Ramp all, Ramp one) { return {all.start - one.start, all.step - one.step}; }

void copy_bytes(Memory to, ConstMemory from) {
  if (to.elided() || from.elided() || to.empty()) return;
  std::memcpy(to.data(), from.data(), to.size());
}

}  // namespace

SlottedCollective::SlottedCollective(Config config)
    : config_(std::move(config)), data_{config_.seed, config_.program.hosts()} {
  const SlotProgram& program = config_.program;
  assert(program.hosts() >= 2 && config_.rank < program.hosts());
  assert(config_.links.size() == program.links());
  const bool apart = program.kind() == CollectiveKind::kAllToAll;
  for (size_t link = 0; link < config_.links.size(); ++link) {
    for (uint32_t channel = 0; channel < program.channels(); ++channel) {
      Lane lane;
      lane.link = link;
      lane.channel = channel;
      lane.chunk_out = apart ? program.to_rank(config_.rank, link) : 0;
      lane.chunk_in = apart ? config_.rank : 0;
      lanes_.push_back(lane);
    }
  }
}

void SlottedCollective::begin(Verbs& verbs) {
  begun_ = verbs.now();
  for (Lane& lane : lanes_) {
    lane.next = lane.next_send = {};
    lane.expected += config_.program.messages(lane.channel, lane.chunk_in);
    grant(verbs, lane);
  }
  for (Lane& lane : lanes_) go_on(verbs, lane);
}

bool SlottedCollective::ended(const Lane& lane) const {
  const SlotProgram& program = config_.program;
  return program.ended(lane.channel, lane.chunk_in, lane.next) &&
         (program.is_ring() || program.ended(lane.channel, lane.chunk_out, lane.next_send));
}

/// All that the lane can do by now. Nothing of the next iteration has come, as no credit was given for it, so an iteration
/// does not end in the call that begins it.
void SlottedCollective::go_on(Verbs& verbs, Lane& lane) {
  if (dead_ || ended(lane)) return;
  if (config_.program.is_ring()) {
    while (!dead_ && ring_step(verbs, lane)) {
    }
  } else {
    while (!dead_ && peer_receive(verbs, lane)) {
    }
    while (!dead_ && peer_send(verbs, lane)) {
    }
  }
  if (dead_) return;
  if (!std::all_of(lanes_.begin(), lanes_.end(), [this](const Lane& l) { return ended(l); }))
    return;
  config_.report.record_piece(begun_, verbs.now());
  verbs.report_collective_done(iteration_++, verbs.now() - begun_);
  if (config_.iterations != 0 ? iteration_ < config_.iterations : verbs.now() < config_.end) {
    begin(verbs);
  }
}

bool SlottedCollective::can_send(const Lane& lane) const {
  return lane.sent < lane.credits && lane.sent - lane.acknowledged < config_.program.slots();
}

Memory SlottedCollective::arrived_piece(const Lane& lane, uint64_t length) const {
  const uint64_t at = config_.program.slot_at(lane.channel, lane.used);
  return config_.links[lane.link].inbox.subspan(at, length);
}

Memory SlottedCollective::outgoing_piece(const Lane& lane, uint64_t length) const {
  const uint64_t at = config_.program.slot_at(lane.channel, lane.sent);
  return config_.links[lane.link].outgoing.subspan(at, length);
}

/// One operation of a ring: false if it has to wait, or there is none left.
bool SlottedCollective::ring_step(Verbs& verbs, Lane& lane) {
  const SlotProgram& program = config_.program;
  const Place at = lane.next;
  if (program.ended(lane.channel, 0, at)) return false;
  if (program.receives(at) && lane.used == lane.arrived) return false;
  if (program.sends(at) && !can_send(lane)) return false;
  const size_t chunk = program.chunk_of(config_.rank, at.step);
  const ReduceChunk piece = program.piece(lane.channel, chunk, at);
  const uint64_t first = piece.offset / kReduceElementBytes;
  const Ramp own = data_.input_of(config_.rank, iteration_);
  const Ramp result =
      program.reduces() ? data_.sum_of(iteration_) : data_.input_of(chunk, iteration_);
  const Memory came = program.receives(at) ? arrived_piece(lane, piece.length) : Memory{};
  if (program.sends(at)) {
    const Memory out = outgoing_piece(lane, piece.length);
    if (program.adds(at)) {
      fill_ramp(out, first, own);
      if (!came.empty()) add_elements(out, came);
    } else {
      copy_bytes(out, came);
    }
    if (program.is_result(at)) verify(verbs, out, piece, result);
    post(verbs, lane, out);
  } else {
    // The last operation: what it adds its own to is compared before.
    verify(verbs, came, piece, program.adds(at) ? without(result, own) : result);
  }
  if (program.receives(at)) {
    ++lane.used;
    grant(verbs, lane);
  }
  program.advance(lane.channel, 0, lane.next);
  return true;
}

bool SlottedCollective::peer_receive(Verbs& verbs, Lane& lane) {
  const SlotProgram& program = config_.program;
  if (lane.used == lane.arrived || program.ended(lane.channel, lane.chunk_in, lane.next)) {
    return false;
  }
  const ReduceChunk piece = program.piece(lane.channel, lane.chunk_in, lane.next);
  const size_t source = program.from_rank(config_.rank, lane.link);
  verify(verbs, arrived_piece(lane, piece.length), piece, data_.input_of(source, iteration_));
  ++lane.used;
  grant(verbs, lane);
  program.advance(lane.channel, lane.chunk_in, lane.next);
  return true;
}

bool SlottedCollective::peer_send(Verbs& verbs, Lane& lane) {
  const SlotProgram& program = config_.program;
  if (!can_send(lane) || program.ended(lane.channel, lane.chunk_out, lane.next_send)) return false;
  const ReduceChunk piece = program.piece(lane.channel, lane.chunk_out, lane.next_send);
  const Memory out = outgoing_piece(lane, piece.length);
  fill_ramp(out, piece.offset / kReduceElementBytes, data_.input_of(config_.rank, iteration_));
  post(verbs, lane, out);
  program.advance(lane.channel, lane.chunk_out, lane.next_send);
  return true;
}

void SlottedCollective::verify(Verbs& verbs, Memory bytes, const ReduceChunk& piece,
                               Ramp expected) {
  verbs.report_verified(
      bytes.size(), count_mismatched_bytes(bytes, piece.offset / kReduceElementBytes, expected));
}

void SlottedCollective::post(Verbs& verbs, Lane& lane, Memory piece) {
  const Link& link = config_.links[lane.link];
  WriteRequest request;
  request.id = static_cast<uint64_t>(&lane - lanes_.data()) << 1;
  request.local = piece;
  request.remote_va = link.remote_va + config_.program.slot_at(lane.channel, lane.sent);
  request.rkey = link.remote_rkey;
  request.immediate = lane.channel;
  ++lane.sent;
  dead_ = dead_ || !verbs.post_write(link.out[lane.channel % link.out.size()], request);
}

void SlottedCollective::grant(Verbs& verbs, Lane& lane) {
  const Link& link = config_.links[lane.link];
  while (!dead_ && lane.granted < std::min(lane.used + config_.program.slots(), lane.expected)) {
    ++lane.granted;
    WriteRequest request;
    request.id = static_cast<uint64_t>(&lane - lanes_.data()) << 1 | kCreditBit;
    request.local = config_.credit;
    request.remote_va = link.credit_va + lane.channel * kCreditBytes;
    request.rkey = link.credit_rkey;
    request.immediate = lane.channel;
    dead_ = !verbs.post_write(link.in[lane.channel % link.in.size()], request);
  }
}

void SlottedCollective::on_receive_immediate(Verbs& verbs, QpHandle qp, uint32_t immediate) {
  if (dead_ || immediate >= config_.program.channels()) return;
  for (size_t link = 0; link < config_.links.size(); ++link) {
    Lane& lane = lanes_[link * config_.program.channels() + immediate];
    const bool data = has(config_.links[link].in, qp);
    if (!data && !has(config_.links[link].out, qp)) continue;
    // A peer that counts right sends no more.
    if (data ? lane.arrived == lane.granted : lane.credits == lane.sent + config_.program.slots()) {
      return;
    }
    ++(data ? lane.arrived : lane.credits);
    go_on(verbs, lane);
    return;
  }
}

void SlottedCollective::on_write_complete(Verbs& verbs, QpHandle, uint64_t id) {
  if ((id & kCreditBit) != 0 || id >> 1 >= lanes_.size()) return;
  Lane& lane = lanes_[id >> 1];
  ++lane.acknowledged;
  go_on(verbs, lane);
}

}  // namespace mrclab::endpoint
