// RC by the verbs of the device: writes, immediates, SENDs and receives with buffers, as a program sees them.

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "endpoint/host/host_node.h"
#include "endpoint/host/verbs.h"
#include "endpoint/options/profile_maker.h"
#include "fabric/topology/path.h"
#include "tests/support/fabrics.h"
#include "tests/support/sim_fabric.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::us;

namespace {

/// Programs at both ends of a queue pair between two hosts on one T0.
/// ACK timers as InfiniBand has them, without a NIC's floor.
test::SimFabric::Options exact_timers() {
  test::SimFabric::Options options;
  options.profile = make_profile("lab", test::pair());
  options.profile->timers = RcTimers::kExact;
  return options;
}

class RcPrograms {
 public:
  explicit RcPrograms(const ReadyToSendAttributes& sending = {})
      : fabric(test::pair(), exact_timers()), inbox(100'000) {
    fabric.stop_when_finished = false;
    for (uint32_t h = 0; h < 2; ++h) {
      cqs[h] = device(h).create_completion_queue(64);
      QpInitAttributes attributes{cqs[h], cqs[h]};
      attributes.transport = TransportKind::kRoce;
      qpns[h] = device(h).create_queue_pair(attributes);
      device(h).modify(qpns[h], InitAttributes{});
    }
    for (uint32_t h = 0; h < 2; ++h) {
      ReadyToReceiveAttributes receive;
      receive.remote_address = host_address(fabric.topology, 1 - h);
      receive.remote_qpn = qpns[1 - h];
      receive.rq_psn = Psn{0xFF'FFFE + (1 - h)};
      receive.port = 1;
      device(h).modify(qpns[h], receive);
      ReadyToSendAttributes send = sending;
      send.sq_psn = Psn{0xFF'FFFE + h};
      device(h).modify(qpns[h], send);
    }
    region = device(1).register_memory(inbox);
    std::iota(data.begin(), data.end(), uint8_t{1});
  }

  Device& device(uint32_t host) { return fabric.host(host).device(); }
  WorkRequest request(uint64_t id, size_t length,
                      WorkRequest::Opcode opcode = WorkRequest::Opcode::kWrite) const {
    WorkRequest request;
    request.id = id;
    request.local = std::span(data).first(length);
    request.remote_va = region.va;
    request.rkey = region.rkey;
    request.opcode = opcode;
    return request;
  }
  PostResult post(WorkRequest request) { return device(0).post(qpns[0], std::move(request)); }
  void run_for(FabricTime time) { fabric.run_until(end_ += time); }
  std::vector<WorkCompletion> poll(uint32_t host) {
    std::vector<WorkCompletion> all(64);
    all.resize(device(host).poll_completions(cqs[host], all).size());
    return all;
  }

  test::SimFabric fabric;
  std::vector<uint8_t> inbox, data = std::vector<uint8_t>(50'000);
  CqHandle cqs[2];
  Qpn qpns[2];
  MemoryRegion region;

 private:
  FabricTime end_;
};

}  // namespace

TEST_CASE("a program writes and sends by RC, and both ends are told what was done") {
  RcPrograms programs;
  std::vector<uint8_t> buffer(20'000);
  SpanAccess access(buffer);
  CHECK(programs.device(1).post_receive(programs.qpns[1], {.id = 11}) == PostResult::kOk);
  CHECK(programs.device(1).post_receive(
            programs.qpns[1], {.id = 12, .pieces = {{&access, 0, 20'000}}}) == PostResult::kOk);
  CHECK(programs.post(programs.request(1, 50'000)) == PostResult::kOk);
  WorkRequest with_immediate = programs.request(2, 100);
  with_immediate.immediate = 0xBEEF;
  CHECK(programs.post(std::move(with_immediate)) == PostResult::kOk);
  CHECK(programs.post(programs.request(3, 9'000, WorkRequest::Opcode::kSend)) == PostResult::kOk);
  programs.run_for(us(100));
  const auto sent = programs.poll(0);
  REQUIRE(sent.size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(sent[i].wr_id == i + 1);
    CHECK(sent[i].status == WorkStatus::kSuccess);
    CHECK(sent[i].opcode == (i == 2 ? WorkOpcode::kSend : WorkOpcode::kRdmaWrite));
  }
  const auto received = programs.poll(1);
  REQUIRE(received.size() == 2);
  CHECK(received[0].wr_id == 11);
  CHECK(received[0].opcode == WorkOpcode::kReceiveRdmaWithImmediate);
  CHECK(received[0].immediate == 0xBEEFu);
  CHECK(received[0].byte_len == 100);
  CHECK(received[1].wr_id == 12);
  CHECK(received[1].opcode == WorkOpcode::kReceive);
  CHECK_FALSE(received[1].immediate);
  CHECK(received[1].byte_len == 9'000);
  CHECK(std::equal(programs.data.begin(), programs.data.end(), programs.inbox.begin()));
  CHECK(std::equal(buffer.begin(), buffer.begin() + 9'000, programs.data.begin()));
  // All of it by port 1, as was asked for.
  CHECK(programs.fabric.stats(0).planes[0].tx_payload_bytes == 0);
  CHECK(programs.fabric.stats(0).planes[1].tx_payload_bytes == 59'100);
}

TEST_CASE("a SEND waits for its receive, unless the program allows no retry") {
  ReadyToSendAttributes attributes;
  SUBCASE("without end") {}
  SUBCASE("no retry") { attributes.rnr_retry = 0; }
  RcPrograms programs(attributes);
  CHECK(programs.post(programs.request(1, 100, WorkRequest::Opcode::kSend)) == PostResult::kOk);
  programs.run_for(us(500));
  std::vector<uint8_t> buffer(100);
  SpanAccess access(buffer);
  CHECK(programs.device(1).post_receive(
            programs.qpns[1], {.id = 5, .pieces = {{&access, 0, 100}}}) == PostResult::kOk);
  programs.run_for(us(500));
  const auto sent = programs.poll(0);
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].opcode == WorkOpcode::kSend);
  const bool patient = attributes.rnr_retry != 0;
  CHECK(sent[0].status == (patient ? WorkStatus::kSuccess : WorkStatus::kRnrRetryExceeded));
  CHECK(programs.poll(1).size() == (patient ? 1 : 0));
}

TEST_CASE("an access that is not allowed ends both queue pairs, with what ibverbs says of each") {
  RcPrograms programs;
  CHECK(programs.device(1).post_receive(programs.qpns[1], {.id = 5}) == PostResult::kOk);
  WorkRequest bad = programs.request(1, 100);
  bad.rkey ^= 0x10000;
  CHECK(programs.post(std::move(bad)) == PostResult::kOk);
  CHECK(programs.post(programs.request(2, 100, WorkRequest::Opcode::kSend)) == PostResult::kOk);
  programs.run_for(us(100));
  const auto sent = programs.poll(0);
  REQUIRE(sent.size() == 2);
  CHECK(sent[0].status == WorkStatus::kRemoteAccessError);
  CHECK(sent[1].status == WorkStatus::kFlushError);
  CHECK(sent[1].opcode == WorkOpcode::kSend);
  const auto received = programs.poll(1);
  REQUIRE(received.size() == 1);
  CHECK(received[0].status == WorkStatus::kFlushError);
  for (uint32_t h = 0; h < 2; ++h) {
    CHECK(programs.device(h).query_queue_pair(programs.qpns[h]).state == QpState::kError);
    const auto event = programs.device(h).next_async_event();
    REQUIRE(event);
    CHECK(event->kind == (h == 0 ? AsyncEvent::Kind::kQpFatal : AsyncEvent::Kind::kQpAccessError));
    CHECK(event->in_completion == (h == 0));
    CHECK(event->reason == (h == 0 ? "Remote Access Error" : "Local Access Violation"));
  }
}

TEST_CASE("what an RC queue pair may not be is refused, and MRC has no SEND") {
  RcPrograms programs;
  Device& device = programs.device(0);
  QpInitAttributes init{programs.cqs[0], programs.cqs[0]};
  const Qpn mrc = device.create_queue_pair(init);
  CHECK(device.post(mrc, programs.request(1, 8, WorkRequest::Opcode::kSend)) ==
        PostResult::kUnsupported);
  init.transport = TransportKind::kRoce;
  const Qpn qpn = device.create_queue_pair(init);
  CHECK(qpn != mrc);
  device.modify(qpn, InitAttributes{});
  ReadyToReceiveAttributes receive;
  receive.remote_address = host_address(programs.fabric.topology, 1);
  receive.remote_qpn = {0x1001};
  receive.port = 2;  // of 0 and 1
  CHECK_THROWS_AS(device.modify(qpn, receive), std::invalid_argument);
  receive.port = 0;
  receive.min_rnr_timer = 32;
  CHECK_THROWS_AS(device.modify(qpn, receive), std::invalid_argument);
  receive.min_rnr_timer = 0;
  device.modify(qpn, receive);
  ReadyToSendAttributes send;
  send.rnr_retry = 8;
  CHECK_THROWS_AS(device.modify(qpn, send), std::invalid_argument);
}

TEST_CASE("a program's RC queue pair goes away at once, and its peer finds out by its timer") {
  ReadyToSendAttributes attributes;
  attributes.timeout = 2;  // 16.384 us
  attributes.retry.linear_cnt = 2;
  RcPrograms programs(attributes);
  programs.device(1).destroy_queue_pair(programs.qpns[1]);
  CHECK(programs.post(programs.request(1, 100)) == PostResult::kOk);
  programs.run_for(us(48));
  CHECK(programs.poll(0).empty());
  programs.run_for(us(20));
  CHECK(programs.poll(0).at(0).status == WorkStatus::kRetryExceeded);
  programs.device(0).destroy_queue_pair(programs.qpns[0]);
  CHECK(programs.fabric.stats(0).qps == 0);
  programs.device(0).destroy_completion_queue(programs.cqs[0]);
}
