// What no run could answer is refused when a scenario is read, with its place and what would be right.

#include "scenario/spec/expectation_list.h"

#include <doctest/doctest.h>

#include <string>

#include "scenario/spec/scenario.h"

namespace mrclab::lab {
namespace {

/// The result of reading a scenario with that workload (line 4) and expectation (line 7).
std::string said_of(
    const std::string& expect,
    const std::string& workload = "write: {from: h0, to: h5, size: 1MiB, until: end}") {
  try {
    parse_scenario(read_yaml_text("name: x\nfabric: octet\nworkload:\n  - " + workload +
                                      "\nend: 2ms\nexpect:\n  - " + expect + "\n",
                                  "f.yaml"));
    return "nothing";
  } catch (const InputError& error) {
    return error.what();
  }
}

constexpr const char* kPingsForEver = "ping_pong: {from: h0, to: h5, size: 2B, until: end}";

}  // namespace

TEST_CASE("more intervals than a check looks at are refused, with the least that is right") {
  CHECK(said_of("gap: {every: 1ns, at_most: 20us, of: line_rate}") ==
        "f.yaml:7:18: found \"1ns\": expected at least 1908ps: no more than 1048576 intervals are "
        "looked at, and these are 2000000");
  CHECK(said_of("gap: {every: 1908ps, at_most: 20us, of: line_rate}") == "nothing");
  CHECK(said_of("samples: {from: 0s, every: 1ns, min_over_mean: 90%}").find("f.yaml:7:32: ") == 0);
  CHECK(said_of("samples: {from: 0s, until: 1ms, every: 1ns, min_over_mean: 90%}") == "nothing");
}

TEST_CASE("a gap that cannot be seen is refused") {
  CHECK(said_of("gap: {at_most: 20us, from: 1ms, until: 1015us, of: line_rate}") ==
        "f.yaml:7:20: found \"20us\": expected less than the 15us that are looked at");
  CHECK(said_of("gap: {at_most: 1us, of: line_rate}").find("a quarter of the base RTT") !=
        std::string::npos);
  CHECK(said_of("gap: {at_most: 1us, every: 500ns, of: line_rate}") == "nothing");
}

TEST_CASE("latency is refused of anything but a ping-pong") {
  CHECK(said_of("latency: {source: h0, destination: h5, at_most: 7us}") ==
        "f.yaml:7:5: found latency between hosts that \"write\" joins: expected hosts of a "
        "ping_pong alone; \"message_time\" measures messages of any workload");
  CHECK(said_of("latency: {source: h0, destination: h5, at_most: 7us}", kPingsForEver) ==
        "nothing");
  CHECK(said_of("latency: {source: h5, destination: h0, at_most: 7us}", kPingsForEver) ==
        "nothing");
  CHECK(said_of("latency: {source: h0, destination: h4, at_most: 7us}", kPingsForEver)
            .find("found no workload from h0 to h4") != std::string::npos);
  const std::string both =
      std::string(kPingsForEver) + "\n  - write: {from: h5, to: h0, size: 1MiB, until: end}";
  CHECK(said_of("latency: {source: h0, destination: h5, at_most: 7us}", both) == "nothing");
  const std::string mixed =
      std::string(kPingsForEver) + "\n  - all_reduce: {hosts: all, size: 1MiB, until: end}";
  CHECK(said_of("latency: {source: \"h[0-4]\", destination: h5, at_most: 7us}", mixed)
            .find("that \"all_reduce\" joins") != std::string::npos);
}

TEST_CASE("messages are chosen by sizes that some can have") {
  CHECK(said_of("message_time: {at_most: 7us, min_size: 2KiB, max_size: 1KiB}") ==
        "f.yaml:7:60: found \"1KiB\": expected at least \"min_size\"");
  CHECK(said_of("message_time: {by: p90, at_most: 7us}").find("expected") != std::string::npos);
  CHECK(said_of("message_time: {by: p99, at_most: 7us, min_size: 1KiB, host: h0}") == "nothing");
}

}  // namespace mrclab::lab
