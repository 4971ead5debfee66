#include "endpoint/host/verbs.h"
#include "fabric/topology/build_topology.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "endpoint/base/memory_registry.h"
#include "endpoint/host/host_node.h"
#include "endpoint/options/profile_maker.h"
#include "fabric/topology/path.h"
#include "tests/support/pair_fabric.h"
#include "tests/support/sim_fabric.h"

namespace mrclab::endpoint {
namespace {

/// Two hosts whose devices are used from outside, as a program would.
class Pair : public test::PairFabric::Tap {
 public:
  explicit Pair(TransportProfile profile)
      : fabric_(topology_, config_of(std::move(profile)), 1, frames_,
                {&observers_[0], &observers_[1]}, *this) {}
  Pair() : Pair(make_profile("lab", plain())) {}

  void on_frame(uint32_t from, PortId port, Frame frame, FabricTime start,
                FabricTime arrival) override {
    if (!cut && from != silent) fabric_.deliver(1 - from, port, std::move(frame), start, arrival);
  }
  Device& operator[](uint32_t host) { return fabric_.host(host).device(); }
  Ipv6Address address(uint32_t host) const { return host_address(topology_, host); }
  /// Until nothing is left to do, or for so many steps.
  void run(size_t steps = 100'000) {
    for (size_t i = 0; i < steps && fabric_.next_event() != FabricTime::never(); ++i)
      fabric_.step();
  }
  test::PairFabric& fabric() { return fabric_; }
  bool cut = false;
  std::optional<uint32_t> silent;  ///< what this host sends is lost

 private:
  static Topology plain() {
    FabricShape shape;
    shape.planes = 4;
    shape.hosts_per_t0 = 2;
    return build_topology(shape);
  }
  static HostConfig config_of(TransportProfile profile) {
    HostConfig config;
    config.transport = std::move(profile);
    return config;
  }

