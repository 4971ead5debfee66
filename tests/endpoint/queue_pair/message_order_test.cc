#include "endpoint/queue_pair/message_order.h"

#include "tests/support/attack_table.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using namespace mrclab::test;

namespace {

using P = MessageOrder::Packet;

/// How many packets of the stream are right before one breaks its message.
size_t whole(const std::vector<P>& stream) {
  MessageOrder order;
  for (size_t i = stream.size(); i-- > 0;) order.arrived(static_cast<Sequence>(i), stream[i]);
  size_t count = 0;
  while (count < stream.size() && order.check_next()) ++count;
  return count;
}

constexpr P only(uint16_t msn, uint32_t bytes) { return {true, true, msn, bytes, bytes}; }
constexpr P first(uint16_t msn, uint32_t bytes) { return {true, false, msn, bytes, 100}; }
constexpr P middle(uint16_t msn, uint32_t bytes) { return {false, false, msn, bytes, 100}; }
constexpr P last(uint16_t msn, uint32_t bytes, uint32_t payload) {
  return {false, true, msn, bytes, payload};
}

}  // namespace

TEST_CASE("packets that follow one another and add up make whole messages") {
  CHECK(whole({only(1, 50), first(2, 250), middle(2, 250), last(2, 250, 50), only(3, 1)}) == 5);
  CHECK(whole({first(7, 200), last(7, 200, 100), first(8, 150), last(8, 150, 50)}) == 4);
  constexpr uint16_t kNumber = 0xFFFF;  // and the longest packets that there are
  CHECK(whole({{true, false, kNumber, 8192, 4096}, {false, true, kNumber, 8192, 4096}}) == 2);
}

TEST_CASE("a message that is broken is noticed at the packet that breaks it") {
  CHECK(whole({middle(1, 300)}) == 0);
  CHECK(whole({last(1, 300, 50)}) == 0);
  CHECK(whole({only(1, 50), last(1, 300, 50)}) == 1);
  CHECK(whole({first(1, 300), first(2, 300)}) == 1);
  CHECK(whole({first(1, 300), only(2, 10)}) == 1);
  CHECK(whole({first(1, 250), middle(1, 251), last(1, 250, 50)}) == 1);  // lengths differ
  CHECK(whole({first(1, 250), middle(2, 250), last(1, 250, 50)}) == 1);  // messages differ
  CHECK(whole({first(1, 250), last(1, 250, 50)}) == 1);                  // too short
  CHECK(whole({first(1, 200), middle(1, 200), last(1, 200, 1)}) == 1);   // too long
}

TEST_CASE("a forged packet that breaks a message fails the queue pair at both ends, and only it") {
  PacketAttack attacked;
  attacked.run_until_idle();
  MrcFrameSpec spec = attacked.next_write(PacketAttack::topology().pmtu);
  spec.bth.opcode = Opcode::kWriteMiddle;
  std::get<WriteHeaders>(spec.extension).reth->dma_length = 8192;
  const auto frame = build_frame(spec);
  attacked.inject(1, frame, port_of(frame));
  attacked.run_until(FabricTime::from_us(6000));
  CHECK(attacked.stats(1).refused_for(Refusal::kBrokenMessage) == 1);
  for (uint32_t h = 0; h < 2; ++h) {
    CHECK(attacked.stats(h).qps_in_error == 1);
    CHECK(attacked.stats(h).bytes_mismatched == 0);
  }
  PacketAttack baseline;
  baseline.run_until(FabricTime::from_us(6000));
  CHECK(attacked.stats(0).bytes_verified == baseline.stats(0).bytes_verified);
}
