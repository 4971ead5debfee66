#include "netio/system/parallel.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "netio/system/descriptor_room.h"
#include "netio/system/thread_crew.h"

using mrclab::netio::in_parallel;
using mrclab::netio::ThreadCrew;

namespace {

/// How many descriptors the kernel's table for this process has room for.
size_t table_size() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("FDSize:")) return std::stoul(line.substr(line.find_last_of(" \t") + 1));
  }
  return 0;
}

size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

TEST_SUITE("parallel") {
  TEST_CASE("the table of descriptors has room for those to come, and nothing stays open") {
    const size_t room = table_size(), open = open_descriptors();
    mrclab::netio::make_room_for_descriptors(room);  // descriptors 0 to `room`
    CHECK(table_size() > room);
    CHECK(open_descriptors() == open);
  }

  TEST_CASE("every index is worked on once, with more threads than work and with fewer") {
    for (const size_t threads : {1u, 4u, 200u}) {
      std::array<std::atomic<int>, 100> calls{};
      in_parallel(calls.size(), threads, [&](size_t i) { ++calls[i]; });
      for (const auto& count : calls) CHECK(count == 1);
    }
    in_parallel(0, 4, [](size_t) { FAIL("there is nothing to do"); });
  }

  TEST_CASE("what one call throws comes out when all threads have ended") {
    std::atomic<int> calls{0};
    const auto failing = [&](size_t i) {
      ++calls;
      if (i == 3) throw std::runtime_error("the fourth");
    };
    CHECK_THROWS_WITH_AS(in_parallel(1000, 4, failing), "the fourth", std::runtime_error);
    CHECK(calls >= 4);
  }

  TEST_CASE(
      "a crew does many rounds, also rounds within a round, and goes on after one that failed") {
    for (const size_t threads : {1u, 2u, 5u}) {
      ThreadCrew crew(threads);
      for (size_t round = 0; round < 300; ++round) {
        std::array<std::atomic<int>, 9> calls{};
        crew.run(3, [&](size_t i) { crew.run(3, [&](size_t j) { ++calls[3 * i + j]; }); });
        for (const auto& count : calls) CHECK(count == 1);
      }
      const auto failing = [](size_t i) {
        if (i == 1) throw std::runtime_error("the second");
      };
      CHECK_THROWS_WITH_AS(crew.run(5, failing), "the second", std::runtime_error);
      std::atomic<int> calls{0};
      crew.run(5, [&](size_t) { ++calls; });
      CHECK(calls == 5);
      crew.run(0, [](size_t) { FAIL("there is nothing to do"); });
    }
  }
}
