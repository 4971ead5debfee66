#include "fabric/topology/dscp.h"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace mrclab;

TEST_CASE("a map without a word is the MRC emulator's, and every class finds its DSCP") {
  const DscpMap dscps;
  CHECK_FALSE(misfit_of(dscps));
  CHECK(class_of(dscps, 0) == "no_trim");
  CHECK(class_of(dscps, 4) == "trimmable");
  CHECK(class_of(dscps, 8) == "trimmable_retx");
  CHECK(class_of(dscps, 12) == "trimmed");
  CHECK(class_of(dscps, 16) == "trimmed_last_hop");
  CHECK(class_of(dscps, 46) == "control");
  CHECK(class_of(dscps, 10).empty());
}

TEST_CASE("classes that must be told apart may not share a DSCP, the others may") {
  DscpMap one_of_each;
  one_of_each.trimmable_retx = one_of_each.trimmable;
  one_of_each.trimmed_last_hop = one_of_each.trimmed;
  CHECK_FALSE(misfit_of(one_of_each));
  CHECK(one_of_each.is_trimmed(one_of_each.trimmed));
  // One value stands for both, so no receiver can distinguish them.
  CHECK_FALSE(one_of_each.is_trimmed_last_hop(one_of_each.trimmed));
  for (const DscpClass& a : kDscpClasses) {
    for (const DscpClass& b : kDscpClasses) {
      DscpMap dscps;
      dscps.*a.member = dscps.*b.member;
      CAPTURE(a.name);
      CAPTURE(b.name);
      CHECK(misfit_of(dscps).has_value() == (a.group != b.group));
    }
  }
  DscpMap seven_bits;
  seven_bits.control = 64;
  CHECK(misfit_of(seven_bits) == "control is 64, which has over 6 bits");
}

TEST_CASE("DSCPs on a command line: any classes, the rest stay, and what is wrong is named") {
  const DscpMap dscps = parse_dscps("trimmed=20,control=48,trimmed_last_hop=22");
  CHECK(dscps.trimmed == 20);
  CHECK(dscps.trimmed_last_hop == 22);
  CHECK(dscps.control == 48);
  CHECK(dscps.trimmable == 4);
  CHECK(parse_dscps("") == DscpMap{});
  for (const char* bad : {"trimmed", "trimmed=", "trimmed=x", "trimmed=64", "trimmed=300", "=4",
                          "trim=4", "trimmed=20,,control=48", "control=4", "trimmed=-1"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_dscps(bad), std::invalid_argument);
  }
}
