// The expansion's vectors are the profiles of the MRC API's ev_expansion example, each with one
// value expanded by hand as its code does.

#include "endpoint/base/ev_profile.h"

#include <doctest/doctest.h>

#include "endpoint/paths/ev_profile_values.h"
#include "endpoint/paths/ev_set.h"
#include "fabric/topology/path.h"
#include "tests/support/errors.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::endpoint;

namespace {

EvProfile profile_in(const std::string& text) {
  return parse_ev_profile(read_yaml_text("p: " + text, "f.yaml").require("p"), test::octet());
}

std::string profile_error(const std::string& text) {
  return test::error_of([&] { profile_in(text); });
}

const std::string kOctetFields =
    "{fields: [{width: 8}, {width: 8, min: 0, max: 7, mask: 0xff}, "
    "{width: 16, init_val: 0xc000, max: 3, mask: 0x3}]}";

}  // namespace

TEST_CASE("fields are expanded as the MRC API's example does") {
  using Values = std::vector<uint32_t>;
  struct Row {
    const char* what;
    std::vector<EvField> fields;
    uint64_t packed;
    Values expanded;
  };
  const EvField whole{16, 0, 0, 0, 0xffff};
  const EvField srv6{32, 0x13131313, 0, 0, 0};
  for (const Row& row : {
           Row{"structured, 16 + 16 bits", {whole, whole}, 0x1234'abcd, {0x1234, 0xabcd}},
           Row{"structured, one field", {{32, 0, 0, 0, ~0u}}, 0xdead'beef, {0xdead'beef}},
           Row{"fixed high bits",
               {{16, 0x100, 1, 0xf, 0xf}, {16, 0x200, 1, 0xf, 0xf}},
               0x5c,
               {0x105, 0x20c}},
           Row{"a mask with a hole",
               {{16, 0x1000, 1, 0xff, 0x0f0f}, {16, 0x2000, 1, 0xff, 0x0f0f}},
               0xab'07,
               {0x1a0b, 0x2007}},
           Row{"SRv6: a fixed locator and four uSIDs",
               {srv6,
                {16, 0x100, 1, 0xf, 0xf},
                {16, 0x200, 1, 0xf, 0xf},
                {16, 0x300, 1, 0xf, 0xf},
                {16, 0x400, 1, 0xf, 0xf}},
               0x1f3a,
               {0x13131313, 0x101, 0x20f, 0x303, 0x40a}},
       }) {
    CAPTURE(row.what);
    CHECK(expand_fields(row.fields, row.packed, generated_bits(row.fields)) == row.expanded);
  }
}

TEST_CASE("a generated profile holds every combination of its fields' ranges") {
  const EvProfile profile = profile_in(kOctetFields);
  CHECK(profile.mode == EvProfile::Mode::kGenerated);
  CHECK(profile.values == entropy_values(test::octet(), 0, 4, 256, 1));
  const EvProfile half = profile_in(
      "{fields: [{width: 8}, {width: 8, min: 2, max: 3, mask: 0x7}, "
      "{width: 16, init_val: 0xc000, min: 1, max: 2, mask: 3}]}");
  CHECK(half.values == std::vector{ev_of({2, 1}), ev_of({2, 2}), ev_of({3, 1}), ev_of({3, 2})});
}

TEST_CASE("an explicit profile holds the paths that it names, by name, pattern or number") {
  CHECK(profile_in("[p0/u0, p1/u3]").values == std::vector{ev_of({0, 0}), ev_of({1, 3})});
  CHECK(profile_in("[p*/u2]").values.size() == 8);
  CHECK(profile_in("[\"0x0002c003\", p2/u3]").values == std::vector{ev_of({2, 3})});
  CHECK(profile_in("auto").values.empty());
}

TEST_CASE("each pair of hosts gets the part of a profile that leads to it") {
  const Topology octet = test::octet();
  const EvProfile profile = profile_in("[p0/u0, p0/u1, p5/u3]");
  CHECK(values_between(profile, octet, 0, 4, 256, 1) == profile.values);
  CHECK(values_between(profile, octet, 0, 1, 256, 1) ==
        std::vector{ev_of({0, kT0LocalUplink}), ev_of({5, kT0LocalUplink})});
  CHECK(values_between({}, octet, 0, 4, 16, 1).size() == 16);
}

TEST_CASE("a profile reads back from its text as the same profile") {
  for (const std::string& text :
       {std::string("auto"), std::string("[p0/u0, p7/u3]"), kOctetFields}) {
    CHECK(profile_in(to_yaml(profile_in(text))) == profile_in(text));
  }
}

TEST_CASE("bad profiles get an exact error") {
  struct Row {
    const char* text;
    const char* error;
  };
  for (const Row& row : {
           Row{"some", "f.yaml:1:4: found \"some\": expected auto"},
           Row{"[p0/u0, p8/u0]",
               "f.yaml:1:12: found \"p8/u0\", which names no path: expected a path of the fabric "
               "such as p0/u1, p0/-, p*/u0 or p0/*"},
           Row{"[p0/-]",
               "f.yaml:1:4: found no path over a T1: expected at least one: hosts on different "
               "T0s need it"},
           Row{"{fields: [{width: 33}]}",
               "f.yaml:1:22: found \"33\": expected a whole number from 1 to 32"},
           Row{"{fields: [{width: 16, mask: 0x1ffff}]}",
               "f.yaml:1:32: found \"0x1ffff\": expected a number from 0 to 0x0000ffff"},
           Row{"{fields: [{width: 16, mask: 0x7, max: 8}]}",
               "f.yaml:1:42: found \"8\": expected a whole number from 0 to 7"},
           Row{"{fields: [{width: 16}]}",
               "f.yaml:1:13: found 16 bits in all: expected 32, the width of an entropy value"},
           Row{"{fields: [{width: 16, mask: 0xffff, max: 65535}]}",
               "f.yaml:1:14: found 65536 values or more: expected at most 4096"},
       }) {
    CHECK(profile_error(row.text) == row.error);
  }
  CHECK(profile_error("{fields: [{width: 16, max: 8, mask: 0xf}, {width: 16, init_val: 0xc000}]}")
            .find("0x0008c000, which is no path of octet") != std::string::npos);
}
