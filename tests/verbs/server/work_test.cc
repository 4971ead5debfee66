// Work requests and their completions.

#include <endian.h>

#include <algorithm>
#include <numeric>

#include "tests/verbs/support/verbs_world.h"

using namespace mrclab;
using namespace mrclab::test;
using verbs::Op;

TEST_CASE("inline data is taken at the post, a scatter list is joined in its order") {
  VerbsWorld world;
  ConnectedPair pair(world);
  verbs::WorkRecord record{};
  record.handle = pair.a.qp.handle;
  record.wr_id = 1;
  record.flags = kWrSignaled | kWrInline;
  record.remote_address = reinterpret_cast<uint64_t>(&pair.b.memory[0]);
  record.rkey = pair.b.region.rkey;
  const std::vector<uint8_t> data{5, 6, 7};
  REQUIRE(pair.a.guest->post(record, {}, data));
  record.flags = kWrSignaled;
  record.wr_id = 2;
  record.remote_address += 100;
  std::iota(pair.a.memory.begin(), pair.a.memory.begin() + 10, uint8_t{10});
  const auto at = reinterpret_cast<uint64_t>(pair.a.memory.data());
  const std::array<verbs::WorkSge, 3> sges{{{at + 4, 2, pair.a.region.lkey},
                                            {at, 0, 0xBAD},  // of no bytes: its key means nothing
                                            {at + 1, 3, pair.a.region.lkey}}};
  REQUIRE(pair.a.guest->post(record, sges));
  pair.run(FabricTime::from_us(50));
  CHECK(std::equal(data.begin(), data.end(), pair.b.memory.begin()));
  const std::vector<uint8_t> joined{14, 15, 11, 12, 13};
  CHECK(std::equal(joined.begin(), joined.end(), pair.b.memory.begin() + 100));
  CHECK(pair.a.guest->poll(pair.a.cq)->wr_id == 1);
  CHECK(pair.a.guest->poll(pair.a.cq)->wr_id == 2);
}

TEST_CASE("work that is not signaled completes without an entry") {
  VerbsWorld world;
  ConnectedPair pair(world, 4);
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 7; ++i) REQUIRE(pair.write(1, 0, 64, 0));
    REQUIRE(pair.write(2, 0, 64));
    pair.run(FabricTime::from_us(20));
    const auto done = pair.a.guest->poll(pair.a.cq);
    REQUIRE(done);
    CHECK(done->wr_id == 2);
    CHECK(done->status == 0);
    CHECK_FALSE(pair.a.guest->poll(pair.a.cq));
  }
}

TEST_CASE("a key that is not the program's ends the queue pair with a local error, in its turn") {
  VerbsWorld world;
  ConnectedPair pair(world);
  REQUIRE(pair.write(1, 0, 4096));
  REQUIRE(pair.a.guest->write(pair.a.qp.handle, 2, std::span(pair.a.memory).first(64),
                              pair.a.region.lkey + 1, 0, 0));
  REQUIRE(pair.write(3, 0, 64));
  pair.run(FabricTime::from_us(100));
  std::vector<std::pair<uint64_t, uint32_t>> got;
  while (const auto done = pair.a.guest->poll(pair.a.cq))
    got.emplace_back(done->wr_id, done->status);
  CHECK(got == std::vector<std::pair<uint64_t, uint32_t>>{{1, 0}, {2, 4}, {3, 5}});
}

TEST_CASE("memory of another protection domain is out of reach, here and there") {
  VerbsWorld world;
  ConnectedPair pair(world);
  const auto other = pair.a.guest->region(pair.a.memory, 15, 2);
  REQUIRE(pair.a.guest->write(pair.a.qp.handle, 1, std::span(pair.a.memory).first(64), other.lkey,
                              reinterpret_cast<uint64_t>(pair.b.memory.data()),
                              pair.b.region.rkey));
  pair.run(FabricTime::from_us(50));
  CHECK(pair.a.guest->poll(pair.a.cq)->status == 4);

  VerbsWorld next;
  ConnectedPair fresh(next);
  const auto theirs = fresh.b.guest->region(fresh.b.memory, 15, 2);
  REQUIRE(fresh.a.guest->write(fresh.a.qp.handle, 1, std::span(fresh.a.memory).first(64),
                               fresh.a.region.lkey,
                               reinterpret_cast<uint64_t>(fresh.b.memory.data()), theirs.rkey));
  fresh.run(FabricTime::from_us(100));
  CHECK(fresh.a.guest->poll(fresh.a.cq)->status == 10);
}

TEST_CASE("deregistered memory takes no more writes of a peer") {
  VerbsWorld world;
  ConnectedPair pair(world);
  REQUIRE(pair.b.guest->call(Op::kDeregisterMemory, verbs::HandleRequest{pair.b.region.handle, 0})
              .status == 0);
  std::fill(pair.a.memory.begin(), pair.a.memory.end(), uint8_t{1});
  REQUIRE(pair.write(1, 0, 64));
  pair.run(FabricTime::from_us(100));
  CHECK(pair.a.guest->poll(pair.a.cq)->status == 10);
  CHECK(pair.b.memory[0] == 0);
}

