// Processes that wait at the gate until there is something to commit.

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "netio/runtime/gate.h"

using namespace mrclab;
using namespace mrclab::netio;

namespace {

constexpr int64_t kFarAwayNs = 3'600'000'000'000;  // a waiter that nobody wakes hangs the test

std::unique_ptr<GatePage> closed_gate() {
  auto gate = std::make_unique<GatePage>();
  gate->limit_ps.store(kBeforeTime.ps());
  return gate;
}

}  // namespace

TEST_SUITE("waiting at the gate") {
  TEST_CASE("all that wait are woken by the first limit, and none is before") {
    const auto gate = closed_gate();
    std::atomic<int> passed{0};
    {
      std::vector<std::jthread> waiters;
      for (int i = 0; i < 8; ++i) {
        waiters.emplace_back([&] {
          while (!gate->wait_for_limit(kFarAwayNs)) {
          }
          ++passed;
        });
      }
      gate->set_limit(kBeforeTime);
      CHECK(passed == 0);
      gate->set_limit(FabricTime::from_ns(5));
    }
    CHECK(passed == 8);
  }

  TEST_CASE("however often a lab stands still and goes on, no waiter sleeps on") {
    const auto gate = closed_gate();
    constexpr int kRounds = 2000;
    std::atomic<int> round{0};
    const std::jthread waiter([&] {
      for (int seen = 0; seen < kRounds; ++seen) {
        while (!gate->wait_for_limit(kFarAwayNs)) {
        }
        gate->stop_everywhere();
        round = seen + 1;
        round.notify_one();
      }
    });
    for (int i = 0; i < kRounds; ++i) {
      gate->set_limit(FabricTime::from_ns(i));
      while (round <= i) round.wait(i);
    }
    CHECK(round == kRounds);
  }

  TEST_CASE(
      "all that wait for the links are woken when they are there, and none waits afterwards") {
    const auto gate = closed_gate();
    CHECK_FALSE(gate->wait_for_links(1));
    std::atomic<int> passed{0};
    {
      std::vector<std::jthread> waiters;
      for (int i = 0; i < 8; ++i) {
        waiters.emplace_back([&] {
          while (!gate->wait_for_links(kFarAwayNs)) {
          }
          ++passed;
        });
      }
      CHECK(passed == 0);
      gate->tell_of_links();
    }
    CHECK(passed == 8);
    CHECK(gate->wait_for_links(kFarAwayNs));
  }

  TEST_CASE(
      "a waiter gets its time back when the limit stays, and does not wait for one that is there") {
    const auto gate = closed_gate();
    CHECK_FALSE(gate->wait_for_limit(1));
    gate->set_limit(FabricTime::zero());
    CHECK(gate->wait_for_limit(kFarAwayNs));
  }
}
