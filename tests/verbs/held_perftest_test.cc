// Debian's perftest, unmodified, held at the fabric time of a simulated fabric: what it prints is a function of the fabric.

#include <doctest/doctest.h>

#include <filesystem>
#include <functional>
#include <regex>
#include <string>

#include "tests/support/fabrics.h"
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

PerftestRun run_perftest(const std::string& program, const std::string& options, FabricTime end,
                         const std::function<void(SimFabric&)>& change = {},
                         endpoint::TransportKind transport = endpoint::TransportKind::kMrc) {
  SimFabric::Options fabric;
  if (transport == endpoint::TransportKind::kRoce) {
    fabric.profile = endpoint::make_profile("roce", pair());
  }
  HeldProcesses held(pair(), transport, fabric);
  if (change) change(held.fabric);
  held.add(1, program, program + " " + options);
  held.add(0, program, program + " " + options + " $H1", FabricTime::from_us(100));
  held.run_until(end);
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
            doctest::skip(!has_perftest())) {
    const PerftestRun ran =
        run_perftest("ib_write_lat", "-s 2 -n 100", FabricTime::from_us(20'000'000));
    INFO(ran.client);
    INFO(ran.server);
    CHECK(ran.client_code == 0);
    CHECK(ran.server_code == 0);
    std::smatch row;
    const std::regex figures(R"(\n 2 +100 +([0-9.]+) +([0-9.]+) +([0-9.]+) )");
    REQUIRE(std::regex_search(ran.client, row, figures));
    CHECK(row[1].str() == row[2].str());
    CHECK(row[1].str() == row[3].str());
    CHECK(run_perftest("ib_write_lat", "-s 2 -n 100", FabricTime::from_us(20'000'000)) == ran);
  }

  /// From `at` on no frame comes from h0 or h1, or only the answers of h1 are lost, until `until`.
  void cut(SimFabric & fabric, bool answers_only, FabricTime at, FabricTime until) {
    const Topology& topology = fabric.topology;
    for (const Link& link : topology.links) {
      const bool of_h1 = link.a.node == topology.host(1) || link.b.node == topology.host(1);
      if (!of_h1) continue;
      const bool h1_is_a = link.a.node == topology.host(1);
      const WireId from_h1 = h1_is_a ? link.a_to_b : link.b_to_a;
      const WireId to_h1 = h1_is_a ? link.b_to_a : link.a_to_b;
      for (const bool up : {false, true}) {
        fabric.apply(up ? until : at, WireState{from_h1, up});
        if (!answers_only) fabric.apply(up ? until : at, WireState{to_h1, up});
      }
    }
  }

  constexpr FabricTime kCut = FabricTime::from_us(5'000);

  TEST_CASE("a dead peer is reported after 8 x 4.29 s of fabric time with RC's timers (20, 7)" *
            doctest::skip(!has_perftest())) {
    const PerftestRun ran = run_perftest(
        "ib_write_bw", "-u 20 -D 60", FabricTime::from_us(60'000'000),
        [](SimFabric& fabric) { cut(fabric, false, kCut, FabricTime::from_us(3'600'000'000)); },
        endpoint::TransportKind::kRoce);
    INFO(ran.client);
    CHECK(ran.client_code == 1);
    CHECK(ran.client.find("Failed status 12:") != std::string::npos);
    const FabricTime late = ran.ended.front() - kCut;
    CHECK(late > FabricTime::from_us(34'350'000));
    CHECK(late < FabricTime::from_us(34'370'000));
  }

  TEST_CASE("answers lost for 600 ms end a queue pair of RC, and none of MRC" *
            doctest::skip(!has_perftest())) {
    for (const auto transport : {endpoint::TransportKind::kRoce, endpoint::TransportKind::kMrc}) {
      const PerftestRun ran = run_perftest(
          "ib_write_bw", "-u 12 -n 20000", FabricTime::from_us(3'000'000),
          [](SimFabric& fabric) {
            cut(fabric, true, FabricTime::from_us(2'000), FabricTime::from_us(602'000));
          },
          transport);
      INFO(ran.client);
      const bool rc = transport == endpoint::TransportKind::kRoce;
      CHECK(ran.client_code == (rc ? 1 : 0));
      CHECK((ran.client.find("Failed status 12:") != std::string::npos) == rc);
    }
  }

  TEST_CASE("ib_write_bw ends well" * doctest::skip(!has_perftest())) {
    const PerftestRun ran =
        run_perftest("ib_write_bw", "-n 200 --report_gbits", FabricTime::from_us(20'000'000));
    INFO(ran.client);
    INFO(ran.server);
    CHECK(ran.client_code == 0);
    CHECK(ran.server_code == 0);
  }
}

}  // namespace
}  // namespace mrclab::test
