// From two runs that are scaled down back to the size of the job.

#include "lab/twin/real_size.h"

#include <doctest/doctest.h>

#include "fabric/text/yaml.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

ScaledDelay run(uint32_t ppb, int64_t us) { return {{ppb}, FabricTime::from_us(us)}; }
constexpr uint32_t kThousandth = Probability::kOne / 1000;

}  // namespace

TEST_CASE("a delay of a reaction and of a share of the work comes back to the job's size") {
  // 30 us to react, and 2 ms at full size.
  const RealDelay real = real_delay(run(kThousandth, 32), run(2 * kThousandth, 34));
  CHECK(real.fits);
  CHECK(real.reaction == FabricTime::from_us(30));
  CHECK(real.work == FabricTime::from_ms(2));
  CHECK(real.real == FabricTime::from_us(2030));
  CHECK(real.least == FabricTime::from_us(34));
  CHECK(real.most == FabricTime::from_ms(32));
  const RealDelay turned = real_delay(run(2 * kThousandth, 34), run(kThousandth, 32));
  CHECK(turned.real == real.real);
}

TEST_CASE("a delay that is the same at both sizes is all reaction, one that doubles is all work") {
  const RealDelay same = real_delay(run(kThousandth, 12), run(2 * kThousandth, 12));
  CHECK(same.fits);
  CHECK(same.reaction == FabricTime::from_us(12));
  CHECK(same.real == FabricTime::from_us(12));
  const RealDelay work = real_delay(run(kThousandth, 12), run(2 * kThousandth, 24));
  CHECK(work.fits);
  CHECK(work.reaction == FabricTime::zero());
  CHECK(work.real == FabricTime::from_ms(12));
  CHECK(work.most == work.real);
}

TEST_CASE("delays that no two parts explain are marked, and taken as one part") {
  const RealDelay shrinks = real_delay(run(kThousandth, 14), run(2 * kThousandth, 12));
  CHECK_FALSE(shrinks.fits);
  CHECK(shrinks.work == FabricTime::zero());
  CHECK(shrinks.real == FabricTime::from_us(14));
  const RealDelay races = real_delay(run(kThousandth, 10), run(2 * kThousandth, 30));
  CHECK_FALSE(races.fits);
  CHECK(races.reaction == FabricTime::zero());
  CHECK(races.real == FabricTime::from_ms(15));
  CHECK(races.least <= races.real);
}

TEST_CASE("equal factors, and factors outside of the job's size, are refused") {
  CHECK_THROWS_AS(real_delay(run(kThousandth, 1), run(kThousandth, 1)), InputError);
  CHECK_THROWS_AS(real_delay(run(0, 1), run(kThousandth, 1)), InputError);
  CHECK_THROWS_AS(real_delay(run(2'000'000'000, 1), run(kThousandth, 1)), InputError);
  CHECK_THROWS_AS(real_delay(run(kThousandth, -1), run(2 * kThousandth, 1)), InputError);
}
