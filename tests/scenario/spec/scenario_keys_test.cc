#include "scenario/spec/scenario_keys.h"

#include <doctest/doctest.h>

#include "scenario/spec/scenario.h"

namespace mrclab::lab {
namespace {

// Everything that a scenario can say, each thing as it is not by itself.
constexpr const char* kWhole = R"(
name: whole
id: [L91]
about: it was so
fabric: {name: pair, planes: 2, t0: 1, t1: 0, hosts_per_t0: 2}
mapper: {period: 30rtt}
authorise: nic
tenants: {a: "h*"}
seed: 7
holds_at_production: "no, because it lasts 200us"
transport: {profile: lab, evs: 2}
without: [skip]
fails_without: [trim]
dilation: 5000
timing: wall
workload:
  - write: {from: h0, to: h1, size: 1MiB, until: end}
  - exec: {host: h0, command: "true", cwd: /, at: 2us, until: end, timeout: 20s, may_fail: on}
faults: [{at: 30us, link_down: {link: "h0:p0", for: 20us}}]
end: 200us
captures: all
follow: "h*"
taps: hosts
payload: elided
expect: [no_qp_error, program: {command: "./x.py", name: mine, cwd: /, timeout: 5s}]
contrast:
  - {transport: roce, name: own, options: {qps: 8}, expect: [no_qp_error],
     watchdog: {detect: 50us, restore: 60us, action: forward}}
)";

Scenario parsed(const std::string& text) { return parse_scenario(read_yaml_text(text, "f")); }

TEST_CASE("every key of a scenario is written into its run folder and reads back") {
  const std::string text = to_yaml(parsed(kWhole));
  for (const ValueForm::Key& key : scenario_keys().form().keys) {
    if (key.name == "include" || key.name == "vars" || key.name == "twin") continue;
    if (key.name == "mapper" || key.name == "denylist" || key.name == "authorise" ||
        key.name == "tenants") {
      continue;  // what they stand for is in its place
    }
    CAPTURE(key.name);
    CHECK(("\n" + text).find("\n" + key.name + ":") != std::string::npos);
  }
  CHECK(to_yaml(parsed(text)) == text);
  for (const char* part :
       {"  mapper: {period: 30rtt, probes: [t0, t1, cross], form: own}\n",  // of the fabric
        "  authorise: nic\n  tenants: {a: [\"h*\"]}\n",
        "write: {from: h0, to: h1, size: 1MiB, until: end}",
        "exec: {host: h0, command: \"true\", cwd: \"/\", at: 2us, until: end, timeout: 20000ms, "
        "may_fail: true}",
        "program: {command: \"./x.py\", name: \"mine\", cwd: \"/\", timeout: 5000ms}",
        "  - transport: roce\n    name: own\n    options: {qps: 8}\n"
        "    watchdog: {detect: 50us, restore: 60us, action: forward}\n"
        "    expect:\n      - no_qp_error\n"}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
}

}  // namespace
}  // namespace mrclab::lab