TEST_CASE("more bytes than may be copied at once wait, arrive all, and complete in order") {
  VerbsWorld world;
  constexpr size_t kMessage = 6 << 20;  // of kQpBytes two are under way
  ConnectedPair pair(world, 64, 64, kMessage);
  for (size_t i = 0; i < kMessage; i += 4096) pair.a.memory[i] = static_cast<uint8_t>(i >> 12);
  for (uint64_t id = 0; id < 5; ++id) REQUIRE(pair.write(id, 0, kMessage));
  pair.run(FabricTime::from_us(500));
  for (uint64_t id = 0; id < 5; ++id) {
    for (int more = 0; more < 20 && pair.a.guest->ring(pair.a.cq).written.load() <= id; ++more) {
      pair.run(FabricTime::from_us(200));
    }
    const auto done = pair.a.guest->poll(pair.a.cq);
    REQUIRE(done);
    CHECK(done->wr_id == id);
    CHECK(done->status == 0);
  }
  CHECK(pair.a.memory == pair.b.memory);
}

TEST_CASE("a completion queue that runs over ends its queue pairs and is reported") {
  VerbsWorld world;
  ConnectedPair pair(world, 4);
  for (uint64_t id = 0; id < 6; ++id) REQUIRE(pair.write(id, 0, 64));
  pair.run(FabricTime::from_us(50));
  for (uint64_t id = 0; id < 4; ++id) CHECK(pair.a.guest->poll(pair.a.cq)->wr_id == id);
  CHECK_FALSE(pair.a.guest->poll(pair.a.cq));
  const auto event = read_event<verbs::AsyncEventWire>(pair.a.guest->events);
  REQUIRE(event);
  CHECK(event->event == 0);
  CHECK(event->handle == pair.a.cq);
  CHECK(pair.a.guest->call(Op::kQueryQp, verbs::HandleRequest{pair.a.qp.handle, 0})
            .as<verbs::QueryReply>()
            .attributes.state == 6);
}

TEST_CASE("an armed queue fires once") {
  VerbsWorld world;
  auto a = world.enter(0), b = world.enter(1);
  a->greet();
  b->greet();
  netio::FileDescriptor events;
  const uint32_t cq = a->cq(16, a->channel(events)), other = b->cq(16);
  const auto qp = a->qp(cq, cq), peer = b->qp(other, other);
  std::vector<uint8_t> memory(64);
  const auto mine = a->region(memory), theirs = b->region(memory);
  REQUIRE(a->connect(qp, b->hello.gid, peer.qpn) == 0);
  REQUIRE(b->connect(peer, a->hello.gid, qp.qpn) == 0);
  const auto write = [&] {
    REQUIRE(a->write(qp.handle, 1, memory, mine.lkey, reinterpret_cast<uint64_t>(memory.data()),
                     theirs.rkey));
    world.run(FabricTime::from_us(20), {a.session.get(), b.session.get()});
  };
  write();
  CHECK_FALSE(read_event<verbs::ChannelEventWire>(events));
  REQUIRE(a->call(Op::kArmCq, verbs::ArmRequest{cq, 0}).status == 0);
  write();
  write();
  const auto event = read_event<verbs::ChannelEventWire>(events);
  REQUIRE(event);
  CHECK(event->cq == cq);
  CHECK_FALSE(read_event<verbs::ChannelEventWire>(events));
  REQUIRE(a->call(Op::kArmCq, verbs::ArmRequest{cq, 1}).status == 0);
  write();  // good, and nobody asked for an event
  CHECK_FALSE(read_event<verbs::ChannelEventWire>(events));
  CHECK(a->call(Op::kArmCq, verbs::ArmRequest{77, 0}).status == ENOENT);
}

TEST_CASE("work is taken up to an instant") {
  VerbsWorld world;
  ConnectedPair pair(world);
  verbs::WorkRecord record{};
  record.handle = pair.a.qp.handle;
  record.flags = kWrSignaled;
  record.remote_address = reinterpret_cast<uint64_t>(pair.b.memory.data());
  record.rkey = pair.b.region.rkey;
  const verbs::WorkSge sge{reinterpret_cast<uint64_t>(pair.a.memory.data()), 64,
                           pair.a.region.lkey};
  for (const uint64_t at : {1000u, 2000u}) {
    record.at_ps = at;
    REQUIRE(pair.a.guest->post(record, {&sge, 1}));
  }
  verbs::VerbsSession& session = *pair.a.guest.session;
  CHECK(session.next_work() == FabricTime::from_ps(1000));
  CHECK_FALSE(session.take_work(FabricTime::from_ps(999)));
  CHECK(session.take_work(FabricTime::from_ps(1999)));
  CHECK(session.next_work() == FabricTime::from_ps(2000));
  CHECK(session.take_work(FabricTime::from_ps(2000)));
  CHECK(session.next_work() == FabricTime::never());
}
