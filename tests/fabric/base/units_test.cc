#include "fabric/base/units.h"

#include <doctest/doctest.h>

#include "fabric/base/ids.h"

using namespace mrclab;

TEST_CASE("a frame costs 20 bytes more than itself with FCS on a wire, and at least 84") {
  CHECK(wire_length({0}) == Bytes{84});
  CHECK(wire_length({60}) == Bytes{84});
  CHECK(wire_length({61}) == Bytes{85});
  CHECK(wire_length({14 + 128 + 4096}) == Bytes{4262});
}

TEST_CASE("serialization time is rounded up to whole picoseconds") {
  CHECK(serialization_time({1500}, BitRate::from_gbps(100)) == FabricTime::from_ns(120));
  CHECK(serialization_time({84}, BitRate::from_gbps(100)) == FabricTime::from_ps(6720));
  CHECK(serialization_time({1}, {3'000'000'000'000}) == FabricTime::from_ps(3));  // 2.67 ps
  CHECK(serialization_time({0}, BitRate::from_gbps(1)) == FabricTime::zero());
}

TEST_CASE("serialization time does not overflow for big transfers on slow wires") {
  const Bytes terabyte{1'000'000'000'000};
  CHECK(serialization_time(terabyte, BitRate::from_gbps(1)) == FabricTime::from_ms(8'000'000));
}

TEST_CASE("the bytes that fit into a time are rounded down") {
  CHECK(bytes_in(BitRate::from_gbps(100), FabricTime::from_us(1)) == Bytes{12'500});
  CHECK(bytes_in(BitRate::from_gbps(100), FabricTime::from_ps(79)) == Bytes{0});
  CHECK(bytes_in(BitRate::from_gbps(100), FabricTime::from_ps(80)) == Bytes{1});
}

TEST_CASE("never is later than every instant") {
  CHECK(FabricTime::from_ms(1'000'000'000) < FabricTime::never());
  CHECK(to_string(FabricTime::never()) == "never");
}

TEST_CASE("times are written in the largest unit that keeps them readable") {
  CHECK(to_string(FabricTime::zero()) == "0ps");
  CHECK(to_string(FabricTime::from_ps(999)) == "999ps");
  CHECK(to_string(FabricTime::from_ps(6720)) == "6.72ns");
  CHECK(to_string(FabricTime::from_ns(12'345)) == "12.345us");
  CHECK(to_string(FabricTime::from_us(-1'500)) == "-1.5ms");
  CHECK(to_string(FabricTime::from_ms(2'000)) == "2s");
}

TEST_CASE("packet sequence numbers wrap at 24 bits and compare in half a window") {
  CHECK(Psn{0xFF'FFFF}.next() == Psn{0});
  CHECK(Psn{0x100'0005} == Psn{5});
  CHECK(Psn{2} - Psn{0xFF'FFFE} == 4);
  CHECK(Psn{0xFF'FFFE} - Psn{2} == -4);
  CHECK(Psn{0xFF'FFFF}.before(Psn{0}));
  CHECK_FALSE(Psn{0}.before(Psn{0}));
  CHECK(Psn{0} - Psn{0x80'0000} == -0x80'0000);
  CHECK(Psn{3} + -5 == Psn{0xFF'FFFE});
}
