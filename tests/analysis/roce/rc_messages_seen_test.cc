// Where RC's packets go, of which only the first of a message has an address.

#include "analysis/history/rc_messages_seen.h"

#include <doctest/doctest.h>

#include <optional>

namespace mrclab::analysis {
namespace {

constexpr uint32_t kPmtu = 4096;
constexpr uint64_t kFlow = 7;

MrcPacket first_of_write(uint32_t psn, uint64_t va, uint32_t packets) {
  MrcPacket packet;
  packet.bth.opcode = packets == 1 ? Opcode::kRcWriteOnly : Opcode::kRcWriteFirst;
  packet.bth.psn = Psn{psn};
  packet.extension = RcHeaders{Reth{va, 0xAB, packets * kPmtu}, std::nullopt};
  packet.payload_length = kPmtu;
  return packet;
}

MrcPacket middle_of_write(uint32_t psn) {
  MrcPacket packet;
  packet.bth.opcode = Opcode::kRcWriteMiddle;
  packet.bth.psn = Psn{psn};
  packet.extension = RcHeaders{};
  packet.payload_length = kPmtu;
  return packet;
}

std::optional<uint64_t> place_of(RcMessagesSeen& seen, const MrcPacket& packet) {
  const std::optional<Placement> placement = seen.placement_of(kFlow, packet);
  return placement ? std::optional(placement->va) : std::nullopt;
}

TEST_CASE("packets of RC go behind the address of their message, also when they are sent again") {
  RcMessagesSeen seen(kPmtu);
  CHECK(place_of(seen, middle_of_write(9)) == std::nullopt);
  CHECK(place_of(seen, first_of_write(10, 0x10000, 3)) == 0x10000u);
  CHECK(place_of(seen, middle_of_write(11)) == 0x10000 + kPmtu);
  CHECK(place_of(seen, first_of_write(13, 0x80000, 2)) == 0x80000u);
  CHECK(place_of(seen, middle_of_write(12)) == 0x10000 + 2 * kPmtu);
  CHECK(place_of(seen, first_of_write(10, 0x10000, 3)) == 0x10000u);  // go-back-N
  CHECK(place_of(seen, middle_of_write(14)) == 0x80000 + kPmtu);
  CHECK(place_of(seen, middle_of_write(15)) == std::nullopt);
  // Its first transmission was not seen, and neither was anything before it.
  CHECK(place_of(seen, first_of_write(5, 0x40000, 2)) == 0x40000u);
  CHECK(place_of(seen, middle_of_write(6)) == 0x40000 + kPmtu);
  CHECK(place_of(seen, middle_of_write(14)) == 0x80000 + kPmtu);
  CHECK(place_of(seen, first_of_write(15, 0xC0000, 1)) == 0xC0000u);
}

TEST_CASE("a message of RC goes on where sequence numbers begin anew") {
  RcMessagesSeen seen(kPmtu);
  CHECK(place_of(seen, first_of_write(Psn::kMask - 1, 0x10000, 4)) == 0x10000u);
  CHECK(place_of(seen, middle_of_write(0)) == 0x10000 + 2 * kPmtu);
  CHECK(place_of(seen, first_of_write(2, 0x80000, 2)) == 0x80000u);
  CHECK(place_of(seen, middle_of_write(1)) == 0x10000 + 3 * kPmtu);
  CHECK(place_of(seen, middle_of_write(3)) == 0x80000 + kPmtu);
}

}  // namespace
}  // namespace mrclab::analysis
