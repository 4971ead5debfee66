#include "endpoint/roce/rc_messages.h"

#include <algorithm>

namespace mrclab::endpoint {

bool RcMessages::post(const WriteRequest& request) {
  const uint64_t size = request.local.size();
  if (size == 0 || size > 0xFFFF'FFFFu || messages_.size() >= kLimit) return false;
  const auto packets = static_cast<Sequence>((size + pmtu_ - 1) / pmtu_);
  messages_.push_back({request, end_, end_ + packets - 1});
  end_ += packets;
  return true;
}

const RcMessages::Message* RcMessages::find(Sequence s) const {
  const auto found = std::partition_point(messages_.begin(), messages_.end(),
                                          [s](const Message& m) { return m.last < s; });
  return found == messages_.end() || s < found->first ? nullptr : &*found;
}

RcMessages::PacketView RcMessages::view(Sequence s) const {
  const Message& m = *find(s);
  const WriteRequest& request = m.request;
  const uint64_t offset = static_cast<uint64_t>(s - m.first) * pmtu_;
  const bool first = s == m.first;
  PacketView view;
  view.last = s == m.last;
  if (view.last) view.immediate = request.immediate;
  view.payload =
      request.local.subspan(offset, std::min<uint64_t>(pmtu_, request.local.size() - offset));
  // InfiniBand specification 9.2.2: FIRST, MIDDLE, LAST, LAST with immediate, ONLY, ONLY with immediate.
  uint8_t place = first ? 0 : 1;
  if (view.last) place = static_cast<uint8_t>((first ? 4 : 2) + (view.immediate ? 1 : 0));
  const bool send = request.kind == WorkKind::kSend;
  const Opcode base = send ? Opcode::kSendFirst : Opcode::kRcWriteFirst;
  view.opcode = static_cast<Opcode>(static_cast<uint8_t>(base) + place);
  if (first && !send) {
    view.reth = Reth{request.remote_va, request.rkey, static_cast<uint32_t>(request.local.size())};
  }
  return view;
}

std::optional<uint64_t> RcMessages::complete_next(Sequence acknowledged) {
  if (messages_.empty() || messages_.front().last >= acknowledged) return std::nullopt;
  return give_up_oldest();
}

uint64_t RcMessages::give_up_oldest() {
  const uint64_t id = messages_.front().request.id;
  messages_.pop_front();
  return id;
}

}  // namespace mrclab::endpoint
