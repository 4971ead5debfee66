#include "analysis/history/name_table.h"

#include <doctest/doctest.h>

#include <map>

#include "fabric/base/random.h"

namespace mrclab::analysis {
namespace {

TEST_CASE("a table by name has what was put there, whatever came and went beside it") {
  NameTable<uint32_t> table;
  std::map<uint64_t, uint32_t> expected;
  uint64_t state = 1;
  for (uint32_t i = 0; i < 20'000; ++i) {
    state = mix64(state + i);
    // Few names, whose low bits are mostly the same, so that they stand in each other's place.
    const uint64_t name = state % 97 * 16 + (state >> 32) % 2;
    if (expected.contains(name) && state >> 63 != 0) {
      if (state >> 62 == 2) {
        table.erase(name);
      } else {
        table.erase_found(table.find(name));
      }
      expected.erase(name);
    } else {
      ++table[name];
      ++expected[name];
    }
    REQUIRE(table.size() == expected.size());
  }
  uint64_t sum = 0, expected_sum = 0;
  table.for_each([&](uint32_t value) { sum += value; });
  for (const auto& [name, value] : expected) {
    expected_sum += value;
    CHECK(table[name] == value);
  }
  CHECK(sum == expected_sum);
}

}  // namespace
}  // namespace mrclab::analysis
