// What a receive, and who sent to it, learn of a message that may not go where the receive or the key points (RC).

#include <doctest/doctest.h>

#include "tests/verbs/support/verbs_world.h"

using namespace mrclab;
using namespace mrclab::test;
using verbs::Op;

namespace {

constexpr uint32_t kLengthError = 1, kProtectionError = 4, kAccessError = 8, kRemoteAccess = 10,
                   kRemoteOperation = 11;

struct RcPair {
  VerbsWorld world{two_rows(), endpoint::TransportKind::kRoce};
  ConnectedPair pair{world};
  std::span<const uint8_t> of_b() const { return std::span(pair.b.memory).first(64); }
};

uint32_t status_of(const std::optional<verbs::CompletionEntry>& entry) {
  return entry ? entry->status : UINT32_MAX;
}

}  // namespace

TEST_CASE("a SEND to a receive whose region is gone fails at both ends") {
  RcPair rc;
  ConnectedPair& pair = rc.pair;
  REQUIRE(pair.b.guest->receive(pair.b.qp.handle, 3, rc.of_b(), pair.b.region.lkey));
  pair.run(FabricTime::from_us(1));
  REQUIRE(pair.b.guest->call(Op::kDeregisterMemory, verbs::HandleRequest{pair.b.region.handle, 0})
              .status == 0);
  REQUIRE(pair.write(1, 0, 64, kWrSignaled, kWrSend));
  pair.run(FabricTime::from_us(100));
  CHECK(status_of(pair.a.guest->poll(pair.a.cq)) == kRemoteOperation);
  CHECK(status_of(pair.b.guest->poll(pair.b.cq)) == kProtectionError);
}

TEST_CASE("the receive of a Write with Immediate by a wrong key is a local access error") {
  RcPair rc;
  ConnectedPair& pair = rc.pair;
  REQUIRE(pair.b.guest->receive(pair.b.qp.handle, 3));
  pair.run(FabricTime::from_us(1));
  pair.b.region.rkey ^= 0x5500;
  REQUIRE(pair.write(1, 0, 64, kWrSignaled, kWrWriteImm, 7));
  pair.run(FabricTime::from_us(100));
  CHECK(status_of(pair.a.guest->poll(pair.a.cq)) == kRemoteAccess);
  CHECK(status_of(pair.b.guest->poll(pair.b.cq)) == kAccessError);
}

TEST_CASE("an atomic that would bring another length than 8 bytes is a length error") {
  for (const uint32_t length : {0u, 4u, 9u}) {
    RcPair rc;
    ConnectedPair& pair = rc.pair;
    REQUIRE(pair.write(1, 0, length, kWrSignaled, kWrAdd));
    pair.run(FabricTime::from_us(50));
    CHECK(status_of(pair.a.guest->poll(pair.a.cq)) == kLengthError);
  }
}

TEST_CASE("receives of a shared queue are of its own protection domain, not of the queue pair's") {
  RcPair rc;
  ConnectedPair& pair = rc.pair;
  constexpr uint32_t kDomain = 2;  // of the queue pair; that of its shared queue is 1
  const verbs::SrqRequest request{0, 8, 1, 0, 0, 1};
  const auto srq = pair.b.guest->call(Op::kCreateSrq, request).as<verbs::HandleReply>();
  const auto other = pair.b.guest->region(pair.b.memory, 15, kDomain);
  const verbs::QpReply far = pair.b.guest->qp(pair.b.cq, pair.b.cq, 8, 0, srq.handle, kDomain);
  const verbs::QpReply near = pair.a.guest->qp(pair.a.cq, pair.a.cq);
  REQUIRE(pair.a.guest->connect(near, pair.b.guest.program->hello.gid, far.qpn) == 0);
  REQUIRE(pair.b.guest->connect(far, pair.a.guest.program->hello.gid, near.qpn) == 0);
  REQUIRE(pair.b.guest->receive(srq.handle, 3, rc.of_b(), pair.b.region.lkey, true));
  REQUIRE(pair.b.guest->receive(srq.handle, 4, rc.of_b(), other.lkey, true));
  for (const uint32_t wanted : {0u, kProtectionError}) {
    REQUIRE(pair.a.guest->write(near.handle, 1, std::span(pair.a.memory).first(64),
                                pair.a.region.lkey, 0, 0, kWrSignaled, kWrSend));
    pair.run(FabricTime::from_us(50));
    CHECK(status_of(pair.b.guest->poll(pair.b.cq)) == wanted);
    CHECK(status_of(pair.a.guest->poll(pair.a.cq)) == (wanted == 0 ? 0 : kRemoteOperation));
  }
}
