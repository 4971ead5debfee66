// What programs of ibverbs and libmrc may ask of a device, beside writes: SENDs, READs, atomics, shared receives, work
// that says nothing when it succeeds, loops, and what is refused.

#include <doctest/doctest.h>

#include <numeric>

#include "tests/support/verbs_lab.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::us;
using mrclab::test::VerbsLab;
using mrclab::test::word_at;

namespace {

std::vector<uint8_t> numbers(size_t count) {
  std::vector<uint8_t> data(count);
  std::iota(data.begin(), data.end(), uint8_t{1});
  return data;
}

}  // namespace

TEST_CASE("a program READs, adds and swaps in the other's memory, on its own host and far away") {
  bool loops = false;
  SUBCASE("far away") {}
  SUBCASE("on its own host") { loops = true; }
  VerbsLab lab(TransportKind::kRoce, loops);
  const auto data = numbers(20'000);
  std::copy(data.begin(), data.end(), lab.far.bytes.begin());
  CHECK(lab.near.post(lab.read(1, 3, 100, 19'000)) == PostResult::kOk);
  CHECK(lab.near.post(lab.atomic(2, WorkRequest::Opcode::kFetchAdd, 24'000, 64, 5)) ==
        PostResult::kOk);
  CHECK(lab.near.post(lab.atomic(3, WorkRequest::Opcode::kFetchAdd, 24'000, 72, 7)) ==
        PostResult::kOk);
  CHECK(lab.near.post(lab.atomic(4, WorkRequest::Opcode::kCompareSwap, 24'000, 80, 12, 99)) ==
        PostResult::kOk);
  CHECK(lab.near.post(lab.atomic(5, WorkRequest::Opcode::kCompareSwap, 24'000, 88, 12, 1)) ==
        PostResult::kOk);
  CHECK(lab.near.post(lab.read(6, 0, 0, 0)) == PostResult::kOk);
  lab.run_for(us(200));
  const auto done = lab.near.poll();
  REQUIRE(done.size() == 6);
  for (size_t i = 0; i < 6; ++i) {
    CHECK(done[i].wr_id == i + 1);
    CHECK(done[i].status == WorkStatus::kSuccess);
  }
  CHECK(done[0].opcode == WorkOpcode::kRdmaRead);
  CHECK(done[0].byte_len == 19'000);
  CHECK(done[3].opcode == WorkOpcode::kCompareSwap);
  CHECK(std::equal(data.begin() + 3, data.begin() + 19'003, lab.near.bytes.begin() + 100));
  CHECK(word_at(lab.near.bytes, 64) == 0);
  CHECK(word_at(lab.near.bytes, 72) == 5);
  CHECK(word_at(lab.near.bytes, 80) == 12);
  CHECK(word_at(lab.near.bytes, 88) == 99);
  CHECK(word_at(lab.far.bytes, 24'000) == 99);
}

TEST_CASE(
    "packets that a NIC loops back appear on no wire, of either transport, and write all the same") {
  TransportKind transport = TransportKind::kMrc;
  SUBCASE("MRC") {}
  SUBCASE("RC") { transport = TransportKind::kRoce; }
  VerbsLab lab(transport, true);
  const auto data = numbers(30'000);
  CHECK(lab.far.receive(9, 0, 0) == PostResult::kOk);
  WorkRequest request = lab.write(1, data, 50);
  request.immediate = 77;
  CHECK(lab.near.post(std::move(request)) == PostResult::kOk);
  lab.run_for(us(100));
  CHECK(test::statuses(lab.near.poll().empty() ? lab.far.poll() : std::vector<WorkCompletion>{})
            .empty());
  CHECK(std::equal(data.begin(), data.end(), lab.far.bytes.begin() + 50));
  for (const auto& observer : lab.fabric.observers) CHECK(observer.packets.empty());
}

TEST_CASE("a queue pair that is connected to itself writes to itself and takes its own SENDs") {
  VerbsLab lab({.loops = true, .connects = false});
  lab.make_ready(lab.near, lab.near, true);
  const auto data = numbers(100);
  CHECK(lab.near.receive(1, 500, 100) == PostResult::kOk);
  WorkRequest own = lab.write(2, data);
  own.rkey = lab.near.region.rkey;
  CHECK(lab.near.post(std::move(own)) == PostResult::kOk);
  CHECK(lab.near.post(lab.send(3, data)) == PostResult::kOk);
  lab.run_for(us(100));
  CHECK(lab.near.poll().size() == 3);
  CHECK(std::equal(data.begin(), data.end(), lab.near.bytes.begin()));
  CHECK(std::equal(data.begin(), data.end(), lab.near.bytes.begin() + 500));
}

TEST_CASE(
    "work that is not signaled completes only if it fails, and a local error fails in its turn") {
  VerbsLab lab(TransportKind::kMrc);
  const auto data = numbers(5'000);
  for (uint64_t i = 1; i <= 3; ++i) {
    WorkRequest quiet = lab.write(i, data);
    quiet.signaled = i == 2;
    CHECK(lab.near.post(std::move(quiet)) == PostResult::kOk);
  }
  WorkRequest broken = lab.write(4, data, 6'000);
  broken.local_error = WorkStatus::kLocalProtection;
  broken.signaled = false;
  CHECK(lab.near.post(std::move(broken)) == PostResult::kOk);
  CHECK(lab.near.post(lab.write(5, data, 6'000)) == PostResult::kOk);
  CHECK(lab.near.poll().empty());
  lab.run_for(us(100));
  const auto done = lab.near.poll();
  REQUIRE(done.size() == 3);
  CHECK(done[0].wr_id == 2);
  CHECK(done[1].wr_id == 4);
  CHECK(done[1].status == WorkStatus::kLocalProtection);
  CHECK(done[2].wr_id == 5);
  CHECK(done[2].status == WorkStatus::kFlushError);
  CHECK(lab.near.state() == QpState::kError);
  CHECK(std::equal(data.begin(), data.end(), lab.far.bytes.begin()));
  CHECK(std::all_of(lab.far.bytes.begin() + 6'000, lab.far.bytes.end(),
                    [](uint8_t byte) { return byte == 0; }));
}

TEST_CASE("what a program gives away with its post is kept until the write is complete") {
  VerbsLab lab(TransportKind::kMrc);
  auto storage = std::make_unique<uint8_t[]>(10'000);
  std::fill_n(storage.get(), 10'000, uint8_t{7});
  WorkRequest request = lab.write(1, ConstMemory(storage.get(), 10'000));
  request.storage = std::move(storage);
  request.signaled = false;
  CHECK(lab.near.post(std::move(request)) == PostResult::kOk);
  lab.run_for(us(100));
  CHECK(lab.near.poll().empty());
  CHECK(std::count(lab.far.bytes.begin(), lab.far.bytes.end(), 7) == 10'000);
}

TEST_CASE("messages of no bytes arrive, and nobody looks at their key") {
  TransportKind transport = TransportKind::kMrc;
  SUBCASE("MRC") {}
  SUBCASE("RC") { transport = TransportKind::kRoce; }
  VerbsLab lab(transport);
  WorkRequest empty = lab.write(1, {});
  empty.rkey = 0;
  empty.immediate = 5;
  CHECK(lab.far.receive(2, 0, 0) == PostResult::kOk);
  CHECK(lab.near.post(std::move(empty)) == PostResult::kOk);
  CHECK(lab.near.post(lab.write(3, {}, 1 << 20)) == PostResult::kOk);
  const bool rc = transport == TransportKind::kRoce;
  CHECK(lab.far.receive(4, 0, 10) == PostResult::kOk);
  CHECK(lab.near.post(lab.send(5, {})) == (rc ? PostResult::kOk : PostResult::kUnsupported));
  lab.run_for(us(100));
  CHECK(lab.near.poll().size() == (rc ? 3 : 2));
  const auto received = lab.far.poll();
  REQUIRE(received.size() == (rc ? 2 : 1));
  CHECK(received[0].immediate == 5u);
  CHECK(received[0].byte_len == 0);
}

TEST_CASE(
    "a receive that is too short, or whose key is wrong, fails at both ends as ibverbs says") {
  VerbsLab lab(TransportKind::kRoce);
  const auto data = numbers(200);
  bool broken = false;
  SUBCASE("too short") { CHECK(lab.far.receive(1, 0, 199) == PostResult::kOk); }
  SUBCASE("wrong key") {
    broken = true;
    CHECK(lab.far.device->post_receive(
              lab.far.qpn, {.id = 1,
                            .pieces = {{&lab.far.access, 0, 500}},
                            .local_error = WorkStatus::kLocalProtection}) == PostResult::kOk);
  }
  SUBCASE("wrong key, of which no piece is known") {
    broken = true;
    CHECK(lab.far.device->post_receive(
              lab.far.qpn, {.id = 1, .pieces = {}, .local_error = WorkStatus::kLocalProtection}) ==
          PostResult::kOk);
  }
  CHECK(lab.far.receive(2, 0, 500) == PostResult::kOk);
  CHECK(lab.near.post(lab.send(3, data)) == PostResult::kOk);
  lab.run_for(us(100));
  const auto received = lab.far.poll();
  REQUIRE(received.size() == 2);
  CHECK(received[0].wr_id == 1);
  CHECK(received[0].status == (broken ? WorkStatus::kLocalProtection : WorkStatus::kLocalLength));
  CHECK(received[1].status == WorkStatus::kFlushError);
  const auto sent = lab.near.poll();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].status ==
        (broken ? WorkStatus::kRemoteOperationError : WorkStatus::kRemoteInvalidRequest));
  CHECK(lab.far.state() == QpState::kError);
}

TEST_CASE("a SEND is scattered over the pieces of its receive") {
  VerbsLab lab(TransportKind::kRoce);
  const auto data = numbers(10'000);
  CHECK(lab.far.device->post_receive(lab.far.qpn, {.id = 1,
                                                   .pieces = {{&lab.far.access, 30'000, 10},
                                                              {&lab.far.access, 0, 5'000},
                                                              {&lab.far.access, 40'000, 9'000}},
                                                   .local_error = {}}) == PostResult::kOk);
  WorkRequest request = lab.send(2, data);
  request.solicited = true;
  CHECK(lab.near.post(std::move(request)) == PostResult::kOk);
  lab.run_for(us(100));
  const auto received = lab.far.poll();
  REQUIRE(received.size() == 1);
  CHECK(received[0].byte_len == 10'000);
  CHECK(received[0].solicited);
  CHECK(received[0].source_qpn == lab.near.qpn);
  const auto& bytes = lab.far.bytes;
  CHECK(std::equal(data.begin(), data.begin() + 10, bytes.begin() + 30'000));
  CHECK(std::equal(data.begin() + 10, data.begin() + 5'010, bytes.begin()));
  CHECK(std::equal(data.begin() + 5'010, data.end(), bytes.begin() + 40'000));
  CHECK(bytes[5'000] == 0);
}

TEST_CASE("receives of a shared queue go to whoever needs one, and its limit is reported once") {
  VerbsLab lab({.srq_wr = 8});
  const auto data = numbers(100);
  for (uint64_t i = 0; i < 3; ++i) {
    CHECK(lab.far.receive(10 + i, i * 100, 100) == PostResult::kOk);
  }
  CHECK(lab.far.device->post_receive(lab.far.qpn, {.id = 1}) == PostResult::kUnsupported);
  lab.far.device->modify_shared_receive_queue(*lab.far.srq, 2);
  for (uint64_t i = 0; i < 3; ++i) CHECK(lab.near.post(lab.send(i, data)) == PostResult::kOk);
  lab.run_for(us(100));
  const auto received = lab.far.poll();
  REQUIRE(received.size() == 3);
  for (uint64_t i = 0; i < 3; ++i) CHECK(received[i].wr_id == 10 + i);
  CHECK(std::equal(data.begin(), data.end(), lab.far.bytes.begin() + 200));
  const auto events = lab.far.events();
  REQUIRE(events.size() == 1);
  CHECK(events[0].kind == AsyncEvent::Kind::kSrqLimit);
  CHECK(lab.far.device->query_shared_receive_queue(*lab.far.srq).limit == 0);
  CHECK_THROWS_AS(lab.far.device->destroy_shared_receive_queue(*lab.far.srq),
                  std::invalid_argument);
  CHECK(lab.far.receive(20, 0, 100) == PostResult::kOk);
  lab.far.device->modify_to_error(lab.far.qpn);
  CHECK(lab.far.poll().empty());  // what is in a shared queue is not flushed
  CHECK(lab.far.events().back().kind == AsyncEvent::Kind::kLastWqe);
  lab.far.device->destroy_queue_pair(lab.far.qpn);
  lab.far.device->destroy_shared_receive_queue(*lab.far.srq);
}

TEST_CASE("regions, queue pairs and domains each have to allow an access") {
  VerbsLab::Options options;
  bool allowed = false;
  SUBCASE("all do") { allowed = true; }
  SUBCASE("the region does not") { options.region = {.local_write = true, .remote_write = true}; }
  SUBCASE("the queue pair does not") { options.init.access = {.remote_write = true}; }
  SUBCASE("the domain does not") { options.region_domain = 4; }
  SUBCASE("both are of one domain") {
    options.region_domain = options.far_domain = 4;
    allowed = true;
  }
  VerbsLab lab(options);
  CHECK(lab.near.post(lab.read(1, 0, 0, 100)) == PostResult::kOk);
  lab.run_for(us(100));
  const auto done = lab.near.poll();
  REQUIRE(done.size() == 1);
  CHECK(done[0].status == (allowed ? WorkStatus::kSuccess : WorkStatus::kRemoteAccessError));
  if (!allowed) {
    const auto events = lab.far.events();
    REQUIRE(events.size() == 1);
    CHECK(events[0].kind == AsyncEvent::Kind::kQpAccessError);
  }
}

TEST_CASE(
    "an atomic's address is a multiple of 8, and a bad one is refused behind the answers before it") {
  VerbsLab lab(TransportKind::kRoce);
  CHECK(lab.near.post(lab.read(1, 0, 0, 20'000)) == PostResult::kOk);
  CHECK(lab.near.post(lab.atomic(2, WorkRequest::Opcode::kFetchAdd, 4, 0, 1)) == PostResult::kOk);
  CHECK(lab.near.post(lab.read(3, 0, 0, 8)) == PostResult::kOk);
  lab.run_for(us(200));
  CHECK(test::statuses(lab.near.poll()) == std::vector{WorkStatus::kSuccess,
                                                       WorkStatus::kRemoteInvalidRequest,
                                                       WorkStatus::kFlushError});
}

TEST_CASE("so many READs are under way as both ends have room for") {
  VerbsLab::Options options;
  options.send.max_rd_atomic = 1;
  options.receive.max_dest_rd_atomic = 1;
  VerbsLab lab(options);
  for (uint64_t i = 0; i < 40; ++i) {
    CHECK(lab.near.post(lab.read(i, 0, 0, 100)) == PostResult::kOk);
  }
  lab.run_for(us(1'000));
  const auto done = lab.near.poll();
  CHECK(done.size() == 40);
  CHECK(std::all_of(done.begin(), done.end(),
                    [](const auto& c) { return c.status == WorkStatus::kSuccess; }));
}

TEST_CASE(
    "a region that goes while it is written or read ends the queue pair, and no byte is touched") {
  TransportKind transport = TransportKind::kMrc;
  bool reads = false;
  SUBCASE("written by MRC") {}
  SUBCASE("written by RC") { transport = TransportKind::kRoce; }
  SUBCASE("read by RC") {
    transport = TransportKind::kRoce;
    reads = true;
  }
  VerbsLab lab(transport);
  const auto data = numbers(60'000);
  CHECK(lab.near.post(reads ? lab.read(1, 0, 0, 60'000) : lab.write(1, data)) == PostResult::kOk);
  lab.run_for(us(3));
  lab.far.device->deregister_memory(lab.far.region);
  const auto before = lab.far.bytes;
  lab.run_for(us(2'000));
  CHECK(lab.far.bytes == before);
  const auto done = lab.near.poll();
  REQUIRE(done.size() == 1);
  CHECK(name_of(done[0].status) == name_of(WorkStatus::kRemoteAccessError));
}

TEST_CASE("34.36 s of retries take few events, and then the retry counter is exceeded") {
  VerbsLab::Options options;
  options.send.timeout = 20;
  options.send.retry = {7, 0};
  SUBCASE("RC") {}
  SUBCASE("MRC") {
    options.transport = TransportKind::kMrc;
    options.send.timeout = 22;  // 1.024 us x 2^22
  }
  SUBCASE("looped") { options.loops = true; }
  VerbsLab lab(options);
  lab.far.device->destroy_queue_pair(lab.far.qpn);
  const auto data = numbers(100);
  CHECK(lab.near.post(lab.write(1, data)) == PostResult::kOk);
  lab.run_for(FabricTime::from_ms(34'350));
  CHECK(lab.near.poll().empty());
  lab.run_for(FabricTime::from_ms(20));
  CHECK(test::statuses(lab.near.poll()) == std::vector{WorkStatus::kRetryExceeded});
}