  Topology topology_ = plain();
  FramePool frames_;
  test::RecordingObserver observers_[2];
  test::PairFabric fabric_;
};

struct End {
  CqHandle cq;
  Qpn qpn;
  Psn psn;
};

End make_end(Device& device, uint32_t depth = 256) {
  End end;
  end.cq = device.create_completion_queue(depth);
  end.qpn = device.create_queue_pair({end.cq, end.cq});
  end.psn = device.draw_first_psn(end.qpn);
  device.modify(end.qpn, InitAttributes{});
  return end;
}

void connect(Device& device, const End& mine, const End& theirs, const Ipv6Address& address) {
  ReadyToReceiveAttributes receive;
  receive.remote_address = address;
  receive.remote_qpn = theirs.qpn;
  receive.rq_psn = theirs.psn;
  device.modify(mine.qpn, receive);
  ReadyToSendAttributes send;
  send.sq_psn = mine.psn;
  device.modify(mine.qpn, send);
}

/// A pair with one connected queue pair at each end and memory at host 1.
struct Connected : Pair {
  explicit Connected(uint32_t depth = 256) : Pair(), inbox(100'000), ends{{}, {}} {
    for (uint32_t h = 0; h < 2; ++h) ends[h] = make_end((*this)[h], depth);
    for (uint32_t h = 0; h < 2; ++h) {
      mrclab::endpoint::connect((*this)[h], ends[h], ends[1 - h], address(1 - h));
    }
    region = (*this)[1].register_memory(inbox);
  }
  WorkRequest write(std::span<const uint8_t> bytes, uint64_t id) const {
    WorkRequest request;
    request.id = id;
    request.local = bytes;
    request.remote_va = region.va;
    request.rkey = region.rkey;
    return request;
  }
  std::vector<WorkCompletion> poll(uint32_t host) {
    std::vector<WorkCompletion> all(512);
    all.resize((*this)[host].poll_completions(ends[host].cq, all).size());
    return all;
  }
  std::vector<uint8_t> inbox;
  MemoryRegion region;
  End ends[2];
};

std::vector<uint8_t> bytes(size_t count) {
  std::vector<uint8_t> data(count);
  std::iota(data.begin(), data.end(), uint8_t{1});
  return data;
}

}  // namespace

TEST_CASE("a write with immediate completes at both ends and its bytes are in memory") {
  Connected pair;
  const auto data = bytes(50'000);
  CHECK(pair[1].post_receive(pair.ends[1].qpn, {.id = 11}) == PostResult::kOk);
  WorkRequest request = pair.write(data, 7);
  request.immediate = 0xBEEF;
  CHECK(pair[0].post(pair.ends[0].qpn, std::move(request)) == PostResult::kOk);
  pair.run();
  const auto sent = pair.poll(0);
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].wr_id == 7);
  CHECK(sent[0].status == WorkStatus::kSuccess);
  const auto received = pair.poll(1);
  REQUIRE(received.size() == 1);
  CHECK(received[0].wr_id == 11);
  CHECK(received[0].opcode == WorkOpcode::kReceiveRdmaWithImmediate);
  CHECK(received[0].immediate == 0xBEEFu);
  CHECK(received[0].byte_len == 50'000);
  CHECK(std::equal(data.begin(), data.end(), pair.inbox.begin()));
}

TEST_CASE("a queue pair goes RESET, INIT, RTR, RTS and no other way") {
  Pair pair;
  Device& device = pair[0];
  const CqHandle cq = device.create_completion_queue(8);
  const Qpn qpn = device.create_queue_pair({cq, cq});
  const auto data = bytes(8);
  WorkRequest request;
  request.local = data;
  CHECK(device.query_queue_pair(qpn).state == QpState::kReset);
  CHECK_THROWS_AS(device.modify(qpn, ReadyToReceiveAttributes{}), std::invalid_argument);
  CHECK_THROWS_AS(device.modify(qpn, ReadyToSendAttributes{}), std::invalid_argument);
  CHECK(device.post_receive(qpn, {.id = 1}) == PostResult::kWrongState);
  device.modify(qpn, InitAttributes{});
  CHECK(device.post_receive(qpn, {.id = 1}) == PostResult::kOk);
  CHECK_THROWS_AS(device.modify(qpn, InitAttributes{}), std::invalid_argument);
  ReadyToReceiveAttributes receive;
  receive.remote_address = pair.address(1);
  receive.remote_qpn = {0x1001};
  device.modify(qpn, receive);
  CHECK(device.post(qpn, {.local = data}) == PostResult::kWrongState);
  device.modify(qpn, ReadyToSendAttributes{});
  CHECK(device.query_queue_pair(qpn).state == QpState::kReadyToSend);
  CHECK(device.post({qpn.value ^ 0x1000}, {.local = data}) == PostResult::kUnknownQp);
}

TEST_CASE("attributes out of range and peers that nobody knows are refused and change nothing") {
  Pair pair;
  Device& device = pair[0];
  const CqHandle cq = device.create_completion_queue(8);
  CHECK_THROWS_AS(device.create_completion_queue(0), std::invalid_argument);
  CHECK_THROWS_AS(device.create_queue_pair({cq, CqHandle{9}}), std::invalid_argument);
  CHECK_THROWS_AS(device.create_queue_pair({cq, cq, kMaxWorkRequests + 1}), std::invalid_argument);
  const Qpn qpn = device.create_queue_pair({cq, cq});
  InitAttributes profile;
  profile.ev_profile_id = 99;
  CHECK_THROWS_AS(device.modify(qpn, profile), std::invalid_argument);
  device.modify(qpn, InitAttributes{});
  ReadyToReceiveAttributes receive;
  receive.remote_address = pair.address(1);
  receive.remote_qpn = {2};  // the endpoint QPN
  CHECK_THROWS_AS(device.modify(qpn, receive), std::invalid_argument);
  receive.remote_qpn = {0x1001};
  receive.mpr_dest = 0;
  CHECK_THROWS_AS(device.modify(qpn, receive), std::invalid_argument);
  receive.mpr_dest = 8;
  receive.remote_address.back() ^= 0x40;
  CHECK_THROWS_AS(device.modify(qpn, receive), std::invalid_argument);
  CHECK(device.query_queue_pair(qpn).state == QpState::kInit);
  receive.remote_address = pair.address(1);
  device.modify(qpn, receive);
  ReadyToSendAttributes send;
  send.timeout = 25;
  CHECK_THROWS_AS(device.modify(qpn, send), std::invalid_argument);
  send.timeout = 8;
  send.retry.linear_cnt = 8;
  CHECK_THROWS_AS(device.modify(qpn, send), std::invalid_argument);
  CHECK(device.query_queue_pair(qpn).state == QpState::kReadyToReceive);
}

TEST_CASE("a write with a wrong rkey fails with a remote access error and the rest is flushed") {
  Connected pair;
  const auto data = bytes(1000);
  WorkRequest bad = pair.write(data, 1);
  bad.rkey ^= 0x10000;
  CHECK(pair[0].post(pair.ends[0].qpn, std::move(bad)) == PostResult::kOk);
  CHECK(pair[0].post(pair.ends[0].qpn, pair.write(data, 2)) == PostResult::kOk);
  pair.run();
  const auto sent = pair.poll(0);
  REQUIRE(sent.size() == 2);
  CHECK(sent[0].status == WorkStatus::kRemoteAccessError);
  CHECK(sent[1].status == WorkStatus::kFlushError);
  CHECK(pair[0].query_queue_pair(pair.ends[0].qpn).state == QpState::kError);
  const auto event = pair[0].next_async_event();
  REQUIRE(event);
  CHECK(event->kind == AsyncEvent::Kind::kQpFatal);
  CHECK(event->reason == "Remote Access Error");
  // As in ibverbs: accepted, and flushed at once.
  CHECK(pair[0].post(pair.ends[0].qpn, pair.write(data, 3)) == PostResult::kOk);
  CHECK(pair[0].post_receive(pair.ends[0].qpn, {.id = 4}) == PostResult::kOk);
  const auto flushed = pair.poll(0);
  REQUIRE(flushed.size() == 2);
  for (uint64_t i = 0; i < 2; ++i) {
    CHECK(flushed[i].wr_id == 3 + i);
    CHECK(flushed[i].status == WorkStatus::kFlushError);
  }
  CHECK(flushed[1].opcode == WorkOpcode::kReceiveRdmaWithImmediate);
}

TEST_CASE(
    "memory that was deregistered cannot be written, nor can its number's next user by the old "
    "rkey") {
  Connected pair;
  const auto data = bytes(100);
  pair[1].deregister_memory(pair.region);
  std::vector<uint8_t> other(100);
  const MemoryRegion next = pair[1].register_memory(other);
  CHECK((next.rkey & 0xFFF) == (pair.region.rkey & 0xFFF));
  CHECK(next.rkey != pair.region.rkey);
  CHECK(pair[0].post(pair.ends[0].qpn, pair.write(data, 1)) == PostResult::kOk);
  pair.run();
  CHECK(pair.poll(0).at(0).status == WorkStatus::kRemoteAccessError);
  CHECK(pair.inbox[0] == 0);
  CHECK(other[0] == 0);
  CHECK_THROWS_AS(pair[1].deregister_memory(pair.region), std::invalid_argument);
}

TEST_CASE("a write with immediate that finds no receive is the end of both queue pairs") {
  Connected pair;
  const auto data = bytes(100);
  WorkRequest request = pair.write(data, 1);
  request.immediate = 1;
  CHECK(pair[0].post(pair.ends[0].qpn, std::move(request)) == PostResult::kOk);
  pair.run();
  CHECK(pair.poll(0).at(0).status != WorkStatus::kSuccess);
  CHECK(pair[0].query_queue_pair(pair.ends[0].qpn).state == QpState::kError);
  CHECK(pair[1].query_queue_pair(pair.ends[1].qpn).state == QpState::kError);
}

TEST_CASE("a NAK that is lost is said again to the peer's probe, so the peer knows why") {
  Connected pair;
  const auto data = bytes(100);
  WorkRequest request = pair.write(data, 1);
  request.immediate = 1;
  CHECK(pair[0].post(pair.ends[0].qpn, std::move(request)) == PostResult::kOk);
  pair.silent = 1;
  const auto state = [&] { return pair[1].query_queue_pair(pair.ends[1].qpn).state; };
  for (int i = 0; i < 1'000 && state() != QpState::kError; ++i) pair.run(1);
  REQUIRE(state() == QpState::kError);
  pair.run(10);  // the NAK is on its way, and lost
  pair.silent.reset();
  pair.run();
  REQUIRE(pair[0].query_queue_pair(pair.ends[0].qpn).state == QpState::kError);
  CHECK(pair.poll(0).at(0).status == WorkStatus::kRemoteOperationError);
}

TEST_CASE("a completion queue that overruns is an event and the end of its queue pairs") {
  Connected pair(4);
  const auto data = bytes(100);
  for (uint64_t i = 0; i < 6; ++i) {
    CHECK(pair[0].post(pair.ends[0].qpn, pair.write(data, i)) == PostResult::kOk);
  }
  pair.run();
  CHECK(pair.poll(0).size() == 4);
  const auto event = pair[0].next_async_event();
  REQUIRE(event);
  CHECK(event->kind == AsyncEvent::Kind::kCqError);
  CHECK(event->cq == pair.ends[0].cq);
  CHECK(pair[0].query_queue_pair(pair.ends[0].qpn).state == QpState::kError);
}

TEST_CASE("a silent network ends in retry counter exceeded, not in waiting") {
  Connected pair;
  const auto data = bytes(100);
  pair.cut = true;
  CHECK(pair[0].post(pair.ends[0].qpn, pair.write(data, 1)) == PostResult::kOk);
  pair.run();
  CHECK(pair.poll(0).at(0).status == WorkStatus::kRetryExceeded);
}

TEST_CASE("max_send_wr bounds what is outstanding until completions come") {
  Pair pair;
  Device& device = pair[0];
  const End a = [&] {
    End end;
    end.cq = device.create_completion_queue(8);
    end.qpn = device.create_queue_pair({end.cq, end.cq, 2});
    device.modify(end.qpn, InitAttributes{});
    return end;
  }();
  const End b = make_end(pair[1]);
  connect(device, a, b, pair.address(1));
  connect(pair[1], b, a, pair.address(0));
  std::vector<uint8_t> inbox(100);
  const MemoryRegion region = pair[1].register_memory(inbox);
  const auto data = bytes(100);
  const auto request = [&](ConstMemory bytes) {
    WorkRequest made;
    made.local = bytes;
    made.remote_va = region.va;
    made.rkey = region.rkey;
    return made;
  };
  CHECK(device.post(a.qpn, request(data)) == PostResult::kOk);
  CHECK(device.post(a.qpn, request(data)) == PostResult::kOk);
  CHECK(device.post(a.qpn, request(data)) == PostResult::kQueueFull);
  pair.run();
  CHECK(device.post(a.qpn, request(data)) == PostResult::kOk);
  CHECK(device.post(a.qpn, request(ConstMemory::elided(uint64_t{1} << 32))) ==
        PostResult::kBadLength);
}

TEST_CASE("a destroyed queue pair is silent, gives its place back and never its number") {
  Connected pair;
  const auto data = bytes(30'000);
  const Qpn old = pair.ends[0].qpn;
  CHECK_THROWS_AS(pair[0].destroy_completion_queue(pair.ends[0].cq), std::invalid_argument);
  CHECK(pair[0].post(old, pair.write(data, 1)) == PostResult::kOk);
  pair.run(1);
  pair[0].destroy_queue_pair(old);
  CHECK_FALSE(pair[0].next_async_event());
  const Qpn next = pair[0].create_queue_pair({pair.ends[0].cq, pair.ends[0].cq});
  CHECK((next.value & 0xFFF) == (old.value & 0xFFF));
  CHECK(next != old);
  pair.run();
  CHECK(pair.poll(0).empty());
  CHECK_THROWS_AS(pair[0].query_queue_pair(old), std::invalid_argument);
  CHECK(pair.fabric().host(0).stats().refused_for(Refusal::kUnknownQp) > 0);
}

TEST_CASE("a port that loses its carrier is told, and when it comes back") {
  Connected pair;
  pair.fabric().apply(0, PortCarrier{{NodeId{0}, PortId{2}}, false});
  pair.run(3);
  const auto down = pair[0].next_async_event();
  REQUIRE(down);
  CHECK(down->kind == AsyncEvent::Kind::kPortError);
  CHECK(down->port == 2);
  pair.fabric().apply(0, PortCarrier{{NodeId{0}, PortId{2}}, true});
  pair.run();
  const auto up = pair[0].next_async_event();
  REQUIRE(up);
  CHECK(up->kind == AsyncEvent::Kind::kPortActive);
}

TEST_CASE("queue pairs that begin while a port is down begin with that knowledge at both ends") {
  Pair pair;
  const auto set_port = [&](bool up) {
    pair.fabric().apply(1, PortCarrier{{NodeId{1}, PortId{2}}, up});
    pair.run(3);
  };
  const auto sent_in_plane_2 = [&] { return pair.fabric().host(0).stats().planes[2].tx_packets; };
  std::vector<uint8_t> inbox(1'000'000);
  const MemoryRegion region = pair[1].register_memory(inbox);
  End ends[2];
  const auto begin = [&] {
    for (uint32_t h = 0; h < 2; ++h) ends[h] = make_end(pair[h]);
    for (uint32_t h = 0; h < 2; ++h) connect(pair[h], ends[h], ends[1 - h], pair.address(1 - h));
  };
  const auto data = bytes(1'000'000);
  const auto write = [&] {
    WorkRequest request;
    request.local = data;
    request.remote_va = region.va;
    request.rkey = region.rkey;
    CHECK(pair[0].post(ends[0].qpn, std::move(request)) == PostResult::kOk);
    pair.run();
    WorkCompletion completion[1];
    CHECK(pair[0].poll_completions(ends[0].cq, completion).size() == 1);
    CHECK(completion[0].status == WorkStatus::kSuccess);
  };
  set_port(false);
  begin();
  pair.run();  // the news arrives
  CHECK(pair.fabric().host(0).stats().port_status_received > 0);
  write();
  CHECK(sent_in_plane_2() == 0);

  // Without a queue pair the peer gets no report that the port is back. The next queue pair sends it.
  bool both = false;
  SUBCASE("both ends begin anew") { both = true; }
  SUBCASE("one end begins anew, the other has an old queue pair") {}
  if (both) pair[0].destroy_queue_pair(ends[0].qpn);
  pair[1].destroy_queue_pair(ends[1].qpn);
  const uint64_t told = pair.fabric().host(1).stats().port_status_sent;
  set_port(true);
  pair.run();
  CHECK(pair.fabric().host(1).stats().port_status_sent == told);
  begin();
  write();
  CHECK(sent_in_plane_2() > 20);

  // And one that begins anew at the other end forgets nothing.
  set_port(false);
  pair.run();
  pair[0].destroy_queue_pair(ends[0].qpn);
  begin();
  const uint64_t sent = sent_in_plane_2();
  write();
  CHECK(sent_in_plane_2() == sent);
}

TEST_CASE("registered memory of a user is found by number and forgotten by rkey") {
  MemoryRegistry registry;
  std::vector<uint8_t> memory(10);
  CHECK(registry.free_number() == 1);
  registry.add_external({0x1000, 0xABC001, {10}}, memory);
  CHECK(registry.free_number() == 2);
  CHECK(registry.resolve(0xABC001, 0x1004, 6).data == memory.data() + 4);
  CHECK_FALSE(registry.remove(0xABD001));
  CHECK(registry.remove(0xABC001));
  CHECK(registry.resolve(0xABC001, 0x1004, 6).check == MemoryCheck::kBadRkey);
}

}  // namespace mrclab::endpoint
