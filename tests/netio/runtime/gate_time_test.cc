// The clock as processes read it: its pace, held back by the leash.

#include <doctest/doctest.h>

#include <memory>

#include "netio/runtime/gate.h"

using namespace mrclab;
using netio::GatePage;
using netio::LabTime;
using netio::ProcessState;

namespace {

constexpr LabTime kNow{netio::ClockPage::kLeadNs + 10'000'000};  // the pace alone shows 10 us

/// Three processes, which have committed 3, 5 and 8 us.
std::unique_ptr<GatePage> gate_of_three() {
  auto gate = std::make_unique<GatePage>();
  gate->process_count = 3;
  for (uint32_t i = 0; i < 3; ++i) gate->set_state(i, ProcessState::kReady);
  gate->slot(0).done_ps = FabricTime::from_us(3).ps();
  gate->slot(1).done_ps = FabricTime::from_us(5).ps();
  gate->slot(2).done_ps = FabricTime::from_us(8).ps();
  gate->clock.reset(FabricTime::zero(), LabTime{0});
  gate->clock.set_dilation({1000}, LabTime{0});
  return gate;
}

}  // namespace

TEST_CASE("without a leash the clock shows what its pace makes of it") {
  const auto gate = gate_of_three();
  CHECK(gate->time_at(kNow) == FabricTime::from_us(10));
}

TEST_CASE("a leash holds the clock back to so much ahead of the slowest process") {
  const auto gate = gate_of_three();
  gate->leash_ps = FabricTime::from_us(2).ps();
  CHECK(gate->time_at(kNow) == FabricTime::from_us(5));
  gate->slot(0).done_ps = FabricTime::from_us(6).ps();
  CHECK(gate->time_at(kNow) == FabricTime::from_us(7));  // now the second process is the slowest
  gate->leash_ps = FabricTime::from_us(6).ps();
  CHECK(gate->time_at(kNow) ==
        FabricTime::from_us(10));  // the pace alone shows less than the leash allows
}

TEST_CASE("who has left the gate holds no clock back, and a stretch without events is free") {
  const auto gate = gate_of_three();
  gate->leash_ps = FabricTime::from_us(2).ps();
  gate->set_state(0, ProcessState::kReleased);
  CHECK(gate->time_at(kNow) == FabricTime::from_us(7));
  gate->quiet_ps = FabricTime::from_us(9).ps();
  CHECK(gate->time_at(kNow) == FabricTime::from_us(9));
  for (uint32_t i = 0; i < 3; ++i) gate->set_state(i, ProcessState::kFailed);
  CHECK(gate->time_at(kNow) == FabricTime::from_us(10));
}
