// `mrclab perf` as a user has it: what it measures on the simulated octet, and what it prints.

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "netio/system/file_descriptor.h"
#include "tests/lab/support/sandbox.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/nightly.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

CommandResult perf(std::vector<std::string> words) {
  words.insert(words.begin(), {program("mrclab-cli"), "perf"});
  return run_command_line(words);
}

json perf_json(std::vector<std::string> words) {
  words.emplace_back("--json");
  words.insert(words.begin(), "perf");
  return mrclab_json(words);
}

/// The numbers of the lines that begin with one, by line and column.
std::vector<std::vector<double>> rows_of(const std::string& text) {
  std::vector<std::vector<double>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<double> row;
    for (std::string word; words >> word;) {
      char* end = nullptr;
      const double value = std::strtod(word.c_str(), &end);
      if (*end == '\0') row.push_back(value);
    }
    const size_t first = line.find_first_not_of(' ');
    if (first != std::string::npos && std::isdigit(line[first]) != 0) rows.push_back(row);
  }
  return rows;
}

// The rate that headers leave for 4096 bytes of data: Ethernet 14, two IPv6 headers 80, UDP 8, BTH
// 12, METH 4, TSETH 4, RETH 16, ICRC 4, FCS 4, preamble and gap 20.
constexpr double kHeaderLimited =
    800.0 * 4096 / (4096 + 14 + 80 + 8 + 12 + 4 + 4 + 16 + 4 + 4 + 20);

const std::vector<std::string> kPerfVerbs = {"write_bw",   "write_lat",      "all_reduce",
                                             "all_gather", "reduce_scatter", "all_to_all",
                                             "sendrecv",   "permutation",    "incast"};

TEST_CASE("every verb of perf explains itself with an example and completes") {
  const CommandResult script = run_command_line({program("mrclab-cli"), "completion"});
  for (const std::string& verb : kPerfVerbs) {
    CAPTURE(verb);
    const CommandResult help = perf({verb, "--help"});
    CHECK(help.code == 0);
    CHECK(help.output.find("Example:") != std::string::npos);
    CHECK(script.output.find(verb) != std::string::npos);
  }
}

TEST_CASE("bad usage of perf is one sentence and exit code 2") {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{},
                                             {"read_bw"},
                                             {"write_bw", "no-such-fabric"},
                                             {"write_bw", "--to", "h0"},
                                             {"write_bw", "--to", "h[1-2]"},
                                             {"write_bw", "--to", "h99"},
                                             {"write_bw", "-s", "0"},
                                             {"write_bw", "-s", "12Q"},
                                             {"write_bw", "-n", "5", "-D", "50us"},
                                             {"write_bw", "-D", "5"},
                                             {"write_bw", "--transport", "{profile: x}"},
                                             {"write_bw", "pair-kernel"},
                                             {"all_reduce", "-b", "8", "-e", "4"},
                                             {"all_reduce", "--hosts", "h1"},
                                             {"permutation", "--shift", "8"},
                                             {"permutation", "--load", "0%"},
                                             {"incast", "--from", "all", "--to", "h0"}}) {
    const CommandResult result = perf(words);
    CAPTURE(result.output);
    CHECK(result.code == 2);
    CHECK(std::count(result.output.begin(), result.output.end(), '\n') == 1);
  }
}

TEST_CASE("write_bw comes within 5 % of what the headers leave, across T1 and T0-local alike") {
  const double across = perf_json({"write_bw", "--to", "h5"})["results"]["BW_average"];
  const double local = perf_json({"write_bw", "--to", "h1"})["results"]["BW_average"];
  CHECK(across > 0.95 * kHeaderLimited);
  CHECK(local > 0.95 * kHeaderLimited);
  CHECK(across < kHeaderLimited);
  CHECK(local < kHeaderLimited);
}

TEST_CASE("write_bw's table is its JSON, for all sizes, in perftest's columns" *
          doctest::test_suite(test::kWholeRun)) {
  const CommandResult table = perf({"write_bw", "-a", "-n", "40", "-q", "2"});
  CHECK(table.code == 0);
  const json document = perf_json({"write_bw", "-a", "-n", "40", "-q", "2"});
  std::vector<std::vector<double>> rows = rows_of(table.output);
  REQUIRE(rows.size() == 23);
  for (size_t i = 0; i < rows.size(); ++i) {
    const json& result = document["results"][i];
    REQUIRE(rows[i].size() == 5);
    CHECK(rows[i][0] == static_cast<double>(2u << i));
    CHECK(rows[i][1] == 80);
    CHECK(rows[i][2] == doctest::Approx(result["BW_peak"].get<double>()).epsilon(0.05));
    CHECK(rows[i][3] == doctest::Approx(result["BW_average"].get<double>()).epsilon(0.05));
    // A rate of messages and a rate of bytes are one and the same.
    CHECK(rows[i][4] * rows[i][0] * 8e-3 ==
          doctest::Approx(result["BW_average"].get<double>()).epsilon(0.001));
  }
}

TEST_CASE("both directions at once give twice the rate of one") {
  const double one = perf_json({"write_bw", "-n", "500"})["results"]["BW_average"];
  const double both = perf_json({"write_bw", "-n", "500", "-b"})["results"]["BW_average"];
  CHECK(both > 1.9 * one);
  CHECK(both < 2.02 * one);
}

