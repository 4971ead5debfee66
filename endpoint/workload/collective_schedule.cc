#include "endpoint/workload/collective_schedule.h"

namespace mrclab::endpoint {

CollectiveSchedule::CollectiveSchedule(CollectiveKind kind, Bytes size, size_t hosts, uint32_t qps)
    : kind_(kind),
      hosts_(hosts),
      layout_(size, kind == CollectiveKind::kSendRecv ? 1 : hosts, qps) {
  const auto others = static_cast<uint32_t>(hosts - 1);
  switch (kind) {
    case CollectiveKind::kAllReduce:
      reducing_ = others;
      steps_ = 2 * others;
      break;
    case CollectiveKind::kReduceScatter: reducing_ = steps_ = others; break;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllToAll: steps_ = others; break;
    case CollectiveKind::kSendRecv: steps_ = static_cast<uint32_t>(links()); break;
  }
}

size_t CollectiveSchedule::links() const {
  if (kind_ == CollectiveKind::kAllToAll) return hosts_ - 1;
  return kind_ == CollectiveKind::kSendRecv && hosts_ > 2 ? 2 : 1;
}

size_t CollectiveSchedule::distance(size_t link) const {
  return kind_ == CollectiveKind::kSendRecv && link == 1 ? hosts_ - 1 : 1 + link;
}

size_t CollectiveSchedule::link_between(size_t from, size_t to) const {
  size_t link = 0;
  while (link + 1 < links() && to_rank(from, link) != to) ++link;
  return link;
}

Bytes CollectiveSchedule::inbox_size(size_t rank, size_t link) const {
  if (kind_ == CollectiveKind::kAllToAll) return {2 * layout_.chunk(rank).length};
  if (link > 0) return {kReduceElementBytes};
  if (kind_ == CollectiveKind::kSendRecv) return {2 * layout_.size().value};
  return {scratch_offset(0, 0) + 2 * reducing_ * layout_.longest_chunk()};
}

uint64_t CollectiveSchedule::scratch_offset(uint32_t iteration, uint32_t step) const {
  const uint64_t slot = (iteration & 1) * reducing_ + step;
  return (gathers() ? kResults * layout_.size().value : 0) + slot * layout_.longest_chunk();
}

CollectiveSchedule::Send CollectiveSchedule::send(size_t rank, uint32_t lane, uint32_t iteration,
                                                  uint32_t step) const {
  const uint64_t vector = vector_offset(iteration);
  Send send;
  if (kind_ == CollectiveKind::kSendRecv && step == 1) {
    send.link = 1;
    send.from = vector + layout_.slice(0, lane).offset;  // any word of the lane will do
    send.length = kReduceElementBytes;
    send.word = true;
    return send;
  }
  size_t chunk = 0;  // chunk 0, the only one of sendrecv
  const bool gathering = gathers() && step >= reducing_;
  if (kind_ == CollectiveKind::kAllToAll) {
    send.link = step;
    chunk = to_rank(rank, step);
  } else if (gathering) {
    chunk = back(rank + (reduces() ? 1 : 0), step - reducing_);
    send.passed_on = step > reducing_;
  } else if (chained()) {
    chunk = back(rank, step + (kind_ == CollectiveKind::kReduceScatter ? 1 : 0));
    send.scratch = true;
  }
  const ReduceChunk slice = layout_.slice(chunk, lane);
  const ReduceChunk in_chunk = layout_.lane_of_chunk(chunk, lane);
  send.first_element = slice.offset / kReduceElementBytes;
  send.length = slice.length;
  send.from = (send.passed_on ? result_offset(iteration) : vector) + slice.offset;
  if (kind_ == CollectiveKind::kAllToAll) {
    send.to = (iteration & 1) * layout_.chunk(chunk).length + in_chunk.offset;
  } else if (send.scratch) {
    send.to = scratch_offset(iteration, step) + in_chunk.offset;
  } else {
    send.to = (gathering ? result_offset(iteration) : vector) + slice.offset;
  }
  return send;
}

CollectiveSchedule::Receive CollectiveSchedule::receive(size_t rank, uint32_t lane,
                                                        uint32_t iteration, uint32_t step) const {
  // It is what the host at the other end of the link sends in the same step.
  const size_t link = chained() ? 0 : step;
  const size_t source = from_rank(rank, link);
  const Send sent = send(source, lane, iteration, step);
  Receive receive;
  receive.link = link;
  receive.at = sent.to;
  receive.length = sent.length;
  receive.first_element = sent.first_element;
  if (sent.scratch) receive.add_to = sent.from;
  receive.final = !sent.word && (!sent.scratch || step + 1 == reducing_);
  if (kind_ == CollectiveKind::kAllGather) {
    receive.source = back(rank, step + 1);
  } else if (!reduces()) {
    receive.source = source;
  }
  return receive;
}

}  // namespace mrclab::endpoint
