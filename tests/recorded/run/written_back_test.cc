// What a run writes of its scenario, read back: free text of people goes the whole way, or is
// refused with its place before anything runs.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "fabric/text/yaml.h"
#include "fabric/text/yaml_write.h"
#include "lab/run/replay.h"
#include "netio/system/file_descriptor.h"
#include "recorded/diff/recorded_run.h"
#include "recorded/diff/run_diff.h"
#include "recorded/run/run_report.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/errors.h"
#include "tests/support/hostile_text.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

constexpr int kMixtures = 400;

/// A scenario with `texts` where people write freely: as they stand, quotes and all.
std::string document(const std::string& about, const std::string& figure,
                     const std::string& command, const std::string& pattern) {
  return "name: \"null\"\nid: [\"-\", L5]\nabout: " + about +
         "\nfabric:\n  name: \"null\"\n  planes: 2\n  t0: 2\n  t1: 1\n  hosts_per_t0: 1\n"
         "  forwarding: {all: switchd, " +
         pattern +
         ": switchd}\n"
         "workload:\n  - all_reduce: {hosts: all, size: 64KiB, until: end}\n"
         "end: 20us\nexpect:\n  - {no_qp_error, published: 0, figure: " +
         figure + "}\n  - program: {command: " + command + "}\n";
}

/// Reads it, writes it, reads that: the scenario, or the error.
std::string written_back(const std::string& text, Scenario* out = nullptr) {
  return test::error_of([&] {
    const Scenario first = parse_scenario(read_yaml_text(text, "f.yaml"));
    const std::string yaml = to_yaml(first);
    Scenario again;
    try {
      again = parse_scenario(read_yaml_text(yaml, "again.yaml"));
    } catch (const InputError& error) {
      FAIL(std::string(error.what()), "\nof\n", yaml);
    }
    CHECK(to_yaml(again) == yaml);
    CHECK(again.about == first.about);
    CHECK(again.name == first.name);
    CHECK(again.check_programs.at(0).command == first.check_programs.at(0).command);
    if (out != nullptr) *out = again;
  });
}

}  // namespace

TEST_CASE("free text of a scenario is what it was after it was written and read") {
  std::mt19937_64 random(5);
  int taken = 0;
  for (int i = 0; i < kMixtures; ++i) {
    const std::string about = test::mixture(random, test::kPlainPieces);
    const std::string command = "x" + test::mixture(random, test::kPlainPieces);
    const std::string text = document(yaml_string(about), yaml_string("figure 1"),
                                      yaml_string(command), yaml_string("p\\0"));
    CAPTURE(text);
    Scenario again;
    REQUIRE(written_back(text, &again) == "no error");
    CHECK(again.about == about);
    CHECK(again.check_programs.at(0).command == command);
    // As people write: most of it is no YAML, or another text; what is taken must come back.
    const std::string raw = test::mixture(random, test::kPlainPieces);
    taken += written_back(document(raw, "section 1" + raw, "x" + raw, "p*")) == "no error" ? 1 : 0;
    taken += written_back(document("|\n  " + raw, "'section 1" + raw + "'", "\"" + raw + "\"",
                                   "p*")) == "no error"
                 ? 1
                 : 0;
  }
  CHECK(taken > kMixtures / 10);
}

TEST_CASE(
    "control characters and broken UTF-8 in free text are refused with file, line and column") {
  const std::regex placed(R"(^f\.yaml:\d+:\d+: found the (control character|byte) [^]*)");
  for (const std::string_view piece : test::kOddPieces) {
    const std::string odd = "\"a" + std::string(piece) + "\"", good = "\"section 1\"";
    const std::string escaped = R"("a\x07")";
    for (const std::string& text :
         {document(odd, good, good, "p0"), document(good, odd, good, "p0"),
          document(good, good, odd, "p0"), document(good, good, good, odd),
          document(escaped, good, good, "p0"), document(good, good, escaped, "p0")}) {
      const std::string error = written_back(text);
      CAPTURE(error);
      CHECK(std::regex_match(error, placed));
    }
  }
}

TEST_CASE("a run folder of hostile text is read by every verb that reads one") {
  const test::TemporaryRuns runs;
  std::string about = "x";
  for (const std::string_view piece : test::kPlainPieces) about += piece;
  const Scenario scenario = parse_scenario(
      read_yaml_text(document(yaml_string(about), yaml_string("page 1 <script>'&"),
                              yaml_string("printf '\\377\\033[31m\\001\\\\\"\\n'; true \"$1\""),
                              yaml_string("p\\0")),
                     "f.yaml"));
  const std::filesystem::path run = runs.run(scenario).folder.path;
  CHECK(read_run(run).scenario.about == about);
  CHECK(to_yaml(recorded_scenario(run)) == to_yaml(scenario));
  CHECK(read_page(run).verdict.at("scenario") == "null");
  CHECK(diff_runs(run, run, 4).same);
  const auto verdict = nlohmann::json::parse(netio::read_file(run / "verdict.json", 1 << 24));
  CHECK(verdict.at("checks").size() == 2);
}
