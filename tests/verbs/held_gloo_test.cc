// A collective of somebody else's in fabric time: gloo's ring all-reduce, Debian's library unchanged, with a thread for
// each device beside that of the ring. What each rank prints, and every packet, is a function of the fabric.

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/fabrics.h"
#include "tests/verbs/held_processes.h"

namespace mrclab::test {
namespace {

const std::string kRing = std::string(MRCLAB_BINARY_DIR) + "/tests/verbs/programs/gloo_ring";

bool has_gloo() {
  return std::filesystem::exists(kRing) &&
         std::filesystem::exists(std::string(MRCLAB_BINARY_DIR) + "/rdma/libibverbs.so.1") &&
         ::geteuid() == 0;
}

struct Ranks {
  std::vector<std::string> outputs;
  std::vector<int> codes;
  std::vector<FabricTime> ended;
  uint64_t history = 0;
  bool operator==(const Ranks&) const = default;
};

Ranks run(uint32_t ranks, endpoint::TransportKind transport, const std::string& tick_us) {
  SimFabric::Options fabric;
  if (transport == endpoint::TransportKind::kRoce)
    fabric.profile = endpoint::make_profile("roce", octet());
  HeldProcesses held(octet(), transport, fabric);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    held.add(rank, "gloo_ring",
             "MRCLAB_VERBS_SEND=emulated MRCLAB_HELD_TICK_US=" + tick_us + " " + kRing + " " +
                 std::to_string(rank) + " " + std::to_string(ranks) +
                 " $H0 --count 20000 --rounds 3 2>&1",
             FabricTime::from_us(10 * rank));
  }
  held.run_until(FabricTime::from_us(5'000'000));
  Ranks ran;
  for (const verbs::HeldReport& report : held.hosts.reports()) {
    INFO(report.program, " ", report.number);
    CHECK(report.not_held == "");
    ran.ended.push_back(report.ended);
  }
  for (uint32_t rank = 0; rank < ranks; ++rank) ran.codes.push_back(held.status(rank).code);
  for (uint32_t rank = 0; rank < ranks; ++rank) ran.outputs.push_back(held.output(rank));
  ran.history = held.fabric.hash();
  return ran;
}

TEST_SUITE("root: gloo held") {
  TEST_CASE("threads of gloo's ranks are held: two runs are equal, and every sum is right" *
            doctest::skip(!has_gloo())) {
    for (const auto transport : {endpoint::TransportKind::kMrc, endpoint::TransportKind::kRoce}) {
      const Ranks ran = run(4, transport, "00200");
      for (uint32_t rank = 0; rank < 4; ++rank) {
        INFO(ran.outputs[rank]);
        CHECK(ran.codes[rank] == 0);
        CHECK(ran.outputs[rank].find("3 rounds of 20000 floats, 0 wrong") != std::string::npos);
      }
      CHECK(run(4, transport, "00050") == ran);
    }
  }
}

}  // namespace
}  // namespace mrclab::test
