// A program that waits for its device's asynchronous events, held at fabric time: it has each at the instant of the fault
// that it is of, and by which entry of the table of GIDs it can connect afterwards.

#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>
#include <string>

#include "tests/support/fabrics.h"
#include "tests/support/times.h"
#include "tests/verbs/held_processes.h"

namespace mrclab::test {
namespace {

const std::string kEvents = std::string(MRCLAB_BINARY_DIR) + "/tests/verbs/programs/verbs_events";

bool has_events() {
  return std::filesystem::exists(kEvents) &&
         std::filesystem::exists(std::string(MRCLAB_BINARY_DIR) + "/rdma/libibverbs.so.1") &&
         ::geteuid() == 0;
}

/// What the program prints while both ports of its NIC are dark from 100 us to 400 us.
std::string printed(endpoint::TransportKind transport, bool moves) {
  SimFabric::Options options;
  options.profile =
      endpoint::make_profile(transport == endpoint::TransportKind::kRoce ? "roce" : "lab", pair());
  options.profile->gid_moves = moves;
  HeldProcesses held(pair(), transport, options);
  held.add(1, "verbs_events", kEvents + (moves ? " 3" : " 2"));
  for (const char* port : {"h1:p0", "h1:p1"}) {
    held.fabric.set_link(us(100), held.fabric.link_of(port), false);
    held.fabric.set_link(us(400), held.fabric.link_of(port), true);
  }
  held.run_until(us(1'000));
  CHECK(held.hosts.reports().at(0).not_held == "");
  CHECK(held.status(0).code == 0);
  return held.output(0);
}

TEST_SUITE("root: events held") {
  TEST_CASE(
      "a program has PORT_ERR, PORT_ACTIVE and GID_CHANGE when they happen; a stale entry is "
      "no way to RTR" *
      doctest::skip(!has_events())) {
    for (const auto transport : {endpoint::TransportKind::kMrc, endpoint::TransportKind::kRoce}) {
      const std::string text = printed(transport, true);
      INFO(text);
      CHECK(printed(transport, true) == text);
      std::istringstream lines(text);
      std::string what;
      double at = 0;
      for (const auto& [name, from] : {std::pair{" port error", 100.0},
                                       {" port active", 400.0},
                                       {" GID table change", 400.0}}) {
        REQUIRE((lines >> at && std::getline(lines, what)));
        CHECK(what == name);
        CHECK(at >= from);
        CHECK(at < from + 10);  // what its calls take
      }
      for (int entry = 0; entry < 8; ++entry) {
        REQUIRE(std::getline(lines, what));
        CHECK(what == "entry " + std::to_string(entry) + ": errno " +
                          std::to_string(entry < 4 ? ENODATA : 0));
      }
      const std::string kept = printed(transport, false);
      INFO(kept);
      CHECK(kept.find("GID") == std::string::npos);
      CHECK(kept.find("entry 3: errno 0\nentry 4: errno " + std::to_string(ENODATA)) !=
            std::string::npos);
    }
  }
}

}  // namespace
}  // namespace mrclab::test
