// Seeds to results, in shards and joined again; tasks over processes.

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "endpoint/options/profile_maker.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "lab/chaos/chaos.h"
#include "lab/chaos/chaos_text.h"
#include "lab/chaos/chaos_workload.h"
#include "lab/chaos/shrink.h"
#include "lab/chaos/task_pool.h"
#include "netio/system/file_descriptor.h"
#include "tests/lab/support/sandbox.h"
#include "tests/lab/support/temporary_runs.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

SeedResult passed(uint64_t seed) {
  SeedResult result;
  result.seed = seed;
  result.result = analysis::Result::kPass;
  result.kinds = {"link_down", "jitter"};
  result.drawn = {"jitter"};
  result.packets = 10 * seed;
  result.history_sha256 = "abc";
  return result;
}

ChaosReport report_of(const std::string& shard, const std::vector<uint64_t>& seeds) {
  ChaosReport report{"octet", "00ff", "sim", "0.1.0", "1-6", shard, {}};
  for (const uint64_t seed : seeds) report.results.push_back(passed(seed));
  return report;
}

}  // namespace

TEST_CASE("chaos refuses a scenario whose programs live in this machine's time") {
  try {
    load_chaos_base(MRCLAB_SOURCE_DIR "/topologies/programs/verbs-optic-glitch.yaml");
    FAIL("was taken");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()).find("expected \"timing: held\"") != std::string::npos);
  }
}

TEST_CASE("seeds are a number, a range or a list of them, each once") {
  CHECK(parse_seeds("7") == std::vector<uint64_t>{7});
  CHECK(parse_seeds("1-3,2-4,9") == std::vector<uint64_t>{1, 2, 3, 4, 9});
  for (const char* bad : {"", "x", "3-1", "1-", "-3", "1,,2", "1-99999999999", "1 - 2", "0x10",
                          "99999999999999999999"}) {
    CHECK_MESSAGE(error_of([&] { parse_seeds(bad); }).find("--seeds: found") == 0, bad);
  }
}

TEST_CASE("shards have every seed once between them") {
  std::vector<uint64_t> seeds(103);
  std::iota(seeds.begin(), seeds.end(), 5);
  std::vector<uint64_t> all;
  for (uint32_t i = 1; i <= 4; ++i) {
    const auto mine = seeds_of(seeds, parse_shard(std::to_string(i) + "/4"));
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::sort(all.begin(), all.end());
  CHECK(all == seeds);
  for (const char* bad : {"", "0/4", "5/4", "1", "1/", "/4", "a/b", "1/0", "1/2/3"}) {
    CHECK_MESSAGE(error_of([&] { parse_shard(bad); }).find("--shard: found") == 0, bad);
  }
}

TEST_CASE("a report reads back as it was written, and joins with the other shards") {
  const test::TemporaryRuns folder;
  const auto a = folder.path() / "a.json", b = folder.path() / "b.json";
  netio::write_file(a, to_json_text(report_of("1/2", {1, 3, 5})));
  netio::write_file(b, to_json_text(report_of("2/2", {2, 4, 6})));
  CHECK(read_chaos_report(a).results == report_of("1/2", {1, 3, 5}).results);
  const MergedReport merged = merge({read_chaos_report(a), read_chaos_report(b)});
  CHECK(merged.report.results.size() == 6);
  CHECK((merged.missing.empty() && merged.twice.empty() && merged.contradicting.empty()));
  CHECK(chaos_exit_code(merged.report) == 0);
}

TEST_CASE("a merge says what is missing, what is there twice and what contradicts") {
  ChaosReport other = report_of("2/2", {2, 3, 4});
  other.results[1].packets = 1;  // seed 3
  const MergedReport merged = merge({report_of("1/2", {1, 3, 4}), other});
  CHECK(merged.missing == std::vector<uint64_t>{5, 6});
  CHECK(merged.twice == std::vector<uint64_t>{4});
  CHECK(merged.contradicting == std::vector<uint64_t>{3});
  CHECK(merge_text(merged) == "missing     5, 6\ntwice       4\ndiffering   3\n");
}

TEST_CASE("reports of different jobs do not merge") {
  ChaosReport other = report_of("2/2", {2});
  other.base_sha256 = "11";
  CHECK(error_of([&] {
          merge({report_of("1/2", {1}), other});
        }) == "--merge: found reports of different jobs: base_sha256 \"00ff\" and \"11\"");
  CHECK(error_of([] { merge({}); }) == "--merge: expected at least one file");
}

TEST_CASE("a file that is no report is refused with its name") {
  const test::TemporaryRuns folder;
  const auto file = folder.path() / "bad.json";
  for (const char* text : {"", "{}", "[1]", R"({"chaos": 3})", "{\"chaos\":\"octet\"}"}) {
    netio::write_file(file, text);
    CHECK(error_of([&] { read_chaos_report(file); }).find("bad.json") != std::string::npos);
  }
  CHECK(error_of([&] { read_chaos_report(folder.path() / "none"); }) != "no error");
}

TEST_CASE("the lines of chaos fit into 80 columns and end with the command that repeats them") {
  SeedResult bad = passed(417);
  bad.result = analysis::Result::kFail;
  bad.check = "memory_intact";
  bad.note = std::string(200, 'x');
  const ChaosReport report = report_of("1/1", {1, 2, 3, 4, 5, 6});
  const std::string line = chaos_line(report, bad, stdout);
  CHECK(line.substr(0, line.find('\n')) ==
        "FAIL  417    memory_intact    mrclab chaos octet --seeds 417");
  std::string text = line + chaos_summary(report, 12.5);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    CHECK(end - begin <= 80);
    begin = end + 1;
  }
}

