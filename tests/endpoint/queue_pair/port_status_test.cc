#include "endpoint/queue_pair/port_status.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::us;

namespace {}  // namespace

TEST_CASE("a port status is repeated until its answer comes, and only its own answer counts") {
  PortStatus status(0xFF);
  CHECK(status.due() == FabricTime::never());
  CHECK(!status.answered(0));
  status.announce(0xFE, us(10));
  CHECK(status.due() == us(10));
  status.sent(us(10), us(4), us(50));
  CHECK(status.due() == us(14));
  status.sent(us(14), us(4), us(50));
  const uint16_t old = status.id();
  status.announce(0xFF, us(16));
  CHECK(!status.answered(old));
  status.sent(us(16), us(4), us(50));
  CHECK(!status.answered(old));
  CHECK(status.due() == us(20));
  CHECK(status.answered(status.id()));
  CHECK(status.due() == FabricTime::never());
  CHECK(status.answered(status.id()));  // the second copy's answer
}

TEST_CASE("a peer that never answers is asked for ever, but ever more rarely") {
  PortStatus status(0xFF);
  status.announce(0xFE, us(0));
  std::vector<int64_t> gaps;
  for (int i = 0; i < 200; ++i) {
    const FabricTime due = status.due();
    status.sent(due, us(4), us(50));
    gaps.push_back((status.due() - due).ns() / 1000);
  }
  CHECK(std::count(gaps.begin(), gaps.begin() + 8, 4) == 8);
  CHECK(std::vector<int64_t>(gaps.begin() + 8, gaps.begin() + 13) ==
        std::vector<int64_t>{8, 16, 32, 50, 50});
  CHECK(gaps.back() == 50);
}

TEST_CASE("an older request of the peer never undoes a newer one") {
  PortStatus status(0xFF);
  CHECK(status.received(0xFFFF, 0xFE, us(1)));
  CHECK(!status.received(0xFFFF, 0xFD, us(2)));
  CHECK(status.received(0x0001, 0xFF, us(3)));  // numbers wrap
  CHECK(!status.received(0xFFFF, 0x00, us(4)));
  CHECK(status.remote_ports() == 0xFF);
  CHECK(!status.received(0x0002, 0xFFFF'FFFF, us(5)));  // ports that there are not do not matter
  CHECK(status.remote_ports() == 0xFF);
}

TEST_CASE("a mask in a SACK counts only if its cause left after the last change") {
  PortStatus status(0x3FF);
  CHECK(!status.received_by_sack(0, us(5), us(10)));  // the peer sends none
  CHECK(status.received_by_sack(0xFE, us(5), us(10)));
  CHECK(status.remote_ports() == 0x3FE);                 // ports past the byte stay
  CHECK(!status.received_by_sack(0xFF, us(9), us(12)));  // on its way when we learned of it
  CHECK(!status.received_by_sack(0xFE, us(11), us(13)));
  CHECK(status.received_by_sack(0xFF, us(11), us(14)));
  CHECK(status.received(7, 0x3FD, us(20)));
  CHECK(!status.received_by_sack(0xFF, us(15), us(21)));
  CHECK(status.remote_ports() == 0x3FD);
}
