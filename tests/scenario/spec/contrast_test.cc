// `contrast:` of scenarios: read, refused with its place, written back, and what a transport is asked.

#include <doctest/doctest.h>

#include "fabric/text/yaml.h"
#include "scenario/spec/contrast.h"
#include "scenario/spec/scenario.h"
#include "scenario/spec/transport_fit.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/errors.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

Scenario with_contrast(const std::string& contrast, const std::string& more = "fabric: single\n") {
  return parse_scenario(read_yaml_text(
      "name: x\n" + more +
          "workload:\n  - write: {from: h0, to: h4, size: 64KiB, count: 8}\nend: 60us\n"
          "expect:\n  - no_qp_error\n  - share: {path: \"p0/*\", at_least: 100%}\n"
          "  - trims: {at_least: 0, at_most: 0}\n" +
          contrast,
      "f.yaml"));
}

constexpr char kTwo[] =
    "contrast:\n"
    "  - transport: roce\n"
    "    expect:\n"
    "      - losses: {at_most: 0}\n"
    "  - transport: roce\n"
    "    name: pfc-8qp\n"
    "    options: {qps: 8, dcqcn: off}\n"
    "    watchdog: {detect: 20us, restore: 5rtt, action: forward}\n"
    "    expect:\n"
    "      - no_qp_error\n"
    "      - {goodput: {from: 10us, at_most: 99%, of: line_rate}, published: 97%, figure: \"figure "
    "1\"}\n";

std::string refused(const std::string& contrast, const std::string& more = "fabric: single\n") {
  return test::error_of([&] { with_contrast(contrast, more); });
}

}  // namespace

TEST_CASE("contrasts are read, and are the same after they were written and read") {
  const Scenario scenario = with_contrast(kTwo);
  REQUIRE(scenario.contrasts.size() == 2);
  CHECK(scenario.contrasts[0].name == "roce");
  CHECK(scenario.contrasts[1].expect.size() == 2);
  const Scenario again = parse_scenario(read_yaml_text(to_yaml(scenario), "again.yaml"));
  CHECK(again.contrasts == scenario.contrasts);
  CHECK(to_yaml(again) == to_yaml(scenario));
}

TEST_CASE("under a contrast its options, watchdog and expectations hold") {
  const Scenario scenario = with_contrast(kTwo);
  const Scenario eight = under_transport(scenario, find_contrast(scenario, "pfc-8qp"));
  CHECK(uses_roce(eight));
  CHECK(eight.topology.lossless.pfc);
  CHECK(eight.topology.lossless.watchdog == WatchdogAction::kForward);
  CHECK(eight.topology.lossless.detect == FabricTime::from_us(20));
  CHECK(eight.topology.lossless.restore == eight.topology.base_rtt * 5);
  CHECK(endpoint::make_profile(eight.transport, eight.topology).qps == 8);
  CHECK(endpoint::make_profile(eight.transport, eight.topology).dcqcn ==
        endpoint::DcqcnChoice::kOff);
  CHECK(eight.expect == scenario.contrasts[1].expect);
  CHECK(scenario.topology.lossless.watchdog == WatchdogAction::kOff);
}

TEST_CASE("a transport without a contrast is asked what can be asked of it") {
  const Scenario scenario = with_contrast("");
  const auto asked = [&](const char* name) {
    return under_transport(scenario, find_contrast(scenario, name)).expect.size();
  };
  CHECK(asked("mrc") == 3);
  CHECK(asked("reps") == 3);
  CHECK(asked("one-path") == 2);  // which path a queue pair takes is no sign there
  CHECK(asked("roce") == 2);
}

TEST_CASE("each family of transports is asked what can be asked of it, and told why not the rest") {
  using namespace analysis;
  ExpectTrims some, none;
  some.at_least = 1;
  none.at_most = 0;
  constexpr std::string_view kOnePathWhy = "a queue pair has one path here";
  const struct {
    Expectation expectation;
    std::string_view one_path, roce;  // why not; empty: it is asked
  } rows[] = {{ExpectShare{}, kOnePathWhy, kOnePathWhy},
              {ExpectPortShare{}, kOnePathWhy, kOnePathWhy},
              {ExpectPathUnused{}, kOnePathWhy, kOnePathWhy},
              {ExpectLeave{}, kOnePathWhy, kOnePathWhy},
              {some, "", "RoCE is not trimmed"},
              {none, "", ""},
              {ExpectEvsGood{}, "", "RoCE has no entropy values"},
              {ExpectLosses{}, "", ""},
              {ExpectPause{}, "", ""},
              {ExpectLossless{}, "", ""}};
  for (const auto& row : rows) {
    CAPTURE(name_of(row.expectation));
    CHECK(inapplicable(row.expectation, TransportFamily::kSprays).empty());
    CHECK(inapplicable(row.expectation, TransportFamily::kOnePath) == row.one_path);
    CHECK(inapplicable(row.expectation, TransportFamily::kRoce) == row.roce);
  }
}

