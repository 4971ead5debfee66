#include "endpoint/queue_pair/outstanding_table.h"

#include <algorithm>
#include <cassert>

namespace mrclab::endpoint {

void OutstandingTable::add(uint64_t request, uint32_t offset, uint32_t length) {
  assert(!full());
  slots_.make_room(begin_, end_, end_ + 1);
  Slot& s = slot(end_);
  s = Slot{};
  s.packet.request = request;
  s.packet.offset = offset;
  s.packet.length = length;
  lost_hint_ = std::min(lost_hint_, end_);
  ++end_;
  ++lost_;
}

void OutstandingTable::transmitted(Sequence s, FabricTime now, uint32_t ev) {
  assert(contains(s));
  Slot& it = slot(s);
  assert(it.packet.state == SentPacket::State::kLost);
  it.packet.state = SentPacket::State::kInFlight;
  ++it.packet.transmissions;
  it.packet.sent = now;
  it.packet.ev = ev;
  it.older = newest_;
  it.newer = kNone;
  if (newest_ != kNone) slot(newest_).newer = s;
  newest_ = s;
  if (oldest_ == kNone) oldest_ = s;
  ++in_flight_;
  --lost_;
}

void OutstandingTable::unlink(Sequence s) {
  Slot& it = slot(s);
  (it.older != kNone ? slot(it.older).newer : oldest_) = it.newer;
  (it.newer != kNone ? slot(it.newer).older : newest_) = it.older;
  it.older = it.newer = kNone;
  --in_flight_;
}

void OutstandingTable::mark_sacked(Sequence s) {
  assert(contains(s));
  SentPacket& packet = slot(s).packet;
  assert(packet.state != SentPacket::State::kSacked);
  if (packet.state == SentPacket::State::kInFlight) {
    unlink(s);
  } else if (packet.state == SentPacket::State::kLost) {
    --lost_;
  }
  packet.state = SentPacket::State::kSacked;
}

void OutstandingTable::mark_lost(Sequence s) {
  assert(contains(s) && slot(s).packet.state == SentPacket::State::kInFlight);
  unlink(s);
  wait_for_transmission(s);
}

void OutstandingTable::wait_for_transmission(Sequence s) {
  slot(s).packet.state = SentPacket::State::kLost;
  ++lost_;
  lost_hint_ = std::min(lost_hint_, s);
}

void OutstandingTable::mark_refused(Sequence s) {
  assert(contains(s) && slot(s).packet.state == SentPacket::State::kInFlight);
  unlink(s);
  slot(s).packet.state = SentPacket::State::kRefused;
}

void OutstandingTable::mark_due(Sequence s) {
  assert(contains(s) && slot(s).packet.state == SentPacket::State::kRefused);
  wait_for_transmission(s);
}

void OutstandingTable::declare_lost(Sequence s) {
  mark_lost(s);
  SentPacket& packet = slot(s).packet;
  ++packet.declared_lost;
  packet.lost_ev = packet.ev;
  packet.lost_sent = packet.sent;
}

void OutstandingTable::release_oldest() {
  assert(size() > 0 && slot(begin_).packet.state == SentPacket::State::kSacked);
  ++begin_;
  lost_hint_ = std::max(lost_hint_, begin_);
}

std::optional<Sequence> OutstandingTable::oldest_in_flight() const {
  if (oldest_ == kNone) return std::nullopt;
  return oldest_;
}

std::optional<Sequence> OutstandingTable::first_lost() const {
  if (lost_ == 0) return std::nullopt;
  lost_hint_ = std::max(lost_hint_, begin_);
  while (slot(lost_hint_).packet.state != SentPacket::State::kLost) ++lost_hint_;
  return lost_hint_;
}

}  // namespace mrclab::endpoint
