#pragma once
// Verbs by hand for one host of a collective, which counts what it reports.

#include <doctest/doctest.h>

#include "endpoint/base/application.h"

namespace mrclab::test {

struct CollectiveVerbs : endpoint::Verbs {
  FabricTime now() const override { return {}; }
  bool post_receive(endpoint::QpHandle, uint64_t, Memory) override { return false; }
  void wake_at(FabricTime) override {}
  void report_verified(uint64_t bytes, uint64_t wrong) override {
    verified += bytes;
    mismatched += wrong;
  }
  void report_collective_done(uint32_t iteration, FabricTime) override {
    CHECK(iteration == done++);
  }
  void report_step_done(uint32_t, FabricTime) override {}

  uint64_t verified = 0, mismatched = 0;
  uint32_t done = 0;  ///< iterations
};

}  // namespace mrclab::test
