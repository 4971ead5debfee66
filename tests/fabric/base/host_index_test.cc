// The table by host number: it answers as a map does, and is small where few hosts are in it.

#include "fabric/base/host_index.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

using namespace mrclab;

TEST_CASE("a host index answers as a map does, up to the last host and after it was cleared") {
  for (const uint32_t hosts : {1u, 63u, 64u, 65u, 131'072u}) {
    CAPTURE(hosts);
    HostIndex index;
    std::map<uint32_t, uint32_t> expected;
    std::mt19937 random(hosts);
    const auto check = [&] {
      for (uint32_t host = 0; host < hosts; host += 1 + host / 50) {
        const auto found = expected.find(host);
        CHECK(index.find(host) == (found == expected.end() ? HostIndex::kNone : found->second));
      }
    };
    check();
    for (uint32_t i = 0; i < 200; ++i) {
      const auto host = static_cast<uint32_t>(random() % hosts);
      index.set(host, i);
      expected[host] = i;
    }
    index.set(hosts - 1, 7);
    expected[hosts - 1] = 7;
    check();
    CHECK(index.find(hosts - 1) == 7);
    index.clear();
    expected.clear();
    check();
  }
}