TEST_CASE("write_lat is the sum of what lies on the way") {
  // 174 bytes on each 100 Gb/s wire, 500 ns of cable, 700 ns per switch and for the receiving NIC.
  const double wire = 0.174 * 8 / 100;
  const json local = perf_json({"write_lat", "--to", "h1", "-n", "50"})["results"];
  CHECK(local["t_typical"].get<double>() == doctest::Approx(2 * (wire + 0.5) + 0.7 + 0.7));
  const json across = perf_json({"write_lat", "--to", "h5", "-n", "50"})["results"];
  CHECK(across["t_typical"].get<double>() == doctest::Approx(4 * (wire + 0.5) + 3 * 0.7 + 0.7));
  const std::vector<std::vector<double>> rows =
      rows_of(perf({"write_lat", "--to", "h1", "-n", "50"}).output);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].size() == 9);
}

TEST_CASE("every collective fills nccl-tests' table with figures that agree among themselves" *
          doctest::test_suite(test::kWholeRun)) {
  const std::vector<std::pair<std::string, double>> factors = {{"all_reduce", 1.75},
                                                               {"all_gather", 0.875},
                                                               {"reduce_scatter", 0.875},
                                                               {"all_to_all", 0.875},
                                                               {"sendrecv", 1}};
  for (const auto& entry : factors) {
    const auto& verb = entry.first;  // clang 14 captures no structured binding
    const auto& factor = entry.second;
    CAPTURE(verb);
    const std::vector<std::string> options = {verb, "-b", "4", "-e", "4M", "-f", "32", "-n", "2"};
    const CommandResult table = perf(options);
    CHECK(table.code == 0);
    CHECK(table.output.find("# Out of bounds values : 0 OK") != std::string::npos);
    const json document = perf_json(options);
    double sum = 0;
    for (const json& row : document["results"]) {
      const json& result = row["out_of_place"];
      const double algbw = row["size"].get<double>() / result["time"].get<double>() * 1e-3;
      CHECK(result["alg_bw"].get<double>() == doctest::Approx(algbw));
      CHECK(result["bus_bw"].get<double>() == doctest::Approx(algbw * factor));
      CHECK(result["nwrong"] == 0);
      sum += result["bus_bw"].get<double>();
    }
    const double average = document["average_bus_bandwidth"]["bandwidth"];
    CHECK(average == doctest::Approx(sum / static_cast<double>(document["results"].size())));
    CHECK(average * 8 < kHeaderLimited);
    const std::vector<std::vector<double>> rows = rows_of(table.output);
    REQUIRE(rows.size() == document["results"].size());
    for (size_t i = 0; i < rows.size(); ++i) {
      CHECK(rows[i][0] == document["results"][i]["size"]);
      CHECK(rows[i][1] == document["results"][i]["count"]);
    }
  }
}

TEST_CASE("a permutation and an incast name every flow, and the victim alone and together") {
  const json permutation = perf_json({"permutation", "--load", "50%", "-D", "50us"});
  CHECK(permutation["flows"].size() == 8);
  CHECK(permutation["summary"]["share_min"].get<double>() > 0.9);
  CHECK(permutation["summary"]["jain"].get<double>() > 0.99);
  const json incast = perf_json({"incast", "--from", "h[4-5]", "--load", "20%", "-D", "50us"});
  CHECK(incast["flows"].size() == 2);
  CHECK(incast["victim"]["flow"] == "h7 -> h1");
  CHECK(incast["victim"]["share"].get<double>() > 0.9);
}

TEST_CASE("on slow ports flows are measured for longer, and who asks for less is warned") {
  const test::TemporaryRuns folder;
  const std::string fabric = (folder.path() / "slow.yaml").string();
  netio::write_file(fabric,
                    "name: slow\nplanes: 2\nt0: 2\nt1: 1\nhosts_per_t0: 1\n"
                    "host_rate: 1Gb/s\nfabric_rate: 1Gb/s\n");
  const json slow = perf_json({"permutation", fabric});
  CHECK(slow["summary"]["share_min"].get<double>() > 0.7);  // 300us show 0.31
  const CommandResult hasty = perf({"permutation", fabric, "-D", "300us"});
  CHECK(hasty.output.find("in 300us what flows get is no more") != std::string::npos);
}

TEST_CASE("what a pipe gets has no control characters") {
  const std::string text = perf({"all_reduce", "-b", "1M", "-n", "1"}).output;
  CHECK(text.find('\033') == std::string::npos);
  CHECK(text.find('\r') == std::string::npos);
}

}  // namespace

TEST_SUITE_BEGIN("root: perf");

TEST_CASE("a live run measures the same numbers as the simulator") {
  enter_sandbox();
  const test::TemporaryRuns out;
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"all_to_all", "pair", "-b", "256K", "-n", "2"}, {"write_lat", "pair", "-n", "20"}}) {
    std::vector<std::string> live = words;
    live.insert(live.end(), {"--world", "live", "--out", out.path()});
    json measured = perf_json(live);
    json simulated = perf_json(words);
    CHECK(measured["results"] == simulated["results"]);
  }
}

TEST_SUITE_END();

}  // namespace mrclab::lab