TEST_CASE("every task is answered once, whichever process has it") {
  TaskPool pool(3, [](uint64_t task) { return std::to_string(task * task); });
  std::map<uint64_t, std::string> answers;
  uint64_t next = 0;
  while (answers.size() < 50) {
    while (next < 50 && pool.idle()) pool.start(next++);
    if (const auto answer = pool.wait(std::chrono::seconds(10))) {
      CHECK(answer->death.empty());
      CHECK(answers.emplace(answer->task, answer->text).second);
    }
  }
  for (const auto& [task, text] : answers) CHECK(text == std::to_string(task * task));
  CHECK(pool.busy() == 0);
  CHECK_FALSE(pool.wait(std::chrono::milliseconds(0)));
}

TEST_CASE(
    "an answer as long as a twin's comes whole, and a longer one is refused in place of cut") {
  constexpr uint64_t kMebibyte = 1 << 20;
  TaskPool pool(1, [](uint64_t task) { return std::string(task, 'x'); });
  const auto answer_of = [&](uint64_t size) {
    pool.start(size);
    auto answer = pool.wait(std::chrono::seconds(30));
    REQUIRE(answer);
    return *answer;
  };
  CHECK(answer_of(3 * kMebibyte).text.size() == 3 * kMebibyte);
  CHECK(answer_of(9 * kMebibyte).death.find("an answer of 9437184 bytes") == 0);
}

TEST_CASE("a task that ends its process is an answer too, and the next one works") {
  TaskPool pool(1, [](uint64_t task) -> std::string {
    if (task == 1) {
      std::fputs("a story\nassertion failed\n", stderr);
      std::fflush(stderr);
      ::_exit(7);
    }
    if (task == 2) throw std::runtime_error("no such thing");
    return "fine";
  });
  const auto answer_to = [&](uint64_t task) {
    pool.start(task);
    auto answer = pool.wait(std::chrono::seconds(30));
    REQUIRE(answer);
    return *answer;
  };
  CHECK(answer_to(0).text == "fine");
  CHECK(answer_to(1).death == "exit code 7: assertion failed");
  CHECK(answer_to(2).death == "no such thing");
  CHECK(answer_to(3).text == "fine");
}

