#include "endpoint/base/memory_registry.h"

#include <doctest/doctest.h>

#include "fabric/base/random.h"

using namespace mrclab;
using namespace mrclab::endpoint;

TEST_CASE("an address is resolved only by the right rkey and wholly inside its region") {
  MemoryRegistry memory;
  const RegionPlan plan{0x7000'0000'0000, 0xABCDE001, {4096}};
  const auto bytes = memory.register_region(plan);
  struct Case {
    const char* what;
    uint32_t rkey;
    uint64_t va, length;
    MemoryCheck expected;
  };
  const uint64_t va = plan.va;
  for (const Case& c : {
           Case{"all of it", plan.rkey, va, 4096, MemoryCheck::kOk},
           Case{"last byte", plan.rkey, va + 4095, 1, MemoryCheck::kOk},
           Case{"one too long", plan.rkey, va, 4097, MemoryCheck::kOutOfBounds},
           Case{"one past", plan.rkey, va + 4095, 2, MemoryCheck::kOutOfBounds},
           Case{"before", plan.rkey, va - 1, 1, MemoryCheck::kOutOfBounds},
           Case{"sum wraps", plan.rkey, ~uint64_t{0}, 2, MemoryCheck::kOutOfBounds},
           Case{"huge length", plan.rkey, va, ~uint64_t{0}, MemoryCheck::kOutOfBounds},
           Case{"other high bits", plan.rkey ^ 0x1000, va, 1, MemoryCheck::kBadRkey},
           Case{"other number", plan.rkey + 1, va, 1, MemoryCheck::kBadRkey},
           Case{"number 0", 0, va, 1, MemoryCheck::kBadRkey},
           Case{"all ones", ~0u, va, 1, MemoryCheck::kBadRkey},
       }) {
    INFO(c.what);
    const auto target = memory.resolve(c.rkey, c.va, c.length);
    CHECK(target.check == c.expected);
    CHECK((target.data != nullptr) == (c.expected == MemoryCheck::kOk));
    if (target.data != nullptr) CHECK(target.data == bytes.data() + (c.va - va));
  }
}

TEST_CASE("random rkeys and addresses never resolve outside a region") {
  MemoryRegistry memory;
  const RegionPlan plan{0x1000, 0x00001002, {100}};
  const auto bytes = memory.register_region(plan);
  for (uint64_t i = 0; i < 100'000; ++i) {
    const uint64_t a = draw(1, NodeId{0}, PortId{}, DrawPurpose::kWorkload, 2 * i);
    const uint64_t b = draw(1, NodeId{0}, PortId{}, DrawPurpose::kWorkload, 2 * i + 1);
    const auto target = memory.resolve(plan.rkey, 0xFC0 + a % 256, b % 200);
    if (target.check != MemoryCheck::kOk) continue;
    REQUIRE(target.data >= bytes.data());
    REQUIRE(target.data + b % 200 <= bytes.data() + bytes.size());
  }
}
