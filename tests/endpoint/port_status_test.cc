#include "endpoint/port_status.h"

#include <doctest/doctest.h>

#include "endpoint/reverse_path.h"
#include "fabric/path.h"

using namespace mrclab;
using namespace mrclab::endpoint;

namespace {
constexpr FabricTime at(int64_t us) { return FabricTime::from_us(us); }
}  // namespace

TEST_CASE("a port status is repeated until its answer comes, and only its own answer counts") {
  PortStatus status(0xFF);
  CHECK(status.due() == FabricTime::never());
  CHECK(!status.answered(0));
  status.announce(0xFE, at(10));
  CHECK(status.due() == at(10));
  status.sent(at(10), at(4));
  CHECK(status.due() == at(14));
  status.sent(at(14), at(4));
  const uint16_t old = status.id();
  status.announce(0xFF, at(16));
  CHECK(!status.answered(old));
  status.sent(at(16), at(4));
  CHECK(!status.answered(old));
  CHECK(status.due() == at(20));
  CHECK(status.answered(status.id()));
  CHECK(status.due() == FabricTime::never());
  CHECK(status.answered(status.id()));  // the second copy's answer
}

TEST_CASE("a peer that never answers is not asked for ever") {
  PortStatus status(0xFF);
  status.announce(0xFE, at(0));
  uint32_t sent = 0;
  while (status.due() != FabricTime::never()) {
    REQUIRE(++sent <= PortStatus::kMaxRepeats);
    status.sent(status.due(), at(4));
  }
  CHECK(sent == PortStatus::kMaxRepeats);
}

TEST_CASE("an older request of the peer never undoes a newer one") {
  PortStatus status(0xFF);
  CHECK(status.received(0xFFFF, 0xFE));
  CHECK(!status.received(0xFFFF, 0xFD));
  CHECK(status.received(0x0001, 0xFF));  // numbers wrap
  CHECK(!status.received(0xFFFF, 0x00));
  CHECK(status.remote_ports() == 0xFF);
  CHECK(!status.received(0x0002, 0xFFFF'FFFF));  // ports that there are not do not matter
  CHECK(status.remote_ports() == 0xFF);
}

TEST_CASE("the way back follows the data and rotates over planes on which the peer was heard") {
  std::vector<EntropyValue> values;
  for (uint32_t p = 0; p < 3; ++p) {
    for (uint32_t u = 0; u < 2; ++u) values.push_back(ev_of({p, u}));
  }
  ReversePath path(values, 3, at(40));
  CHECK(path.of_plane(1) == ev_of({1, 0}));
  path.heard(ev_of({1, 1}), 1, at(100));
  path.heard(ev_of({2, 1}), 2, at(110));
  CHECK(path.choose(0b111, at(120)) == ev_of({1, 1}));
  CHECK(path.choose(0b111, at(120)) == ev_of({2, 1}));
  CHECK(path.choose(0b111, at(120)) == ev_of({1, 1}));  // plane 0 was silent for long
  CHECK(path.choose(0b001, at(120)) == ev_of({0, 0}));  // but better than nothing
  CHECK(!path.choose(0, at(120)));
  CHECK(path.choose(0b110, at(145)) == ev_of({2, 1}));  // plane 1 is too long ago
}
