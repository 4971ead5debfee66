// Every transport on every kind of fabric: what a run leaves behind is read again by all that read runs, and the same
// run comes out of it once more.

#include <doctest/doctest.h>

#include <optional>
#include <set>
#include <string>

#include "fabric/text/yaml.h"
#include "lab/run/replay.h"
#include "recorded/diff/run_diff.h"
#include "recorded/run/blame_run.h"
#include "scenario/spec/contrast.h"
#include "scenario/spec/named_transport.h"
#include "tests/lab/support/run_readers.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/errors.h"
#include "tests/support/nightly.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

namespace fs = std::filesystem;

/// A link goes down and comes back; by then switches that route by themselves have found their routes.
Scenario outage(const std::string& fabric, uint32_t down_us = 160) {
  return parse_scenario(read_yaml_text(
      "name: outage\nfabric: " + fabric +
          "\nseed: 1\ncaptures: all\nworkload:\n"
          "  - permutation: {hosts: all, load: 30%, message: 64KiB}\n"
          "faults:\n  - {at: " +
          std::to_string(down_us) + "us, link_down: {link: \"p1.t0-0:u0\", for: 40us}}\nend: " +
          std::to_string(down_us + 100) + "us\nexpect: [safety]\n",
      "outage"));
}

}  // namespace

TEST_CASE("what a run of any transport on any fabric leaves can be read, blamed and repeated" *
          doctest::test_suite(test::kWholeRun)) {
  std::set<std::string> refused;
  size_t lossy = 0, number = 0;
  for (const std::string fabric : {"octet", "fare", "ecmp-octet"}) {
    for (const NamedTransport& transport : named_transports()) {
      const std::string name = fabric + ", " + std::string(transport.name);
      CAPTURE(name);
      std::optional<Scenario> scenario;
      try {
        const bool slow = transport.routing.find("hardware") != std::string_view::npos;
        const Scenario given = outage(fabric, slow ? 360 : 160);
        scenario = under_transport(given, find_contrast(given, transport.name));
      } catch (const InputError&) {
        refused.insert(name);
        continue;
      }
      // Each transport on one of the fabrics; nightly on all.
      if (number++ % 3 != 0 && !test::nightly()) continue;
      const test::TemporaryRuns runs;
      const RunResult run = runs.run(*scenario);
      lossy += run.verdict.metrics.lost > 0 ? 1 : 0;  // a flow with one path may not have this one
      const fs::path& folder = run.folder.path;
      for (const test::RunReader& reader : test::run_readers(*scenario, folder)) {
        if (reader.verb == "shrink") continue;  // nothing of it fails
        CAPTURE(reader.verb);
        CHECK(test::error_of([&] { reader.read(folder); }) == "no error");
      }
      ReplayOptions replay;
      replay.run = folder;
      replay.out = runs.path() / "again";
      CHECK(replay_command(replay) == 0);
      // Each loss is blamed on that link, is reported without a place, or there are too few.
      const BlamedRun blamed = blame_of_run(folder);
      for (const analysis::Blame& blame : blamed.blames) {
        std::string names = blame.component;
        for (const std::string& other : blame.or_else) names += ", " + other;
        CAPTURE(names);
        CHECK(names.find("p1.t0-0:u0") != std::string::npos);
      }
      const bool few = blamed.lost_otherwise < 5;
      CHECK((!blamed.blames.empty() || !blamed.not_told.empty() || few));
    }
  }
  CHECK(lossy > (test::nightly() ? 20 : 6));
  // There switches choose by weight, and a fabric file with both is refused as well.
  CHECK(refused == std::set<std::string>{"fare, roce-ar"});
}

TEST_CASE("where switches find their routes first, a transport begins its work when they have") {
  const Scenario given = outage("octet");
  const Scenario routed = under_transport(given, find_contrast(given, "mrc-fare"));
  CHECK(to_yaml(parse_scenario(read_yaml_text(to_yaml(routed), "again"))) == to_yaml(routed));
  CHECK(to_yaml(routed).find("at: 110208ns") != std::string::npos);
  Scenario soon = outage("octet");
  soon.end = FabricTime::from_us(100);
  CHECK(test::error_of([&] {
          under_transport(soon, find_contrast(soon, "mrc-fare"));
        }).find("expected one after 110.208us, when such switches have found their routes") !=
        std::string::npos);
}

TEST_CASE("a transport in the file asks no more of a fabric than a fabric file may say") {
  const std::string error = test::error_of([] {
    parse_scenario(
        read_yaml_text("name: x\nfabric: fare\ntransport: {profile: roce, "
                       "adaptive_routing: on}\nworkload:\n"
                       "  - permutation: {hosts: all, load: 30%, message: 64KiB}\n"
                       "end: 300us\n",
                       "x"));
  });
  CHECK(error.find("adaptive_routing, beside \"routing: fare\"") != std::string::npos);
}
