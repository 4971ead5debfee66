#include "endpoint/queue_pair/send_queue.h"

#include <doctest/doctest.h>

#include <array>
#include <vector>

using namespace mrclab;
using namespace mrclab::endpoint;

namespace {

constexpr uint32_t kPmtu = 1024;

/// A queue, the table that its packets go to, and memory for writes of up to four packets.
struct Sender {
  SendQueue queue{kPmtu, 0};
  OutstandingTable table{64};
  std::array<uint8_t, 4 * kPmtu> bytes{};

  bool post(uint64_t id, size_t size, std::optional<uint32_t> immediate = {}) {
    return queue.post({id, ConstMemory(bytes.data(), size), 0x1000 * id, 7, immediate});
  }
  SendQueue::PacketView cut() {
    const Sequence s = table.end();
    queue.cut_packet_into(table);
    SendQueue::PacketView view;
    queue.describe(table[s], view);
    return view;
  }
  std::vector<uint64_t> complete(Sequence acknowledged) {
    std::vector<uint64_t> ids;
    while (const auto number = queue.complete_next(acknowledged)) {
      ids.push_back(queue.id_of(*number));
    }
    return ids;
  }
};

}  // namespace

TEST_CASE("a write of two packets and a half is cut into FIRST, MIDDLE and LAST") {
  Sender sender;
  REQUIRE(sender.post(1, 2 * kPmtu + 100));
  CHECK(sender.queue.next_length() == kPmtu);
  CHECK(sender.cut().opcode == Opcode::kWriteFirst);
  CHECK(sender.cut().opcode == Opcode::kWriteMiddle);
  CHECK(sender.queue.next_length() == 100);
  const SendQueue::PacketView last = sender.cut();
  CHECK(last.opcode == Opcode::kWriteLast);
  CHECK(last.last);
  CHECK(last.payload.size() == 100);
  CHECK(last.reth.va == 0x1000 + 2 * kPmtu);
  CHECK_FALSE(sender.queue.has_uncut());
}

TEST_CASE("a packet knows its write by the low bits of its number, however many there were") {
  Sender sender;
  for (uint64_t number = 0; number < 70'000; ++number) {
    REQUIRE(sender.post(number, 1));
    const Sequence s = sender.table.end();
    REQUIRE(sender.cut().reth.va == 0x1000 * number);
    REQUIRE(sender.queue.number_of_write(sender.table[s]) == number);
    if (number < 3) continue;  // a few writes are never complete
    sender.table.transmitted(s - 3, FabricTime{}, 0);
    sender.table.mark_sacked(s - 3);
    sender.table.release_oldest();
    REQUIRE(sender.complete(s - 3) == std::vector<uint64_t>{number - 3});
  }
}

TEST_CASE("only the last packet of a write carries its immediate") {
  Sender sender;
  REQUIRE(sender.post(1, 2 * kPmtu, 42));
  CHECK_FALSE(sender.cut().immediate);
  const SendQueue::PacketView last = sender.cut();
  CHECK(last.opcode == Opcode::kWriteLastImm);
  CHECK(last.immediate == 42);
  CHECK(last.meth.rqmsn == 1);
}

TEST_CASE("writes complete in order, once their last packet is acknowledged") {
  Sender sender;
  for (uint64_t id = 1; id <= 3; ++id) REQUIRE(sender.post(id, 2 * kPmtu));
  for (int i = 0; i < 5; ++i) sender.cut();
  CHECK(sender.complete(0).empty());
  CHECK(sender.complete(2) == std::vector<uint64_t>{1});
  CHECK(sender.complete(4) == std::vector<uint64_t>{2});  // the third has a packet to be cut
  CHECK(sender.queue.unfinished_write(4) == 2);
  CHECK_FALSE(sender.queue.unfinished_write(3));  // acknowledged wholly
}

TEST_CASE("as many immediates are in flight as were agreed, and one more when one completes") {
  Sender sender;
  for (uint64_t id = 1; id <= 3; ++id) REQUIRE(sender.post(id, 10, 1));
  sender.cut();
  sender.cut();
  CHECK_FALSE(sender.queue.has_packet(2));
  CHECK(sender.queue.has_packet(3));
  CHECK(sender.complete(0) == std::vector<uint64_t>{1});
  CHECK(sender.queue.has_packet(2));
}

TEST_CASE("a full send queue is refused") {
  Sender sender;
  for (uint64_t id = 0; id < SendQueue::kLimit; ++id) REQUIRE(sender.post(id, 1));
  CHECK_FALSE(sender.post(9999, 1));
  sender.cut();
  CHECK(sender.complete(0).size() == 1);
  CHECK(sender.post(9999, 1));
}

TEST_CASE("what is given up is each write that is not complete, in order, whether started or not") {
  Sender sender;
  for (uint64_t id = 1; id <= 3; ++id) REQUIRE(sender.post(id, 10));
  sender.cut();
  std::vector<uint64_t> ids;
  while (const auto number = sender.queue.give_up_next())
    ids.push_back(sender.queue.id_of(*number));
  CHECK(ids == std::vector<uint64_t>{1, 2, 3});
  CHECK(sender.queue.completed() == sender.queue.posted());
  CHECK(sender.queue.started() == sender.queue.completed());
}
