// What a fault of the device does to queue pairs that programs have (fabric/node/effect.h: HostVerbs).

#include <doctest/doctest.h>

#include <tuple>

#include "tests/support/verbs_lab.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::us;
using mrclab::test::VerbsLab;

namespace {

HostVerbs fault_of(const VerbsLab& lab, VerbsStatus status, uint32_t qp = 0) {
  return {lab.fabric.topology.host(0), qp, status};
}

}  // namespace

TEST_CASE("a device fault completes the oldest work with its status, and flushes what is behind") {
  for (const auto transport : {TransportKind::kMrc, TransportKind::kRoce}) {
    for (const auto& [status, seen] : {
             std::tuple{VerbsStatus::kRetryExceeded, WorkStatus::kRetryExceeded},
             {VerbsStatus::kRnrRetryExceeded, WorkStatus::kRnrRetryExceeded},
             {VerbsStatus::kRemoteAccess, WorkStatus::kRemoteAccessError},
             {VerbsStatus::kRemoteInvalidRequest, WorkStatus::kRemoteInvalidRequest},
             {VerbsStatus::kRemoteOperation, WorkStatus::kRemoteOperationError},
             {VerbsStatus::kLocalProtection, WorkStatus::kLocalProtection},
             {VerbsStatus::kLocalLength, WorkStatus::kLocalLength},
         }) {
      VerbsLab lab(transport);
      const std::vector<uint8_t> data(60'000, 3);
      for (const uint64_t id : {1, 2, 3})
        CHECK(lab.near.post(lab.write(id, data)) == PostResult::kOk);
      CHECK(lab.near.receive(4, 0, 0) == PostResult::kOk);
      lab.fabric.apply(us(2), fault_of(lab, status));
      lab.run_for(us(100));
      const auto done = lab.near.poll();
      REQUIRE(done.size() == 4);
      CHECK(done[0].wr_id == 1);
      CHECK(test::statuses(done) == std::vector{seen, WorkStatus::kFlushError,
                                                WorkStatus::kFlushError, WorkStatus::kFlushError});
      CHECK(lab.near.state() == QpState::kError);
      const auto events = lab.near.events();
      REQUIRE(events.size() == 1);
      CHECK(events[0].in_completion);  // so that ibverbs reports no event
      // The device of the other end knows of nothing.
      CHECK(lab.far.state() == QpState::kReadyToSend);
    }
  }
}

TEST_CASE("a fatal fault flushes everything and is an event; so is one that finds no work") {
  for (const auto transport : {TransportKind::kMrc, TransportKind::kRoce}) {
    for (const bool works : {true, false}) {
      VerbsLab lab(transport);
      const std::vector<uint8_t> data(60'000, 3);
      if (works) CHECK(lab.near.post(lab.write(1, data)) == PostResult::kOk);
      lab.fabric.apply(us(2),
                       fault_of(lab, works ? VerbsStatus::kFatal : VerbsStatus::kRetryExceeded));
      lab.run_for(us(100));
      const auto done = lab.near.poll();
      CHECK(done.size() == (works ? 1 : 0));
      if (works) CHECK(done[0].status == WorkStatus::kFlushError);
      const auto events = lab.near.events();
      REQUIRE(events.size() == 1);
      CHECK(events[0].kind == AsyncEvent::Kind::kQpFatal);
      CHECK(events[0].qpn == lab.near.qpn);
      CHECK_FALSE(events[0].in_completion);
    }
  }
}

TEST_CASE("a device fault is of the queue pair that it names, and of this host's alone") {
  for (const auto transport : {TransportKind::kMrc, TransportKind::kRoce}) {
    VerbsLab lab(transport);
    VerbsLab::Program second;
    std::swap(second, lab.near);
    lab.make(lab.near);
    CHECK((lab.near.qpn.value & 0xFFF) == 2);
    lab.make_ready(lab.near, lab.far, true);
    lab.fabric.apply(us(2), fault_of(lab, VerbsStatus::kFatal, 2));
    lab.fabric.apply(us(3), fault_of(lab, VerbsStatus::kFatal, 7));
    lab.run_for(us(10));
    CHECK(lab.near.state() == QpState::kError);
    CHECK(second.state() == QpState::kReadyToSend);
    CHECK(lab.far.state() == QpState::kReadyToSend);
    lab.fabric.apply(us(12), fault_of(lab, VerbsStatus::kFatal));
    lab.run_for(us(10));
    CHECK(second.state() == QpState::kError);
    CHECK(lab.far.state() == QpState::kReadyToSend);
  }
}
