// What a program asks of its session, and what it is refused.

#include <algorithm>
#include <array>

#include "tests/verbs/support/verbs_world.h"

using namespace mrclab;
using namespace mrclab::test;
using verbs::Op;

TEST_CASE("a program is told its host, its device and the bounds of its queues") {
  VerbsWorld world;
  auto guest = world.enter(1);
  const verbs::HelloReply hello = guest->greet();
  CHECK(std::string(hello.host) == "h1");
  CHECK(std::string(hello.device) == "mrc0");
  CHECK(hello.host_number == 1);
  CHECK(hello.ports == 2);
  CHECK(hello.rate_bps == 2 * world.fabric.topology.host_rate.bps);
  CHECK(hello.max_cqe == 65'536);
  CHECK((hello.capabilities & verbs::kCanWrite) != 0);
  CHECK((hello.capabilities & verbs::kCanRead) == 0);
  CHECK(hello.gid[0] == 0xfd);
  CHECK(guest->call(Op::kHello, verbs::HelloRequest{}).status == EALREADY);
  CHECK(guest->call(Op::kQueryPort).as<verbs::PortReply>().gids != 0);
}

TEST_CASE("nothing is answered before a hello, and a hello needs the program's memory") {
  VerbsWorld world;
  auto guest = world.enter(0);
  CHECK(guest->call(Op::kQueryPort).status == -1);
  verbs::HelloRequest hello{};
  hello.version = verbs::kProtocolVersion;
  CHECK(guest->call(Op::kHello, hello).status == EPROTO);
  std::vector<netio::FileDescriptor> wrong;
  wrong.push_back(netio::FileDescriptor::open("/dev/zero", O_RDWR));
  CHECK(guest->call(Op::kHello, hello, std::move(wrong)).status == EINVAL);
  hello.version = verbs::kProtocolVersion + 1;
  CHECK(guest->call(Op::kHello, hello).status == EPROTO);
  CHECK_NOTHROW(guest->greet());
}

TEST_CASE("objects that are in use are not destroyed, and unknown ones are not found") {
  VerbsWorld world;
  auto guest = world.enter(0);
  guest->greet();
  netio::FileDescriptor events;
  const uint32_t channel = guest->channel(events);
  const uint32_t cq = guest->cq(10, channel);
  const verbs::QpReply qp = guest->qp(cq, cq);
  const auto status = [&](Op op, uint32_t handle) {
    return guest->call(op, verbs::HandleRequest{handle, 0}).status;
  };
  CHECK(status(Op::kDestroyChannel, channel) == EBUSY);
  CHECK(status(Op::kDestroyCq, cq) == EBUSY);
  for (const Op op : {Op::kDestroyChannel, Op::kDestroyCq, Op::kDestroyQp, Op::kDestroySrq,
                      Op::kDeregisterMemory, Op::kQueryQp, Op::kQuerySrq}) {
    for (const uint32_t handle : {0u, 99u, 0xFFFF'FFFFu}) CHECK(status(op, handle) == ENOENT);
  }
  CHECK(status(Op::kDestroyQp, qp.handle) == 0);
  CHECK(status(Op::kDestroyQp, qp.handle) == ENOENT);
  CHECK(status(Op::kDestroyCq, cq) == 0);
  CHECK(status(Op::kDestroyChannel, channel) == 0);
}

TEST_CASE("memory that is not there, wraps around or may not be written is not registered") {
  VerbsWorld world;
  auto guest = world.enter(0);
  guest->greet();
  std::vector<uint8_t> memory(8192);
  const auto address = reinterpret_cast<uint64_t>(memory.data());
  const auto status = [&](uint64_t at, uint64_t length, uint64_t iova, uint32_t access) {
    return guest->call(Op::kRegisterMemory, verbs::RegionRequest{at, length, iova, access, 1})
        .status;
  };
  CHECK(status(address, memory.size(), address, 15) == 0);
  CHECK(status(address, memory.size(), 0, 15) == 0);  // another address for peers
  CHECK(status(8, 4096, 8, 15) == EFAULT);
  CHECK(status(address, uint64_t{1} << 46, address, 15) == EFAULT);
  CHECK(status(address, 0, address, 15) == EINVAL);
  CHECK(status(UINT64_MAX - 10, 100, 0, 15) == EINVAL);
  CHECK(status(address, 100, UINT64_MAX - 10, 15) == EINVAL);
  CHECK(status(address, 100, address, verbs::kRemoteWrite) == EINVAL);
}

TEST_CASE("a program may use any number of protection domains one after the other") {
  VerbsWorld world;
  auto guest = world.enter(0);
  guest->greet();
  std::vector<uint8_t> memory(4096);
  const auto address = reinterpret_cast<uint64_t>(memory.data());
  const auto registered = [&](uint32_t domain) {
    return guest->call(Op::kRegisterMemory,
                       verbs::RegionRequest{address, memory.size(), address, 15, domain});
  };
  CHECK(registered(1).status == 0);  // and stays
  for (uint32_t domain = 2; domain < 4200; ++domain) {
    auto reply = registered(domain);
    REQUIRE(reply.status == 0);
    const uint32_t handle = reply.as<verbs::RegionReply>().handle;
    REQUIRE(guest->call(Op::kDeregisterMemory, verbs::HandleRequest{handle, 0}).status == 0);
  }
}

TEST_CASE("an entry of the table of GIDs that the address has left is no way to RTR") {
  VerbsWorld world;
  world.fabric.host(0).device().set_gid_moves(true);
  auto guest = world.enter(0);
  auto peer = world.enter(1);
  guest->greet();
  peer->greet();
  const uint32_t cq = guest->cq(10);
  const auto receives = [&](uint8_t entry) {
    verbs::ModifyRequest request{};
    request.handle = guest->qp(cq, cq).handle;
    request.attributes.state = 1;
    request.mask = 0x39;
    CHECK(guest->call(Op::kModifyQp, request).status == 0);
    request.attributes.state = 2;
    request.mask = 0x129181;
    std::copy_n(peer.program->hello.gid, 16, request.attributes.remote_gid);
    request.attributes.remote_qpn = 17;
    request.attributes.path_mtu = 5;
    request.attributes.sgid_index = entry;
    return guest->call(Op::kModifyQp, request).status;
  };
  CHECK(receives(0) == 0);
  CHECK(receives(3) == 0);
  for (const uint8_t entry : {uint8_t{4}, uint8_t{8}, uint8_t{255}})
    CHECK(receives(entry) == ENODATA);
  for (const bool up : {false, true}) {
    for (const char* port : {"h0:p0", "h0:p1"}) {
      world.fabric.set_link(world.fabric.now(), world.fabric.link_of(port), up);
    }
    world.run(FabricTime::from_us(10), {guest.session.get()});
  }
  CHECK(receives(0) == ENODATA);
  CHECK(receives(4) == 0);
}

TEST_CASE("a queue pair goes through its states by the rules of its transport") {
  VerbsWorld world;
  auto guest = world.enter(0);
  guest->greet();
  const uint32_t cq = guest->cq(10);
  const verbs::QpReply qp = guest->qp(cq, cq);
  verbs::ModifyRequest request{};
  request.handle = qp.handle;
  const auto modify = [&](uint32_t state, uint32_t mask) {
    request.attributes.state = state;
    request.mask = mask;
    return guest->call(Op::kModifyQp, request).status;
  };
  const auto state = [&] {
    return guest->call(Op::kQueryQp, verbs::HandleRequest{qp.handle, 0})
        .as<verbs::QueryReply>()
        .attributes.state;
  };
  CHECK(state() == 0);
  CHECK(modify(2, 0x129181) == EINVAL);  // RESET -> RTR
  CHECK(modify(1, 0x39) == 0);
  CHECK(state() == 1);
  CHECK(modify(2, 0x1) == EINVAL);       // no path
  CHECK(modify(2, 0x129181) == EINVAL);  // to nobody
  std::copy_n(world.fabric.host(1).device().query_device().ports != 0 ? guest->hello.gid : nullptr,
              16, request.attributes.remote_gid);
  request.attributes.remote_gid[15] ^= 0;
  CHECK(modify(7, 1) == EINVAL);
  CHECK(modify(4, 1) == EINVAL);  // SQD
  CHECK(modify(1, 0x80000001) == EINVAL);
  CHECK(modify(6, 1) == 0);
  CHECK(state() == 6);
  CHECK(modify(6, 0x39) == EINVAL);
  CHECK(modify(0, 1) == 0);
  CHECK(state() == 0);
}

TEST_CASE("a program that ends at any step leaves its host as it was") {
  VerbsWorld world;
  for (uint32_t step = 0; step < 9; ++step) {
    CAPTURE(step);
    auto peer = world.enter(1);
    auto guest = world.enter(0);
    std::vector<uint8_t> memory(8192);
    [&] {
      if (step == 0) return;
      guest->greet();
      peer->greet();
      if (step == 1) return;
      const auto region = guest->region(memory);
      if (step == 2) return;
      netio::FileDescriptor events;
      const uint32_t cq = guest->cq(16, guest->channel(events));
      if (step == 3) return;
      const auto qp = guest->qp(cq, cq);
      if (step == 4) return;
      const uint32_t peer_cq = peer->cq(16);
      const auto peer_qp = peer->qp(peer_cq, peer_cq);
      const auto peer_region = peer->region(memory);
      REQUIRE(guest->connect(qp, peer->hello.gid, peer_qp.qpn) == 0);
      REQUIRE(peer->connect(peer_qp, guest->hello.gid, qp.qpn) == 0);
      if (step == 5) return;
      for (int i = 0; i < 8; ++i) {
        REQUIRE(guest->write(qp.handle, 1, memory, region.lkey,
                             reinterpret_cast<uint64_t>(memory.data()), peer_region.rkey));
      }
      if (step == 6) return;
      guest.session->take_work(FabricTime::never());
      if (step == 7) return;
      world.fabric.run_until(world.fabric.now() + FabricTime::from_us(2));
    }();
    guest.session.reset();
    world.fabric.run_until(world.fabric.now() + FabricTime::from_us(20));
    peer.session.reset();
    world.fabric.run_until(world.fabric.now() + FabricTime::from_us(20));
    CHECK(world.fabric.host(0).stats().qps == 0);
  }
  // All that there may be can be made again: nothing was left behind.
  auto guest = world.enter(0);
  guest->greet();
  std::vector<uint8_t> memory(4096);
  for (uint32_t i = 0; i < guest->hello.max_mr; ++i) {
    REQUIRE(
        guest
            ->call(Op::kRegisterMemory,
                   verbs::RegionRequest{reinterpret_cast<uint64_t>(memory.data()), 4096, 0, 1, 1})
            .status == 0);
  }
  CHECK(guest
            ->call(Op::kRegisterMemory,
                   verbs::RegionRequest{reinterpret_cast<uint64_t>(memory.data()), 4096, 0, 1, 1})
            .status == ENOMEM);
}

namespace {

/// Every port of a host.
void set_ports(VerbsWorld& world, uint32_t host, bool up) {
  const NodeSite& site = world.fabric.topology.node(world.fabric.topology.host(host));
  for (uint32_t port = 0; port < site.ports.size(); ++port) {
    world.fabric.set_link(world.fabric.now() + FabricTime::from_us(1),
                          world.fabric.topology.port({site.id, PortId{port}}).link, up);
  }
}

}  // namespace

TEST_CASE("a program hears of its one port when all planes are dark, and when one is back") {
  VerbsWorld world;
  auto guest = world.enter(0);
  guest->greet();
  const auto port = [&] { return guest->call(Op::kQueryPort).as<verbs::PortReply>(); };
  CHECK(port().active == 1);
  CHECK(port().live_ports == 3);
  set_ports(world, 0, false);
  world.run(FabricTime::from_us(50), {guest.session.get()});
  CHECK(port().active == 0);
  const auto down = read_event<verbs::AsyncEventWire>(guest->events);
  REQUIRE(down);
  CHECK(down->event == 10);
  CHECK_FALSE(read_event<verbs::AsyncEventWire>(guest->events));
  set_ports(world, 0, true);
  world.run(FabricTime::from_us(50), {guest.session.get()});
  CHECK(port().active == 1);
  const auto up = read_event<verbs::AsyncEventWire>(guest->events);
  REQUIRE(up);
  CHECK(up->event == 9);
}

TEST_CASE("by RC programs send, read and swap") {
  VerbsWorld world(two_rows(), endpoint::TransportKind::kRoce);
  ConnectedPair pair(world);
  REQUIRE(pair.status_a == 0);
  REQUIRE(pair.status_b == 0);
  CHECK((pair.a.guest->hello.capabilities & verbs::kCanRead) != 0);
  pair.a.memory[0] = 42;
  REQUIRE(pair.b.guest->receive(pair.b.qp.handle, 3, std::span(pair.b.memory).subspan(100, 64),
                                pair.b.region.lkey));
  REQUIRE(pair.write(1, 0, 64, kWrSignaled, kWrSend));
  pair.run(FabricTime::from_us(50));
  const auto got = pair.b.guest->poll(pair.b.cq);
  REQUIRE(got);
  CHECK(got->wr_id == 3);
  CHECK(got->opcode == 128);
  CHECK(got->bytes == 64);
  CHECK(pair.b.memory[100] == 42);
  CHECK(pair.a.guest->poll(pair.a.cq)->opcode == 0);

  std::fill(pair.b.memory.begin(), pair.b.memory.begin() + 10'000, uint8_t{9});
  REQUIRE(pair.write(2, 0, 10'000, kWrSignaled, kWrRead));
  pair.run(FabricTime::from_us(50));
  const auto read = pair.a.guest->poll(pair.a.cq);
  REQUIRE(read);
  CHECK(read->opcode == 2);
  CHECK(read->status == 0);
  CHECK(pair.a.memory[9999] == 9);

  uint64_t value = 7;
  std::memcpy(pair.b.memory.data(), &value, sizeof value);
  verbs::WorkRecord record{};
  record.handle = pair.a.qp.handle;
  record.wr_id = 4;
  record.opcode = kWrSwap;
  record.flags = kWrSignaled;
  record.remote_address = reinterpret_cast<uint64_t>(pair.b.memory.data());
  record.rkey = pair.b.region.rkey;
  record.compare_add = 7;
  record.swap = 99;
  const verbs::WorkSge sge{reinterpret_cast<uint64_t>(pair.a.memory.data()), 8, pair.a.region.lkey};
  REQUIRE(pair.a.guest->post(record, {&sge, 1}));
  pair.run(FabricTime::from_us(50));
  const auto swapped = pair.a.guest->poll(pair.a.cq);
  REQUIRE(swapped);
  CHECK(swapped->opcode == 3);
  CHECK(swapped->status == 0);
  std::memcpy(&value, pair.a.memory.data(), sizeof value);
  CHECK(value == 7);
  std::memcpy(&value, pair.b.memory.data(), sizeof value);
  CHECK(value == 99);
}

TEST_CASE("a host that loses its power ends its programs, and others can come when it is back") {
  VerbsWorld world;
  ConnectedPair pair(world);
  const NodeId host = world.fabric.topology.host(0);
  const FabricTime at = world.fabric.now() + FabricTime::from_us(5);
  REQUIRE(pair.write(1, 0, 64 * 1024));
  pair.run(FabricTime::from_us(1));
  world.fabric.apply(at, HostState{host, HostWork::kDown});
  world.fabric.apply(at + FabricTime::from_us(5), HostState{host, HostWork::kRunning});
  pair.run(FabricTime::from_us(20));
  CHECK(pair.a.guest.session->broken());
  CHECK(pair.a.guest->call(Op::kQueryPort).status == -1);
  CHECK_FALSE(pair.b.guest.session->broken());
  pair.a.guest.session.reset();
  CHECK(world.fabric.host(0).stats().qps == 0);
  auto next = world.enter(0);
  CHECK(next->greet().max_qp > 0);
  const uint32_t cq = next->cq(4);
  CHECK(next->connect(next->qp(cq, cq), pair.b.guest->hello.gid, pair.b.qp.qpn) == 0);
}

TEST_CASE("a queue pair that is reset forgets its work, and what it did next is its own") {
  VerbsWorld world;
  ConnectedPair pair(world);
  for (uint64_t id = 0; id < 10; ++id) REQUIRE(pair.write(id, 0, id < 5 ? 64 : 64 * 1024));
  pair.run(FabricTime::from_us(1));
  // The device completes some, and nobody has handed them over yet.
  world.fabric.run_until(world.fabric.now() + FabricTime::from_us(40));
  verbs::ModifyRequest reset{};
  reset.handle = pair.a.qp.handle;
  reset.mask = 1;
  REQUIRE(pair.a.guest->call(Op::kModifyQp, reset).status == 0);
  uint64_t before = 0;
  while (pair.a.guest->poll(pair.a.cq)) ++before;
  pair.run(FabricTime::from_us(50));
  CHECK_FALSE(pair.a.guest->poll(pair.a.cq));
  CHECK(before > 0);
  reset.handle = pair.b.qp.handle;
  REQUIRE(pair.b.guest->call(Op::kModifyQp, reset).status == 0);
  REQUIRE(pair.a.guest->connect(pair.a.qp, pair.b.guest->hello.gid, pair.b.qp.qpn, 5, 6) == 0);
  REQUIRE(pair.b.guest->connect(pair.b.qp, pair.a.guest->hello.gid, pair.a.qp.qpn, 6, 5) == 0);
  REQUIRE(pair.write(77, 0, 4096));
  pair.run(FabricTime::from_us(50));
  const auto done = pair.a.guest->poll(pair.a.cq);
  REQUIRE(done);
  CHECK(done->wr_id == 77);
  CHECK(done->status == 0);
}

TEST_CASE("probes of paths are answered when their answers are there, or their time is over") {
  VerbsWorld world;
  ConnectedPair pair(world);
  verbs::ProbeRequest request{};
  std::copy_n(pair.b.guest->hello.gid, 16, request.gid);
  request.count = 2;
  request.timeout_ns = 40'000;
  request.values[0] = ev_of(Path{0, 0}).value;
  request.values[1] = ev_of(Path{7, 0}).value;  // there is no such plane
  const auto started = pair.a.guest->call(Op::kProbePaths, request).as<verbs::ProbeStartedReply>();
  const auto poll = [&] {
    return pair.a.guest->call(Op::kPollProbes, verbs::PollProbesRequest{started.request})
        .as<verbs::ProbeReply>();
  };
  const verbs::ProbeReply before = poll();
  CHECK(before.count == 0);
  CHECK(before.left == 2);
  pair.run(FabricTime::from_us(60));
  const verbs::ProbeReply reply = poll();
  CHECK(reply.count == 2);
  CHECK(reply.left == 0);
  CHECK(reply.paths[0].answered == 1);
  CHECK(reply.paths[0].rtt_ns > 1000);
  CHECK(reply.paths[1].answered == 0);
}
