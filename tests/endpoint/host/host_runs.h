#pragma once
// Whole hosts over a fabric in memory, while parts of it fail: what they got, when they noticed.

#include <doctest/doctest.h>

#include <initializer_list>
#include <optional>
#include <string_view>

#include "tests/support/sim_fabric.h"

namespace mrclab::test {

inline SimFabric::Options side_by_side(std::initializer_list<endpoint::WorkloadSpec> specs) {
  SimFabric::Options options;
  options.workloads = specs;
  return options;
}

/// Payload bytes that reached `host` between two instants.
inline uint64_t received(SimFabric& fabric, uint32_t host, FabricTime from, FabricTime until) {
  fabric.run_until(from);
  const uint64_t before = fabric.stats(host).goodput_bytes();
  fabric.run_until(until);
  return fabric.stats(host).goodput_bytes() - before;
}

/// When the first event of a kind was reported; never() if none was.
inline FabricTime first_event(const RecordingObserver& observer, std::string_view kind,
                              std::string_view cause, std::optional<EntropyValue> ev = {}) {
  for (const auto& event : observer.events) {
    if (event.kind == kind && event.cause == cause && (!ev || event.ev == ev)) return event.t;
  }
  return FabricTime::never();
}

/// No host read a wrong byte, and no queue pair failed.
inline void check_clean(const SimFabric& fabric) {
  for (uint32_t h = 0; h < fabric.topology.host_count(); ++h) {
    CHECK(fabric.stats(h).bytes_mismatched == 0);
    CHECK(fabric.stats(h).qps_in_error == 0);
  }
}

}  // namespace mrclab::test
