#include "endpoint/queue_pair/outstanding_table.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "endpoint/base/connection_attributes.h"

namespace mrclab::endpoint {
namespace {

static_assert(size_t{kMaxMprUnits} * kMprUnit <= OutstandingTable::kMaxCapacity);

/// One more, up to the most that a packet's counters hold.
uint8_t one_more(uint8_t count) {
  return static_cast<uint8_t>(std::min(count + 1, int{SentPacket::kMany}));
}

}  // namespace

void OutstandingTable::append_packet(uint64_t request, uint32_t offset, uint32_t length) {
  assert(!full());
  assert(length <= std::numeric_limits<uint16_t>::max());  // a PMTU is at most 4,096 bytes
  packets_.make_room(begin_, end_, end_ + 1);
  SentPacket& packet = packets_[end_];
  packet = {};
  packet.request = static_cast<uint16_t>(request);
  packet.offset = offset;
  packet.length = static_cast<uint16_t>(length);
  lost_hint_ = std::min(lost_hint_, end_);
  ++end_;
  ++lost_;
}

void OutstandingTable::transmitted(Sequence s, FabricTime now, uint32_t ev) {
  assert(contains(s));
  assert(ev <= std::numeric_limits<uint16_t>::max());  // no EV set has more values (ev_set.h)
  SentPacket& packet = packets_[s];
  assert(packet.state == SentPacket::State::kLost);
  packet.state = SentPacket::State::kInFlight;
  packet.transmissions = one_more(packet.transmissions) & SentPacket::kMany;
  packet.sent = now;
  packet.ev = static_cast<uint16_t>(ev);
  if (newest_ == kNone) {
    oldest_ = s;
  } else {
    // Both are in the table, so they are less than kMaxCapacity apart.
    packet.to_older = static_cast<int16_t>(newest_ - s);
    packets_[newest_].to_newer = static_cast<int16_t>(s - newest_);
  }
  newest_ = s;
  ++in_flight_;
  --lost_;
}

void OutstandingTable::unlink(Sequence s, SentPacket& packet) {
  // A distance of 0 would lead to the packet itself; so it is the first or the last one.
  const int16_t to_older = std::exchange(packet.to_older, 0);
  const int16_t to_newer = std::exchange(packet.to_newer, 0);
  const auto between =
      static_cast<int16_t>(to_older == 0 || to_newer == 0 ? 0 : to_newer - to_older);
  if (to_older == 0) {
    oldest_ = to_newer == 0 ? kNone : s + to_newer;
  } else {
    packets_[s + to_older].to_newer = between;
  }
  if (to_newer == 0) {
    newest_ = to_older == 0 ? kNone : s + to_older;
  } else {
    packets_[s + to_newer].to_older = static_cast<int16_t>(-between);
  }
  --in_flight_;
}

void OutstandingTable::mark_sacked(Sequence s) {
  assert(contains(s));
  SentPacket& packet = packets_[s];
  assert(packet.state != SentPacket::State::kSacked);
  if (packet.state == SentPacket::State::kInFlight) {
    unlink(s, packet);
  } else if (packet.state == SentPacket::State::kLost) {
    --lost_;
  }
  packet.state = SentPacket::State::kSacked;
}

void OutstandingTable::mark_lost(Sequence s) {
  leave_flight(s);
  wait_for_transmission(s);
}

void OutstandingTable::leave_flight(Sequence s) {
  assert(contains(s));
  SentPacket& packet = packets_[s];
  assert(packet.state == SentPacket::State::kInFlight);
  unlink(s, packet);
}

void OutstandingTable::wait_for_transmission(Sequence s) {
  packets_[s].state = SentPacket::State::kLost;
  ++lost_;
  lost_hint_ = std::min(lost_hint_, s);
}

void OutstandingTable::mark_refused(Sequence s) {
  leave_flight(s);
  packets_[s].state = SentPacket::State::kRefused;
}

void OutstandingTable::mark_due(Sequence s) {
  assert(contains(s) && packets_[s].state == SentPacket::State::kRefused);
  wait_for_transmission(s);
}

void OutstandingTable::declare_lost(Sequence s) {
  mark_lost(s);
  SentPacket& packet = packets_[s];
  packet.declared_lost = one_more(packet.declared_lost) & SentPacket::kMany;
  losses_.make_room(begin_, losses_end_, end_);
  losses_end_ = end_;
  losses_[s] = {packet.sent, packet.ev};
}

void OutstandingTable::release_oldest() {
  assert(size() > 0 && packets_[begin_].state == SentPacket::State::kSacked);
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
  while (packets_[lost_hint_].state != SentPacket::State::kLost) ++lost_hint_;
  return lost_hint_;
}

}  // namespace mrclab::endpoint