TEST_CASE("a seed is the same scenario every time, and its file says the same as it") {
  const ChaosBase base = load_chaos_base("octet");
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const ChaosScenario drawn = chaos_scenario(base, seed);
    const std::string text = to_yaml(drawn.scenario);
    CHECK(text == to_yaml(chaos_scenario(base, seed).scenario));
    CHECK(to_yaml(parse_scenario(read_yaml_text(text, "drawn"))) == text);
  }
}

TEST_CASE("of a scenario chaos keeps workload and transport") {
  const ChaosBase base = load_chaos_base("link-flap");
  REQUIRE(base.scenario);
  const ChaosScenario drawn = chaos_scenario(base, 3);
  CHECK(drawn.scenario.workload == base.scenario->workload);
  CHECK(drawn.scenario.transport == base.scenario->transport);
  CHECK(drawn.scenario.seed == 3);
}

TEST_CASE("chaos fills no receiver, and where nothing is trimmed leaves it room") {
  uint32_t untrimmed = 0;
  for (const char* fabric : {"pair", "ai-backend", "single"}) {
    const ChaosBase base = load_chaos_base(fabric);
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      const Scenario scenario = chaos_scenario(base, seed).scenario;
      const auto profile = endpoint::make_profile(scenario.transport, scenario.topology);
      untrimmed += profile.trim_nack ? 0 : 1;
      for (const endpoint::WorkloadSpec& spec : scenario.workload) {
        for (const auto& [host, load] : offered_load({spec})) CHECK(load <= kRoom.ppb);
      }
      if (profile.trim_nack) continue;
      for (const auto& [host, load] : offered_load(scenario.workload)) {
        CHECK_MESSAGE(load <= kRoomUntrimmed.ppb, fabric << " " << seed);
      }
    }
  }
  CHECK(untrimmed > 20);
}

