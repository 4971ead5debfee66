// Runs in which nothing is broken, with the shortest and the longest messages, on small fabrics under every
// transport: every frame is accounted for, and nothing else that must always hold is found wanting.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>

#include "fabric/text/yaml.h"
#include "faults/draws.h"
#include "lab/run/watched_run.h"
#include "scenario/spec/contrast.h"
#include "scenario/spec/scenario.h"
#include "tests/support/nightly.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

constexpr std::array kFabrics{"pair", "single", "trio", "ring", "ai-backend"};
constexpr std::array kMessages{"1B", "1B", "100B", "4KiB", "1MiB", "16MiB"};

std::string draw_workload(faults::Draws& draws) {
  const std::string message = kMessages[draws.below(kMessages.size())];
  const int64_t load = draws.between(20, 95);
  switch (draws.below(4)) {
    case 0:
      return fmt::format("incast: {{from: \"h[!0]\", to: h0, load: {}%, message: {}}}", load,
                         message);
    case 1:
      return fmt::format("write: {{from: h1, to: h0, size: {}, until: end, depth: 16}}", message);
    default:
      return fmt::format("permutation: {{hosts: all, load: {}%, message: {}}}", load, message);
  }
}

/// A pure function of its arguments. Empty where the fabric cannot carry the transport.
std::optional<Scenario> faultless(const char* fabric, const NamedTransport& transport,
                                  uint64_t seed, int64_t longest_us) {
  faults::Draws draws(seed, 0);
  std::string text =
      fmt::format("name: faultless\nfabric: {}\nseed: {}\nworkload:\n", fabric, seed);
  for (int64_t left = draws.between(1, 2); left > 0; --left) {
    text += "  - " + draw_workload(draws) + "\n";
  }
  text += fmt::format("end: {}us\nexpect: [safety, no_qp_error]\n", draws.between(60, longest_us));
  const Scenario scenario = parse_scenario(read_yaml_text(text, "faultless"));
  try {
    return under_transport(scenario, {&transport, nullptr});
  } catch (const InputError&) {
    return std::nullopt;
  }
}

void check_accounted(const Scenario& scenario, const char* fabric, std::string_view transport) {
  const analysis::Verdict verdict = run_watched(scenario);
  for (const analysis::CheckResult& check : verdict.checks) {
    INFO(fabric << ", " << transport << ", seed " << scenario.seed << ": " << check.name << ": "
                << check.note);
    CHECK(check.result != analysis::Result::kFail);
    if (check.name == "accounted") CHECK(check.result == analysis::Result::kPass);
  }
}

}  // namespace

TEST_SUITE_BEGIN("whole run");

TEST_CASE("a run without faults misses no frame, of whatever length its messages are") {
  const uint64_t seeds = test::nightly() ? 40 : 1;
  const int64_t longest_us = test::nightly() ? 600 : 150;
  uint64_t runs = 0;
  for (const char* fabric : kFabrics) {
    for (const NamedTransport& transport : named_transports()) {
      for (uint64_t i = 0; i < seeds; ++i) {
        const auto scenario = faultless(fabric, transport, runs, longest_us);
        if (!scenario) continue;
        check_accounted(*scenario, fabric, transport.name);
        ++runs;
      }
    }
  }
  CHECK(runs >= 30 * seeds);
}

TEST_CASE("short messages fill both directions of a ring with data and SACKs, and starve neither") {
  const Scenario scenario = parse_scenario(read_yaml_text(R"(
name: starved
fabric: ring
seed: 162901167
workload:
  - permutation: {hosts: all, load: 90%, message: 1B}
  - write: {from: h1, to: h0, size: 4KiB, count: 3, at: 100us}
end: 401us
expect: [safety, no_qp_error, queues_empty]
)",
                                                          "starved"));
  check_accounted(scenario, "ring", "mrc");
}

TEST_SUITE_END();
