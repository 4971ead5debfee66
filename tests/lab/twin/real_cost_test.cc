// What faults cost a job at its own size, from two reports by hand.

#include "lab/twin/real_cost.h"

#include <doctest/doctest.h>

#include <sstream>

#include "fabric/text/yaml.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

TwinReport report(std::vector<int64_t> us) {
  TwinReport report;
  report.total.total = 0;
  for (const int64_t each : us) {
    TwinFault fault;
    fault.kind = "link_down";
    fault.cost.marginal = each * 1'000'000;
    *report.total.total += each * 1'000'000;
    report.faults.push_back(fault);
  }
  return report;
}

const RealJob kJob{{1'000'000}, {2'000'000}, 36'000, 2.5};

}  // namespace

TEST_CASE(
    "each fault's delay comes back to the job's size, in GPU-hours and money with their range") {
  const RealCosts costs = real_costs(report({32, 12}), report({34, 12}), kJob);
  CHECK(costs.faults[0].value().real == FabricTime::from_us(2030));
  CHECK(costs.faults[1].value().real == FabricTime::from_us(12));
  CHECK(costs.total.value().real == FabricTime::from_us(2042));
  CHECK(gpu_hours(FabricTime::from_ms(1000), 36'000) == doctest::Approx(10));
  const auto json = to_json(costs);
  const auto& first = json.at("faults").at(0);
  CHECK(first.at("gpu_hours").at(0).get<double>() == doctest::Approx(34e-6 * 10));
  CHECK(first.at("gpu_hours").at(1).get<double>() == doctest::Approx(2030e-6 * 10));
  CHECK(first.at("cost").at(2).get<double>() == doctest::Approx(32e-3 * 10 * 2.5));
  std::istringstream lines(real_text(costs, {}));
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
}

TEST_CASE(
    "what saved time, or is not known, has no size of the job's, and other faults are refused") {
  TwinReport unknown = report({32});
  unknown.faults[0].cost.marginal.reset();
  CHECK_FALSE(real_costs(unknown, report({34}), kJob).faults[0].has_value());
  CHECK_FALSE(real_costs(report({-3}), report({34}), kJob).faults[0].has_value());
  CHECK_THROWS_AS(real_costs(report({32}), report({34, 1}), kJob), InputError);
  TwinReport other = report({34});
  other.faults[0].kind = "drain";
  CHECK_THROWS_AS(real_costs(report({32}), other, kJob), InputError);
  other = report({34});
  other.unit = TwinUnit::kBytes;
  CHECK_THROWS_AS(real_costs(report({32}), other, kJob), InputError);
}