TEST_CASE("what is to be as before is asked only where every host can catch up") {
  const Topology octet = build_topology(load_chaos_base("octet").fabric);
  endpoint::PermutationSpec half;
  half.hosts = {0, 1};
  half.load = Probability{475'000'000};
  endpoint::IncastSpec one_to_one;
  one_to_one.from = {0};
  one_to_one.to = 1;
  one_to_one.load = Probability{750'000'000};
  endpoint::IncastSpec four_to_one;
  four_to_one.from = {0, 1, 2, 3};
  four_to_one.to = 4;
  four_to_one.load = Probability{218'000'000};
  endpoint::CollectiveSpec closed;
  closed.hosts = {0, 1};
  CHECK(offered_load({half, one_to_one, closed}) ==
        std::map<uint32_t, uint64_t>{{0, 475'000'000}, {1, 1'225'000'000}});
  CHECK(offered_load({four_to_one}) == std::map<uint32_t, uint64_t>{{4, 872'000'000}});
  struct Case {
    std::vector<endpoint::WorkloadSpec> workload;
    bool nscc, fixed_200, fixed_60;
  };
  for (const Case& c :
       {Case{{half}, true, true, false}, Case{{half, one_to_one}, false, false, false},
        Case{{four_to_one}, true, false, false}, Case{{closed}, true, true, true}}) {
    CAPTURE(offered_load(c.workload).size());
    endpoint::TransportProfile profile = endpoint::make_profile(endpoint::TransportChoice{}, octet);
    CHECK(can_catch_up(c.workload, profile, octet) == c.nscc);
    profile.congestion_control = endpoint::CongestionAlgorithm::kFixed;
    profile.window_percent = 200;
    CHECK(can_catch_up(c.workload, profile, octet) == c.fixed_200);
    profile.window_percent = 60;
    CHECK(can_catch_up(c.workload, profile, octet) == c.fixed_60);
  }
}

TEST_CASE("hard seeds: what the judge or the generator once took for a failure passes") {
  struct Hard {
    const char* fabric;
    const char* seeds;
    const char* what;
  };
  constexpr Hard kHard[] = {
      {"octet", "12", "of RC's queue pairs at one port some were never asked for a packet"},
      {"ai-backend", "22200", "the copy of a trimmed frame arrives whole before it is sent again"},
      {"single", "40362,40598", "the same"},
      {"pair", "40824,40888", "a second copy is lost at the port where the first arrived"},
      {"single", "41714", "frames that are no MRC are carried twice"},
      {"pair", "40006,40340", "no steady baseline; no host with power"},
      {"ai-backend", "22965,41298", "an incast fills its receiver and nothing is trimmed"},
      {"ai-backend", "20031", "each SACK asked for a smaller window, for ever"},
      {"ecmp-octet", "20002", "the same"},
      {"pair", "22027", "the same"},
      {"ai-backend", "40355,41550,62032", "a write's memory changed before it was acknowledged"},
      {"pair", "72455", "two workloads offer a host more than it can take"},
      {"trio", "71988", "a fixed window keeps what is left over in the network"},
      {"ai-backend", "71078", "the same"},
      {"trio", "300334", "a receiver of RC turned away what its sender sent past a hole, for ever"},
      {"pair", "300061", "the same"},
      {"octet", "300169", "a patient receiver of RC waited for what it had turned away"},
      {"pair", "300418",
       "a NIC whose memory went on let its switch wait until its pause was due again"},
      {"pair", "400407", "a burst was repaired by one packet in a round trip"},
      {"pair", "300080,400268", "packets beyond a cumulative SACK's bits were taken for lost"},
      {"single", "400048,400080",
       "queue pairs of RC never ended a batch, and no memory was looked at"},
      {"pair", "700038", "no host that works keeps its power"},
      {"single", "700008", "an incast is over by itself, and nothing heals"},
      {"single", "700351", "attempts of RC arrived behind one that the NIC refused"},
      {"single", "701271", "DCQCN cuts at each CNP, and these may come every microsecond"},
      {"ring", "701362,701475",
       "nothing marks there, and a queue of RoCE stands while it is loaded"},
      {"pair", "41116,701167", "DCQCN at its least rate sends nothing until the run ends"},
      {"ai-backend", "22454", "REPS was frozen on values that led to one port of the receiver"},
      {"ring", "12,700311",
       "a listed fabric has no hosts per T0, and RC's room was divided by them"},
  };
  for (const Hard& hard : kHard) {
    const ChaosBase base = load_chaos_base(hard.fabric);
    for (const uint64_t seed : parse_seeds(hard.seeds)) {
      const SeedResult result = run_chaos_seed(base, seed);
      CHECK_MESSAGE(result.result == analysis::Result::kPass,
                    hard.fabric << " " << seed << " (" << hard.what << "): " << result.check << ": "
                                << result.note);
    }
  }
}

TEST_CASE(
    "hard seed: flows of RC that share an uplink keep a queue there, as they did before the "
    "faults") {
  const YamlValue four =
      read_yaml_text("{name: four, planes: 4, t0: 2, t1: 4, hosts_per_t0: 2, pmtu: 1024}", "four");
  const SeedResult result = run_chaos_seed({"four", parse_fabric(four), std::nullopt}, 22239);
  CHECK_MESSAGE(result.result == analysis::Result::kPass, result.check << ": " << result.note);
}

TEST_CASE("shrink refuses a place that cannot be written before it does its work") {
  const test::TemporaryRuns folder;
  netio::write_file(folder.path() / "file", "");
  ShrinkOptions options;
  options.target = "octet";
  options.seed = 1;  // passes: a run of it would print a line
  options.out = folder.path() / "file" / "shrunk.yaml";
  CHECK(error_of([&] { shrink_command(options); }).find("--out: found") == 0);
  options.out = folder.path();  // a folder is fine: its file gets the usual name
  CHECK(error_of([&] { shrink_command(options); }).find("it does not fail") != std::string::npos);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("the number of processes does not show in the results") {
  std::vector<std::string> texts;
  for (const char* jobs : {"1", "3"}) {
    const CommandResult run = run_command_line(
        {"/bin/sh", "-c",
         program("mrclab-cli") + " chaos pair --seeds 3-8 --json 2>/dev/null --jobs " + jobs});
    CHECK(run.code == 0);
    CHECK(nlohmann::json::parse(run.output).at("results").size() == 6);
    texts.push_back(run.output);
  }
  CHECK(texts[0] == texts[1]);
}
