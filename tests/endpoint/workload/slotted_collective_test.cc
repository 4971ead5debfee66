// One host of a ring of two with slots, played against by hand: what it posts, and what it waits for. What comes out on
// whole fabrics is workloads_test's.

#include "endpoint/workload/slotted_collective.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/endpoint/workload/collective_verbs.h"

using namespace mrclab;
using namespace mrclab::endpoint;

namespace {

constexpr SlotSpec kHandSlots{Bytes{32 << 10}, 8, 1};  // four slots of 8 KiB
constexpr uint64_t kHandVector = 64 << 10;             // two loops of two chunks of two slices

class SlotHand : public test::CollectiveVerbs {
 public:
  explicit SlotHand(uint32_t iterations = 0)
      : program(CollectiveKind::kAllReduce, {kHandVector}, 2, kHandSlots),
        inbox(program.inbox_size().value),
        outgoing(program.inbox_size().value),
        credit(SlottedCollective::kCreditBytes),
        app(config(iterations)) {
    app.start(*this);
  }
  SlottedCollective::Config config(uint32_t iterations) {
    SlottedCollective::Config c(program);
    c.iterations = iterations;
    c.seed = 5;
    c.links.resize(1);
    SlottedCollective::Link& link = c.links.front();
    link.out = {{0}};
    link.in = {{1}};
    link.remote_va = 1 << 20;
    link.credit_va = 2 << 20;
    link.inbox = inbox;
    link.outgoing = outgoing;
    c.credit = credit;
    return c;
  }
  bool post_write(QpHandle qp, const WriteRequest& request) override {
    if (qp == QpHandle{1}) return ++credits > 0;
    posted.push_back(request);
    return true;
  }
  void give_credits(int count) {
    while (count-- > 0) app.on_receive_immediate(*this, {0}, 0);
  }
  /// The neighbour's next slice: its own part of chunk 1, or the result of chunk 0.
  void receive(bool result) {
    const size_t chunk = result ? 0 : 1;
    const ReduceChunk piece = program.piece(0, chunk, place);
    fill_ramp(Memory(inbox).subspan(program.slot_at(0, received++), piece.length), piece.offset / 4,
              result ? app.data().sum_of(done) : app.data().input_of(1, done));
    app.on_receive_immediate(*this, {1}, 0);
  }
  void complete(size_t index) { app.on_write_complete(*this, {0}, posted[index].id); }

  SlotProgram program;
  SlotProgram::Place place;  ///< loop and slice of what is received
  std::vector<uint8_t> inbox, outgoing, credit;
  std::vector<WriteRequest> posted;
  int credits = 0;
  uint64_t received = 0;
  SlottedCollective app;
};

}  // namespace

TEST_CASE("a host gives a credit for each slot at once, and sends nothing without one") {
  SlotHand h;
  CHECK(h.credits == 4);
  CHECK(h.posted.empty());
  h.give_credits(1);
  REQUIRE(h.posted.size() == 1);
  CHECK(h.posted[0].local.size() == 8 << 10);
  CHECK(h.posted[0].remote_va == 1 << 20);
  h.give_credits(1);
  REQUIRE(h.posted.size() == 2);
  CHECK(h.posted[1].remote_va == (1 << 20) + (8 << 10));
}

TEST_CASE(
    "an operation waits for data, a credit and a free slot to send from, and then gives a credit") {
  SlotHand h;
  h.give_credits(4);
  REQUIRE(h.posted.size() == 2);  // both slices of chunk 0; the next one has to add what comes
  h.receive(false);
  CHECK(h.posted.size() == 3);
  CHECK(h.credits == 5);
  CHECK(h.verified == 8 << 10);  // both inputs are in it
  h.place.slice = 1;
  h.receive(false);
  CHECK(h.posted.size() == 4);
  h.place.slice = 0;
  h.receive(true);  // only received
  h.place.slice = 1;
  h.receive(true);
  CHECK(h.verified == 32 << 10);
  CHECK(h.credits == 8);  // as many as there are messages in an iteration
  h.give_credits(1);
  CHECK(h.posted.size() == 4);  // the next loop's first slice, but no write is acknowledged
  h.complete(0);
  REQUIRE(h.posted.size() == 5);
  CHECK(h.posted[4].local.data() == h.posted[0].local.data());
  CHECK(h.mismatched == 0);
}

TEST_CASE("the next iteration begins when one has ended, and the last one ends the work") {
  SlotHand h(2);
  for (const uint32_t iteration : {0u, 1u}) {
    REQUIRE(h.done == iteration);
    CHECK_FALSE(h.app.finished());
    for (const uint64_t loop : {0u, 1u}) {
      h.give_credits(4);
      for (const bool result : {false, true}) {
        for (const uint32_t slice : {0u, 1u}) {
          h.place = {loop, 0, slice};
          h.receive(result);
        }
      }
      for (size_t i = h.posted.size() - 4; i < h.posted.size(); ++i) h.complete(i);
    }
  }
  CHECK(h.done == 2);
  CHECK(h.app.finished());
  CHECK(h.mismatched == 0);
  CHECK(h.verified == 2 * kHandVector);
  CHECK(h.credits == 16);
}

TEST_CASE(
    "a peer that sends more than it has credits for, or credits for what was not sent, changes nothing") {
  SlotHand h;
  h.give_credits(100);
  CHECK(h.posted.size() == 2);
  for (int i = 0; i < 100; ++i) h.app.on_receive_immediate(h, {1}, 0);
  CHECK(h.posted.size() <= 4);
  h.app.on_receive_immediate(h, {1}, 7);  // no such channel
  h.app.on_receive_immediate(h, {9}, 0);  // no such queue pair
  CHECK(h.posted.size() <= 4);
}

TEST_CASE("the pieces of a program cover the vector without gap, of every collective") {
  for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                    CollectiveKind::kAllToAll, CollectiveKind::kSendRecv}) {
    for (const uint64_t size : {4u, 100u, 4'000'004u}) {
      const SlotProgram program(kind, {size}, 3, {Bytes{64 << 10}, 8, 2});
      uint64_t covered = 0, longest = 0;
      for (uint32_t channel = 0; channel < program.channels(); ++channel) {
        for (size_t chunk = 0; chunk < (kind == CollectiveKind::kSendRecv ? 1 : 3); ++chunk) {
          uint64_t messages = 0;
          for (SlotProgram::Place at; !program.ended(channel, chunk, at);
               program.advance(channel, chunk, at)) {
            messages += !program.is_ring() || program.sends(at);
            if (at.step > 0) continue;
            const ReduceChunk piece = program.piece(channel, chunk, at);
            covered += piece.length;
            longest = std::max(longest, piece.length);
          }
          CHECK(messages == program.messages(channel, chunk));
        }
      }
      const bool whole = kind == CollectiveKind::kSendRecv;
      CHECK(covered == std::max<uint64_t>(size, whole ? 4 : 12));
      CHECK(longest <= program.slot_bytes());
    }
  }
}
