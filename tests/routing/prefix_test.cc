#include "routing/base/prefix.h"

#include <doctest/doctest.h>

using namespace mrclab;
using namespace mrclab::routing;

TEST_CASE("a prefix is read as it is written, without the bits behind its length") {
  CHECK(to_string(*Prefix::parse("2001:db8:f2::2")) == "2001:db8:f2::2/128");
  CHECK(to_string(*Prefix::parse("2001:db8:ffff::1/36")) == "2001:db8:f000::/36");
  CHECK(to_string(*Prefix::parse("::/0")) == "::/0");
  CHECK(to_string(*Prefix::parse("1:2:3:4:5:6:7:8/127")) == "1:2:3:4:5:6:7:8/127");
  for (const char* wrong : {"", ":", "2001:db8", "2001:db8::/129", "1::2::3", "12345::",
                            "1:2:3:4:5:6:7:8:9", "::/", "::/x", "1:2:3:4:5:6:7::8", "g::"}) {
    CAPTURE(wrong);
    CHECK_FALSE(Prefix::parse(wrong));
  }
}

TEST_CASE("a prefix covers what begins with its bits, and stands right before it in order") {
  const Prefix wide = *Prefix::parse("2001:db8::/33"),
               inside = *Prefix::parse("2001:db8:7fff::/48"),
               outside = *Prefix::parse("2001:db8:8000::/48");
  CHECK(wide.covers(inside));
  CHECK_FALSE(wide.covers(outside));
  CHECK_FALSE(inside.covers(wide));
  CHECK(Prefix().covers(outside));
  CHECK(wide < inside);
  CHECK(inside < outside);
}
