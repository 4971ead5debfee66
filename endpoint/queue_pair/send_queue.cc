#include "endpoint/queue_pair/send_queue.h"

#include <algorithm>

namespace mrclab::endpoint {

bool SendQueue::post(const WriteRequest& request) {
  const bool fits = !request.local.empty() && request.local.size() <= 0xFFFF'FFFFu;
  if (!fits || posted_ - completed_ >= kLimit) return false;
  messages_.make_room(static_cast<Sequence>(completed_), static_cast<Sequence>(posted_),
                      static_cast<Sequence>(posted_ + 1));
  Message& m = message(posted_++);
  m = Message{};
  m.request = request;
  m.length = static_cast<uint32_t>(request.local.size());
  m.meth.msn = static_cast<uint16_t>(first_msn_ + posted_);
  // RQMSN counts Write-with-Immediate messages (MRC specification, tables 6-8 and 6-9).
  if (request.immediate) m.meth.rqmsn = ++rqmsn_;
  return true;
}

bool SendQueue::has_packet(uint32_t max_immediates) const {
  if (in_message_) return true;
  if (started_ == posted_) return false;
  return !message(started_).request.immediate || immediates_in_flight_ < max_immediates;
}

uint32_t SendQueue::next_length() const {
  if (in_message_) return std::min(pmtu_, message(started_ - 1).length - offset_);
  return std::min(pmtu_, message(started_).length);
}

void SendQueue::cut_packet_into(OutstandingTable& table) {
  const uint32_t length = next_length();
  if (!in_message_) {
    if (message(started_).request.immediate) ++immediates_in_flight_;
    message(started_).first = table.end();
    ++started_;
    offset_ = 0;
    in_message_ = true;
  }
  Message& m = message(started_ - 1);
  table.add(started_ - 1, offset_, length);
  offset_ += length;
  if (offset_ == m.length) {
    in_message_ = false;
    m.last = table.end() - 1;
  }
}

SendQueue::PacketView SendQueue::view(const SentPacket& packet) const {
  const Message& m = message(packet.request);
  const bool first = packet.offset == 0;
  PacketView view;
  view.last = packet.offset + packet.length == m.length;
  if (view.last) {
    view.immediate = m.request.immediate;
    const bool immediate = view.immediate.has_value();
    view.opcode = first ? (immediate ? Opcode::kWriteOnlyImm : Opcode::kWriteOnly)
                        : (immediate ? Opcode::kWriteLastImm : Opcode::kWriteLast);
  } else {
    view.opcode = first ? Opcode::kWriteFirst : Opcode::kWriteMiddle;
  }
  view.payload = m.request.local.subspan(packet.offset, packet.length);
  view.meth = m.meth;
  view.reth = {m.request.remote_va + packet.offset, m.request.rkey, m.length};
  return view;
}

std::optional<uint64_t> SendQueue::complete_next(Sequence acknowledged) {
  if (completed_ == started_) return std::nullopt;
  const Message& m = message(completed_);
  if (m.last < 0 || m.last > acknowledged) return std::nullopt;
  if (m.request.immediate) --immediates_in_flight_;
  return completed_++;
}

std::optional<uint64_t> SendQueue::unfinished_write(Sequence s) const {
  for (uint64_t number = completed_; number < started_; ++number) {
    const Message& m = message(number);
    if (s < m.first) return std::nullopt;
    if (m.last < 0 || s <= m.last) return number;
  }
  return std::nullopt;
}

std::optional<uint64_t> SendQueue::give_up_next() {
  if (completed_ == posted_) return std::nullopt;
  started_ = std::max(started_, completed_ + 1);
  return completed_++;
}

}  // namespace mrclab::endpoint
