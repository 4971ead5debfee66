// How many probes a decision takes, against arithmetic by hand.

#include "analysis/mapper/probe_statistics.h"

#include <doctest/doctest.h>

#include <initializer_list>

using namespace mrclab::analysis;

TEST_CASE("probes until a loss is found or ruled out, by Wald's test with errors of 1e-6") {
  struct Row {
    double loss, accuse_at_1e6, accuse_at_1e5, accuse_at_1e4, acquit;
  };
  for (const Row& row : {Row{0.001, 2338, 3821, 9847, 13'919}, Row{0.01, 168, 234, 382, 1376},
                         Row{0.05, 28, 37, 53, 269}, Row{0.2, 6, 8, 10, 62}}) {
    CAPTURE(row.loss);
    CHECK(probes_to_accuse(row.loss, 1e-6, 1e-6) ==
          doctest::Approx(row.accuse_at_1e6).epsilon(0.06));
    CHECK(probes_to_accuse(row.loss, 1e-5, 1e-6) ==
          doctest::Approx(row.accuse_at_1e5).epsilon(0.06));
    CHECK(probes_to_accuse(row.loss, 1e-4, 1e-6) ==
          doctest::Approx(row.accuse_at_1e4).epsilon(0.06));
    CHECK(probes_to_acquit(row.loss, 1e-6, 1e-6) == doctest::Approx(row.acquit).epsilon(0.02));
  }
}

TEST_CASE("probes from onset to alarm at 36.2 nats") {
  CHECK(probes_to_alarm(0.001, 1e-6, 36.2) == doctest::Approx(6131).epsilon(0.01));
  CHECK(probes_to_alarm(0.01, 1e-6, 36.2) == doctest::Approx(441).epsilon(0.01));
  CHECK(probes_to_alarm(0.05, 1e-6, 36.2) == doctest::Approx(74).epsilon(0.02));
  CHECK(probes_to_alarm(0.2, 1e-6, 36.2) == doctest::Approx(16).epsilon(0.06));
}

TEST_CASE("Wilson's interval") {
  const auto check = [](uint64_t count, uint64_t of, double low, double high) {
    const Interval95 interval = wilson(count, of);
    CHECK(interval.low == doctest::Approx(low).epsilon(0.02));
    CHECK(interval.high == doctest::Approx(high).epsilon(0.02));
  };
  check(0, 1000, 0, 0.0038);
  check(5, 1000, 0.0021, 0.0117);
  check(50, 1000, 0.038, 0.065);
  check(5, 25, 0.089, 0.39);
  CHECK(wilson(0, 0).low == 0);
  CHECK(wilson(0, 0).high == 1);
}
