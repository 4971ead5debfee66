// Debian's perftest, unmodified, held at the fabric time of a simulated fabric: what it prints is a function of the fabric.

#include <doctest/doctest.h>

#include <filesystem>
#include <regex>
#include <string>

#include "tests/support/fabrics.h"
#include "tests/verbs/held/program_runs.h"
#include "tests/verbs/held_processes.h"

namespace mrclab::test {
namespace {

bool has_perftest() {
  return std::filesystem::exists("/usr/bin/ib_write_lat") &&
         std::filesystem::exists(std::string(MRCLAB_BINARY_DIR) + "/rdma/libibverbs.so.1") &&
         ::geteuid() == 0;
}

/// Of a server in h1 and a client in h0.
struct PerftestRun {
  std::string server, client;
  int server_code = -1, client_code = -1;
  uint64_t history = 0;
  std::vector<FabricTime> ended;  ///< client, server
  bool operator==(const PerftestRun&) const = default;
};

PerftestRun run_perftest(const std::string& program, const std::string& options) {
  HeldProcesses held(pair(), endpoint::TransportKind::kMrc, SimFabric::Options{});
  held.add(1, program, program + " " + options);
  held.add(0, program, program + " " + options + " $H1", FabricTime::from_us(100));
  held.run_until(FabricTime::from_us(20'000'000));
  PerftestRun ran;
  for (const verbs::HeldReport& report : held.hosts.reports()) {
    INFO(report.program, " ", report.number);
    CHECK(report.not_held == "");
    ran.ended.push_back(report.ended);
  }
  ran.server_code = held.status(0).code;
  ran.client_code = held.status(1).code;
  ran.server = held.output(0);
  ran.client = held.output(1);
  ran.history = held.fabric.hash();
  return ran;
}

TEST_SUITE("root: perftest held") {
  TEST_CASE("ib_write_lat has one latency, and two runs print the same to the last character" *
            doctest::skip(!has_perftest() || !clocks_are_held())) {
    const PerftestRun ran = run_perftest("ib_write_lat", "-s 2 -n 100");
    INFO(ran.client);
    INFO(ran.server);
    CHECK(ran.client_code == 0);
    CHECK(ran.server_code == 0);
    std::smatch row;
    const std::regex figures(R"(\n 2 +100 +([0-9.]+) +([0-9.]+) +([0-9.]+) )");
    REQUIRE(std::regex_search(ran.client, row, figures));
    CHECK(row[1].str() == row[2].str());
    CHECK(row[1].str() == row[3].str());
    CHECK(run_perftest("ib_write_lat", "-s 2 -n 100") == ran);
  }

  TEST_CASE("ib_write_bw ends well" * doctest::skip(!has_perftest() || !clocks_are_held())) {
    const PerftestRun ran = run_perftest("ib_write_bw", "-n 200 --report_gbits");
    INFO(ran.client);
    INFO(ran.server);
    CHECK(ran.client_code == 0);
    CHECK(ran.server_code == 0);
  }
}

}  // namespace
}  // namespace mrclab::test
