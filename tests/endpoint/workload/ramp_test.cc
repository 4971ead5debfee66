#include "endpoint/workload/ramp.h"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "endpoint/workload/collective_layout.h"
#include "endpoint/workload/stream_layout.h"

using namespace mrclab;
using namespace mrclab::endpoint;

TEST_CASE("ramps fill, add and check, at any length and offset") {
  const Ramp a{5, 3}, b{7, 0xFFFF'FFFF};
  for (const size_t size : {4u, 8u, 1020u, 1024u, 1028u, 5000u}) {
    std::vector<uint8_t> x(size), y(size);
    fill_ramp(x, 1000, a);
    fill_ramp(y, 1000, b);
    uint32_t second = 0;
    if (size >= 8) {
      std::memcpy(&second, &x[4], 4);
      CHECK(second == 5 + 1001 * 3);
    }
    CHECK(count_mismatched_bytes(x, 1000, a) == 0);
    CHECK(count_mismatched_bytes(x, 1001, a) == size);
    add_elements(x, y);
    CHECK(count_mismatched_bytes(x, 1000, a + b) == 0);
    x[size - 1] ^= 1;
    CHECK(count_mismatched_bytes(x, 1000, a + b) == 4);
  }
}

TEST_CASE("a length that is no multiple of an element is checked to its last byte") {
  std::vector<uint8_t> x(1027);
  fill_ramp(x, 0, {1, 2});
  CHECK(count_mismatched_bytes(x, 0, {1, 2}) == 0);
  x[1026] ^= 0x80;
  CHECK(count_mismatched_bytes(x, 0, {1, 2}) == 3);
}

TEST_CASE("the lanes of all chunks cover the vector exactly once, in whole elements") {
  for (const uint64_t elements : {8u, 9u, 1000u, 262'145u, 2'097'152u}) {
    for (const size_t hosts : {2u, 3u, 7u, 8u}) {
      const CollectiveLayout layout({elements * 4}, hosts, 4);
      CHECK(layout.lanes() >= std::min<uint64_t>(4, elements / hosts));
      uint64_t next = 0;
      for (size_t c = 0; c < hosts; ++c) {
        for (uint32_t lane = 0; lane < layout.lanes(); ++lane) {
          const ReduceChunk slice = layout.slice(c, lane);
          CHECK(slice.offset == next);
          CHECK(slice.length > 0);
          CHECK(slice.length % 4 == 0);
          next += slice.length;
        }
      }
      CHECK(next == elements * 4);
    }
  }
}

TEST_CASE("stream slots hold whole messages and at least two batches") {
  for (const uint64_t size : {1u, 7u, 4096u, 65'536u, 262'144u, 100'000'000u}) {
    const StreamLayout layout({size});
    CHECK(layout.slots() >= 2 * layout.batch());
    CHECK(layout.offset(layout.slots() - 1) + size <= layout.region_size().value);
    CHECK(layout.offset(layout.slots()) == 0);
  }
}