TEST_CASE("a contrast has the fabric's watchdog unless it says another one, or none") {
  const Scenario scenario = with_contrast(
      "contrast:\n"
      "  - {transport: roce, expect: [no_qp_error]}\n"
      "  - {transport: roce, name: none, watchdog: off, expect: [no_qp_error]}\n"
      "  - {transport: roce, name: quick, watchdog: {detect: 3us, restore: 4us}, "
      "expect: [no_qp_error]}\n",
      "fabric: {name: f, planes: 1, t0: 2, t1: 2, hosts_per_t0: 4, "
      "roce: {watchdog: {detect: 70us, restore: 80us}}}\n");
  const auto lossless = [&](const char* name) {
    return under_transport(scenario, find_contrast(scenario, name)).topology.lossless;
  };
  CHECK(lossless("roce").watchdog == WatchdogAction::kDrop);
  CHECK(lossless("roce").detect == FabricTime::from_us(70));
  CHECK(lossless("roce").restore == FabricTime::from_us(80));
  CHECK(lossless("none").watchdog == WatchdogAction::kOff);
  CHECK(lossless("quick").watchdog == WatchdogAction::kDrop);
  CHECK(lossless("quick").detect == FabricTime::from_us(3));
  CHECK(lossless("quick").restore == FabricTime::from_us(4));
}

TEST_CASE("a contrast is asked what it expects, though its transport could not be asked that") {
  const Scenario scenario = with_contrast(
      "contrast:\n  - {transport: one-path, options: {qps: 3}, "
      "expect: [{share: {path: \"p0/*\", at_least: 90%}}]}\n",
      "fabric: single\ntransport: production\n");
  const Scenario one = under_transport(scenario, find_contrast(scenario, "one-path"));
  CHECK(one.expect == scenario.contrasts[0].expect);
  CHECK(endpoint::make_profile(one.transport, one.topology).qps == 3);
  // The profile is the scenario's unless the transport is RoCE.
  REQUIRE(scenario.transport.profile == "production");
  CHECK(one.transport.profile == "production");
  CHECK_FALSE(uses_roce(one));
  CHECK(uses_roce(under_transport(scenario, find_contrast(scenario, "roce-nopfc"))));
}

TEST_CASE("what is wrong with a contrast is said with its place") {
  CHECK(refused("contrast:\n  - {transport: rose, expect: [no_qp_error]}\n") ==
        "f.yaml:11:17: found \"rose\": expected \"roce\"");
  CHECK(refused("contrast:\n  - {transport: roce}\n").find("f.yaml:11:5: ") == 0);
  CHECK(refused("contrast:\n  - {transport: roce, expect: []}\n")
            .find("expected what must hold under this transport") != std::string::npos);
  CHECK(refused("contrast:\n  - {transport: roce, name: reps, expect: [no_qp_error]}\n") ==
        "f.yaml:11:29: found a second \"reps\": expected \"name:\" with a name that no other has");
  CHECK(refused("contrast:\n  - {transport: roce, expect: [no_qp_error]}\n"
                "  - {transport: roce, expect: [no_qp_error]}\n")
            .find("f.yaml:12:17: found a second \"roce\"") == 0);
  CHECK(refused("contrast:\n  - {transport: roce, options: {qsp: 8}, expect: [no_qp_error]}\n")
            .find("\"qps\"") != std::string::npos);
  CHECK(refused("contrast:\n  - {transport: roce, options: {profile: lab}, "
                "expect: [no_qp_error]}\n")
            .find("f.yaml:11:33: found a profile") == 0);
  CHECK(refused("contrast:\n  - {transport: roce, options: 8, expect: [no_qp_error]}\n")
            .find("expected options as in") != std::string::npos);
  CHECK(refused("contrast:\n  - {transport: roce, watchdog: on, expect: [no_qp_error]}\n")
            .find("expected off or {detect: 200us, restore: 200us}") != std::string::npos);
  CHECK(refused("contrast:\n  - {transport: roce, expect: [{program: {command: x}}]}\n")
            .find("found program: expected an expectation that packets answer") !=
        std::string::npos);
  CHECK(refused("contrast:\n  - {transport: roce, expect: [steady]}\n")
            .find("found no fault, so no baseline before it") != std::string::npos);
}

TEST_CASE("RoCE is refused where the fabric cannot carry it, and too many contrasts are") {
  CHECK(refused("contrast:\n  - {transport: roce, expect: [no_qp_error]}\n",
                "fabric: ecmp-octet-ipv4\n")
            .find("found RoCE in a fabric with an IPv4 underlay: expected regular planes") !=
        std::string::npos);
  std::string many = "contrast:\n";
  const auto one_more = [&many](size_t i) {
    many += "  - {transport: roce, name: n" + std::to_string(i) + ", expect: [no_qp_error]}\n";
  };
  for (size_t i = 0; i < kMaxContrasts; ++i) one_more(i);
  CHECK(with_contrast(many).contrasts.size() == kMaxContrasts);
  one_more(kMaxContrasts);
  CHECK(refused(many).find("found more contrasts: expected at most 16") != std::string::npos);
}

TEST_CASE("a name that --transport may say is a contrast's, else a transport's") {
  const Scenario scenario = with_contrast(kTwo);
  CHECK(find_contrast(scenario, "roce").contrast == &scenario.contrasts[0]);
  CHECK(find_contrast(scenario, "reps").contrast == nullptr);
  CHECK_THROWS_WITH_AS(find_contrast(scenario, "pfc-8pq"),
                       "found \"pfc-8pq\", which names no transport: expected \"pfc-8qp\"",
                       NameError);
}

TEST_CASE("a few writes have no more queue pairs than writes, and the scenario reads back so") {
  const Scenario scenario = with_contrast("");
  const Scenario sixteen = under_transport(scenario, find_contrast(scenario, "roce16"));
  CHECK(std::get<endpoint::WriteSpec>(sixteen.workload[0]).qps == 8);
  const Scenario again = parse_scenario(read_yaml_text(to_yaml(sixteen), "again.yaml"));
  CHECK(again.workload == sixteen.workload);
}
