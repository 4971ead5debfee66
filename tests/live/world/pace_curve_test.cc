#include "live/world/pace_curve.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace mrclab;
using lab::PaceCurve;

TEST_CASE("a pace curve stays bounded, and what was worst stays in it with its process") {
  PaceCurve curve;
  for (int64_t i = 1; i <= 10'000; ++i) {
    curve.note_slack(static_cast<uint32_t>(i % 7), i == 1234 ? -5'000'000 : 1'000'000 + i);
    curve.close(FabricTime::from_ns(i * 100), i * 500'000);
  }
  CHECK(curve.points().size() < PaceCurve::kMaxPoints);
  CHECK(curve.points().size() >= PaceCurve::kMaxPoints / 2);
  const auto worst =
      std::min_element(curve.points().begin(), curve.points().end(),
                       [](const auto& a, const auto& b) { return a.slack_ns < b.slack_ns; });
  CHECK(worst->slack_ns == -5'000'000);
  CHECK(worst->slack_of == 1234 % 7);
  for (size_t i = 1; i < curve.points().size(); ++i) {
    CHECK(curve.points()[i].fabric > curve.points()[i - 1].fabric);
    CHECK(curve.points()[i].dilation == doctest::Approx(5'000));
  }
}

TEST_CASE("a pace curve tells what was achieved, and where no process moved on") {
  PaceCurve curve;
  curve.close(FabricTime::from_us(2), 10'000'000);
  curve.close(FabricTime::from_us(7), 20'000'000);
  curve.close(FabricTime::from_us(7), 30'000'000);
  REQUIRE(curve.points().size() == 3);
  CHECK(curve.points()[0].dilation == 5'000);
  CHECK(curve.points()[1].dilation == 2'000);
  CHECK(curve.points()[2].dilation == 0);
}
