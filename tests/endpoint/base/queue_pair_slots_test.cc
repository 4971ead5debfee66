#include "endpoint/base/queue_pair_slots.h"

#include <doctest/doctest.h>

#include <array>
#include <vector>

namespace mrclab::endpoint {
namespace {

struct FakeQueuePair {
  struct Identity {
    Qpn local;
  };
  explicit FakeQueuePair(Qpn local) : id{local} {}
  std::array<char, 64>
      before{};  ///< memory that is given back keeps what lies behind its first bytes
  Identity id;
  Touched touched = Touched::kNot;
};
using FakeSlots = QueuePairSlots<FakeQueuePair>;

TEST_CASE(
    "a queue pair is found by its number until it is gone, and another one with it after that") {
  FakeSlots slots;
  slots.emplace(0, Qpn{17});
  FakeQueuePair& other = slots.emplace(1, Qpn{18});
  CHECK(slots.find(Qpn{17}) == &slots[0]);
  CHECK(slots.find(Qpn{17}) == &slots[0]);
  CHECK(slots.find(Qpn{18}) == &other);
  CHECK(slots.find(Qpn{17}) == &slots[0]);
  slots.erase(slots[0]);
  CHECK(slots.find(Qpn{17}) == nullptr);
  FakeQueuePair& again = slots.emplace(0, Qpn{17});
  CHECK(slots.find(Qpn{17}) == &again);
  CHECK(slots.find(Qpn{19}) == nullptr);
}

TEST_CASE("queue pairs are touched once for each event, in order, and as much as anybody says") {
  FakeSlots slots;
  FakeQueuePair& a = slots.emplace(0, Qpn{17});
  FakeQueuePair& b = slots.emplace(1, Qpn{18});
  slots.touch(b, Touched::kTimerStays);
  slots.touch(a);
  slots.touch(a, Touched::kTimerStays);
  slots.touch(b);
  CHECK(slots.touched() == std::vector<FakeQueuePair*>{&b, &a});
  CHECK(a.touched == Touched::kTimerMayBeSooner);
  CHECK(b.touched == Touched::kTimerMayBeSooner);
  slots.clear_touched();
  CHECK(slots.touched().empty());
  slots.touch(a, Touched::kTimerStays);
  CHECK(a.touched == Touched::kTimerStays);
  slots.erase(a);
  CHECK(slots.touched().empty());
}

}  // namespace
}  // namespace mrclab::endpoint
