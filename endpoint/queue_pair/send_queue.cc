#include "endpoint/queue_pair/send_queue.h"

#include <algorithm>
#include <limits>

namespace mrclab::endpoint {

static_assert(SendQueue::kLimit <= std::numeric_limits<uint16_t>::max());

bool SendQueue::post(const WriteRequest& request) {
  const bool fits = request.local.size() <= 0xFFFF'FFFFu;
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

/// May the next write start?
bool SendQueue::may_start(uint32_t max_immediates) const {
  return !message(started_).request.immediate || immediates_in_flight_ < max_immediates;
}

void SendQueue::cut_packet_into(OutstandingTable& table) {
  const uint32_t length = next_length();
  if (left_ == 0) {
    if (message(started_).request.immediate) ++immediates_in_flight_;
    message(started_).first = table.end();
    left_ = message(started_).length;
    ++started_;
  }
  Message& m = message(started_ - 1);
  table.append_packet(started_ - 1, m.length - left_, length);
  left_ -= length;
  if (left_ == 0) m.last = table.end() - 1;
}

void SendQueue::describe(const SentPacket& packet, PacketView& view) const {
  const Message& m = message(number_of_write(packet));
  const bool first = packet.offset == 0;
  view.last = packet.offset + packet.length == m.length;
  view.immediate = view.last ? m.request.immediate : std::nullopt;
  if (view.last) {
    const bool immediate = view.immediate.has_value();
    view.opcode = first ? (immediate ? Opcode::kWriteOnlyImm : Opcode::kWriteOnly)
                        : (immediate ? Opcode::kWriteLastImm : Opcode::kWriteLast);
  } else {
    view.opcode = first ? Opcode::kWriteFirst : Opcode::kWriteMiddle;
  }
  view.payload = m.request.local.subspan(packet.offset, packet.length);
  view.meth = m.meth;
  view.reth = {m.request.remote_va + packet.offset, m.request.rkey, m.length};
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
