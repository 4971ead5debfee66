// Tenants and attacks in a scenario: what is refused when it is read.

#include <doctest/doctest.h>

#include "scenario/spec/scenario.h"
#include "tests/support/errors.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

struct TenantParts {
  std::string fabric = "octet";
  std::string tenants = "{a: \"h[0-3]\", b: \"h[4-7]\"}";
  std::string hosts = "\"h[0-3]\"";
  std::string fault = {};
  std::string expect = {};
};

/// The error without its place.
std::string refusal(const TenantParts& parts) {
  std::string text = "name: s\nfabric: " + parts.fabric + "\n";
  if (!parts.tenants.empty()) text += "tenants: " + parts.tenants + "\n";
  text += "workload: [permutation: {hosts: " + parts.hosts + ", load: 10%, message: 16KiB}]\n";
  if (!parts.fault.empty()) text += "faults: [{at: 1us, attack: " + parts.fault + "}]\n";
  if (!parts.expect.empty()) text += "expect: [" + parts.expect + "]\n";
  text += "end: 60us\n";
  const std::string error = test::error_of([&] { parse_scenario(read_yaml_text(text, "f")); });
  const size_t found = error.find("found ");
  return found == std::string::npos ? error : error.substr(found);
}

}  // namespace

TEST_CASE("work between tenants is refused, and so is what would check or attack none") {
  struct Row {
    TenantParts parts;
    const char* error;
  };
  for (
      const Row& row : {
          Row{{.hosts = "all"},
              "found work between h3 and h4, which are of two tenants: expected hosts of one tenant, "
              "or \"attack: {kind: tenant, ...}\" in \"faults\""},
          Row{{.tenants = "{a: \"h[0-3]\", b: h3}"},
              "found h3, which is of a: expected each host of one tenant at most"},
          Row{{.tenants = "", .expect = "isolated"},
              "found isolated, without tenants: expected \"tenants: {a: h0, b: h1}\" in the scenario"},
          Row{{.expect = "isolated: {tenants: [a, c]}"},
              "found the tenant \"c\": expected a name in \"tenants\""},
          Row{{.expect = "isolated: {tenants: []}"},
              "found a list: expected a tenant, or a list of them"},
          Row{{.expect = "dropped_for: {reason: nothing, at_least: 1}"},
              "found \"nothing\": expected a cause such as not_authorised or queue_full"},
          Row{{.fault = "{kind: tenant, from: h0, to: h1}"},
              "found \"h1\": expected a host of another tenant than h0's (\"tenants\" of the fabric or "
              "scenario)"},
          Row{{.fault = "{kind: no_ecn, from: h0, to: h1, share: 10%}"},
              "found a share for no_ecn: expected none: its own workloads send"},
      }) {
    CHECK(refusal(row.parts) == row.error);
  }
  CHECK(refusal({}) == "no error");
  CHECK(refusal({.fault = "{kind: tenant, from: h0, to: h4}", .expect = "isolated"}) == "no error");
}

TEST_CASE("only switches of ours check programs, and every NIC does") {
  const std::string kernel = "{like: pair-kernel, authorise: t0}";
  CHECK(refusal({.fabric = kernel, .tenants = "", .hosts = "all"})
            .starts_with("found t0 or both, beside \"forwarding: kernel\""));
}
