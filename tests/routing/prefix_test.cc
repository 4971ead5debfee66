#include "routing/base/prefix.h"

#include <doctest/doctest.h>

#include "routing/base/unroutable.h"

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

TEST_CASE("prefixes for one node, one link or a group are no routes, and those around them are") {
  struct Row {
    const char* prefix;
    const char* why;
  };
  const Row rows[] = {
      {"::1/128", "loopback"},
      {"::/128", "unspecified"},
      {"::/96", "IPv4-compatible"},
      {"::7f00:1/128", "IPv4-compatible"},  // 127.0.0.1
      {"::ffff:0:0/96", "IPv4-mapped"},
      {"::ffff:7f00:0/104", "IPv4-mapped"},  // 127.0.0.0/8
      {"::ffff:a9fe:0/112", "IPv4-mapped"},  // 169.254.0.0/16
      {"::ffff:e000:0/100", "IPv4-mapped"},  // 224.0.0.0/4
      {"::ffff:ffff:ffff/128", "IPv4-mapped"},
      {"fe80::/10", "link-local"},
      {"fe80::1/128", "link-local"},
      {"febf:ffff::/32", "link-local"},
      {"ff00::/8", "multicast"},
      {"ff02::1/128", "multicast"},
      {"::/0", ""},
      {"::/1", ""},
      {"fe00::/9", ""},
      {"fec0::/10", ""},
      {"fd00::/8", ""},
      {"64:ff9b::/96", ""},
      {"2001:db8::/32", ""},
      {"5f00::/16", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.prefix);
    const auto prefix = Prefix::parse(row.prefix);
    REQUIRE(prefix.has_value());
    CHECK(why_unroutable(*prefix) == row.why);
  }
}
