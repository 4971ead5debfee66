// Writes at a rate: even or as a Poisson process; writes of several hosts.

#include <doctest/doctest.h>

#include <cmath>

#include "endpoint/workload/stream.h"
#include "endpoint/workload/workload_entry.h"
#include "fabric/base/exponential_time.h"
#include "tests/support/errors.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::endpoint;

namespace {

std::vector<WorkloadSpec> read(const Topology& topology, const std::string& body) {
  NameResolver names(topology, 1);
  return parse_workloads(read_yaml_text("- write: " + body + "\n", "f"), names);
}

}  // namespace

TEST_CASE("a message takes its bytes at the rate, rounded up") {
  CHECK(message_interval(Bytes{1'000'000}, BitRate::from_gbps(8)) == FabricTime::from_ms(1));
  CHECK(message_interval(Bytes{1}, BitRate{3}) == FabricTime::from_ps(2'666'666'666'667));
}

TEST_CASE("Poisson arrivals have the mean, the spread and the tail of an exponential time") {
  constexpr int kDraws = 200'000;
  const FabricTime mean = FabricTime::from_us(10);
  double sum = 0, squares = 0;
  int over_mean = 0, over_five = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x =
        static_cast<double>(exponential_time(mean, 7, static_cast<uint64_t>(i)).ps()) / 1e7;
    sum += x;
    squares += x * x;
    over_mean += x > 1 ? 1 : 0;
    over_five += x > 5 ? 1 : 0;
  }
  const double average = sum / kDraws;
  CHECK(std::abs(average - 1) < 0.01);
  CHECK(std::abs(squares / kDraws - average * average - 1) < 0.03);
  CHECK(std::abs(over_mean / double{kDraws} - std::exp(-1)) < 0.005);
  CHECK(std::abs(over_five / double{kDraws} - std::exp(-5)) < 0.0006);
  CHECK(exponential_time(mean, 7, 3) == exponential_time(mean, 7, 3));
  CHECK(exponential_time(mean, 7, 3) != exponential_time(mean, 8, 3));
}

TEST_CASE("a write of several hosts is one for each pair, and reads back as these") {
  const Topology t = test::octet();
  const auto specs = read(
      t,
      "{from: \"h[0-1]\", to: [h1, h5], size: 1KiB, rate: 2Gb/s, arrivals: poisson, until: end}");
  REQUIRE(specs.size() == 3);  // h0 to h1 and h5, h1 to h5
  const auto& last = std::get<WriteSpec>(specs[2]);
  CHECK(last.from == 1);
  CHECK(last.to == 5);
  CHECK(last.rate == BitRate::from_gbps(2));
  std::string list;
  for (const WorkloadSpec& spec : specs) list += "- " + to_yaml(spec) + "\n";
  NameResolver names(t, 1);
  CHECK(parse_workloads(read_yaml_text(list, "again"), names) == specs);
  CHECK(describe(specs[0]) ==
        "write of 1KiB from h0 to h1 at 2Gb/s, Poisson arrivals, until the end");
}

TEST_CASE("what no write can be is refused where it stands") {
  const Topology t = test::octet();
  const auto error = [&](const std::string& body) {
    return test::error_of([&] { read(t, body); });
  };
  CHECK(error("{from: h0, to: h0, size: 1B}") ==
        "f:1:25: found \"h0\": expected a host other than the sender");
  CHECK(error("{from: h0, to: h1, size: 1B, arrivals: poisson}") ==
        "f:1:49: found arrivals without a rate: expected \"rate: 20Gb/s\" beside it");
  CHECK(error("{from: h0, to: h1, size: 1B, rate: 0Gb/s}").find("rate") != std::string::npos);
}
