// Many runs as one table: the median, the least and the most of each metric.

#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "lab/run/run_spread.h"
#include "lab/run/seed_list.h"
#include "tests/lab/support/sandbox.h"
#include "tests/netio/temporary_directory.h"

namespace mrclab::lab {
namespace {

analysis::Verdict verdict(uint64_t seed, double goodput_bps, uint64_t lost,
                          analysis::Result result) {
  analysis::Verdict made;
  made.scenario = "s";
  made.world = "sim";
  made.seed = seed;
  made.result = result;
  made.metrics.goodput_bps = goodput_bps;
  made.metrics.lost = lost;
  return made;
}

const std::string kFirst = std::string(MRCLAB_SOURCE_DIR) + "/docs/first.yaml";

}  // namespace

TEST_CASE("a spread has the middle value, or the mean of the middle two") {
  const Spread odd = spread_of({5, 1, 9});
  CHECK(odd.median == 5);
  CHECK(odd.least == 1);
  CHECK(odd.most == 9);
  CHECK(spread_of({4, 1, 2, 9}).median == 3);
}

TEST_CASE("a group counts results, and leaves out metrics that are zero in all its runs") {
  RunGroup group("s", {{"size", "1MiB"}});
  group.add(verdict(1, 1e9, 0, analysis::Result::kPass));
  group.add(verdict(2, 3e9, 0, analysis::Result::kFail));
  CHECK(group.runs() == 2);
  CHECK(group.of(analysis::Result::kFail) == 1);
  REQUIRE(group.metrics().size() == 1);
  CHECK(group.metrics()[0].label == "goodput");
  CHECK(group.metrics()[0].spread.median == 2e9);
  CHECK(spread_csv({group}) ==
        "scenario,size,runs,pass,fail,inconclusive,metric,unit,values,median,least,most\n"
        "s,1MiB,2,1,1,0,goodput,b/s,2,2000000000,1000000000,3000000000\n");
  CHECK(spread_table({group}, {}).find("s, size 1MiB: 1 pass, 1 fail") != std::string::npos);
  group.add(verdict(3, 2e9, 0, analysis::Result::kNoChecks));
  CHECK(spread_table({group}, {}).find("1 fail, 1 without checks") != std::string::npos);
}

TEST_CASE("run makes every combination of values with every seed, and one table of them") {
  const netio::test::TemporaryDirectory folder;
  const auto json = mrclab_json({"run", kFirst, "--world", "sim", "--set", "end=400us,500us",
                                 "--set", "workload[0].permutation.load=20%,40%", "--seeds", "1-3",
                                 "--json", "--out", folder / "runs"});
  CHECK(json["schema"] == "mrclab.sweep/1");
  REQUIRE(json["rows"].size() == 4);
  const auto& last = json["rows"][3];
  CHECK(last["set"]["end"] == "500us");
  CHECK(last["set"]["workload[0].permutation.load"] == "40%");
  CHECK(last["seeds"] == nlohmann::json{1, 2, 3});
  const auto& goodput = last["metrics"]["goodput"];
  CHECK(goodput["runs"] == 3);
  CHECK(goodput["least"] <= goodput["median"]);
  // Twice the load is twice the goodput, to a tenth.
  const double ratio = goodput["median"].get<double>() /
                       json["rows"][2]["metrics"]["goodput"]["median"].get<double>();
  CHECK(ratio > 1.8);
  CHECK(ratio < 2.2);
  CHECK_FALSE(std::filesystem::exists(folder / "runs"));  // simulated, they leave nothing
  // One value and one seed are a run as always.
  const CommandResult one = mrclab(
      {"run", kFirst, "--world", "sim", "--set", "end=200us", "--json", "--out", folder / "runs"});
  CHECK(one.output.find("\"mrclab.verdict/1\"") != std::string::npos);
}

TEST_CASE("a sweep has a bound, and refuses a wrong key before the first run") {
  const auto error = [](const std::vector<std::string>& words) {
    std::vector<std::string> all{"run", kFirst, "--world", "sim"};
    all.insert(all.end(), words.begin(), words.end());
    const CommandResult result = mrclab(all);
    CHECK(result.code == 2);
    return result.output;
  };
  CHECK(error({"--seeds", "1-5000"}).find("found 5000 runs: expected at most 4096") !=
        std::string::npos);
  CHECK(error({"--set", "edn=1us,2us"}).find("expected \"end\"") != std::string::npos);
  CHECK(error({"--set", "end=400us,soon"}).find("found \"soon\"") != std::string::npos);
  CHECK(error({"--seeds", "1-2", "--seed", "3"}).find("--seed") != std::string::npos);
}

}  // namespace mrclab::lab
