#include "fabric/node/fec_code.h"

#include <doctest/doctest.h>

#include <cmath>

#include "fabric/base/random.h"

using namespace mrclab;

namespace {

WireCodewords errors_of(FecCode code, double rate, double propagation = 0) {
  return {WireId{3},
          code,
          {static_cast<uint64_t>(rate * double(BitErrorRate::kOne))},
          {static_cast<uint32_t>(propagation * Probability::kOne)},
          7};
}

double share(const WireCodewords& errors) { return std::ldexp(double(codeword_loss(errors)), -63); }

/// Sum over i > t of C(n, i) s^i (1 - s)^(n - i) with s = 1 - (1 - p)^10.
double binomial_tail(uint32_t n, uint32_t t, double p) {
  const double s = -std::expm1(10 * std::log1p(-p));
  double sum = 0;
  for (uint32_t i = t + 1; i <= n; ++i) {
    sum += std::exp(std::lgamma(n + 1.0) - std::lgamma(i + 1.0) - std::lgamma(n - i + 1.0) +
                    i * std::log(s) + (n - i) * std::log1p(-s));
  }
  return sum;
}

}  // namespace

TEST_CASE(
    "codewords with more wrong symbols than can be corrected: the binomial tail, and its edge") {
  for (const double rate : {2.4e-4, 5e-4, 8e-4, 1e-3, 2e-3, 4e-3, 1e-2}) {
    for (const auto& [code, n, t] :
         {std::tuple{FecCode::kKp4, 544u, 15u}, std::tuple{FecCode::kKr4, 528u, 7u},
          std::tuple{FecCode::kLl, 272u, 7u}}) {
      CAPTURE(rate);
      const double expected = binomial_tail(n, t, rate);
      CHECK(std::abs(share(errors_of(code, rate)) - expected) < 1e-14 + expected * 1e-6);
    }
  }
  CHECK(share(errors_of(FecCode::kKp4, 5e-4)) < 1e-7);  // nothing below the edge,
  CHECK(share(errors_of(FecCode::kKp4, 4e-3)) > 0.8);   // nearly all eight times above
  CHECK(codeword_loss(errors_of(FecCode::kNone, 1e-2)) == 0);
}

TEST_CASE("at 2.4e-4 frames of 64 octets meet the frame loss ratio of IEEE 802.3 124.1.1") {
  // With the least gap 640 / 84 frames begin in a codeword, and one more reaches into it.
  const double frames = 640.0 / 84;
  const double ratio = share(errors_of(FecCode::kKp4, 2.4e-4)) * (1 + frames) / frames;
  CHECK(ratio < 1.7e-12);
  CHECK(ratio > 0.5e-12);  // and no better than the standard needs
}

TEST_CASE("errors that follow one another are as many, and make a slope of the edge") {
  // The chain of the line, symbol by symbol, against the recursion.
  for (const double passed_on : {0.5, 0.75}) {
    const double rate = 4e-3;
    const WireCodewords errors = errors_of(FecCode::kKp4, rate, passed_on);
    const double mean = 1 - (1 - rate) * (1 - rate);
    const auto below_it = [&](double p) { return static_cast<uint64_t>(std::ldexp(p, 63)); };
    const uint64_t fresh = below_it((1 - passed_on) * mean);
    const uint64_t after_error = below_it(passed_on + (1 - passed_on) * mean);
    uint64_t counter = 0, lost = 0, wrong = 0;
    constexpr uint64_t kCodewords = 6'000;
    bool last = false;
    for (uint64_t n = 0; n < kCodewords; ++n) {
      uint32_t bad = 0;
      for (uint32_t symbol = 0; symbol < 544; ++symbol) {
        bool any = false;
        for (int i = 0; i < 5; ++i) {
          last = mix64(++counter) >> 1 < (last ? after_error : fresh);
          any = any || last;
          wrong += last;
        }
        bad += any;
      }
      lost += bad > 15;
    }
    const double expected = share(errors), seen = double(lost) / kCodewords;
    CAPTURE(expected);
    CHECK(std::abs(seen - expected) < 4 * std::sqrt(expected / kCodewords) + 1e-4);
    CHECK(std::abs(double(wrong) / double(counter) - mean) < 0.05 * mean);
    // Fewer symbols are wrong, as a burst has one or two of them; but a few bursts are enough.
    CHECK(expected < share(errors_of(FecCode::kKp4, rate)) / 2);
    CHECK(share(errors_of(FecCode::kKp4, 2.4e-4, passed_on)) >
          50 * share(errors_of(FecCode::kKp4, 2.4e-4)));
  }
}

TEST_CASE("codewords of a wire follow one another without a gap, at any rate") {
  for (const uint64_t bps : {25'000'000'000ull, 53'125'000'000ull, 800'000'000'000ull}) {
    const CodewordClock clock(BitRate{bps}, FecCode::kKp4);
    for (const uint64_t number : {0ull, 1ull, 7ull, 1'000'003ull, 20'000'000'000ull}) {
      const FabricTime start = clock.start_of(number);
      CHECK(clock.number_at(start) == number);
      if (number > 0) CHECK(clock.number_at(start - FabricTime::from_ps(1)) == number - 1);
    }
  }
  CHECK(CodewordClock(BitRate::from_gbps(100), FecCode::kKp4).start_of(1) ==
        FabricTime::from_ps(51'200));  // 640 bytes
}

TEST_CASE("draws lose the share of codewords that they should, by seed and wire") {
  WireCodewords errors = errors_of(FecCode::kKp4, 2e-3);
  const uint64_t loss = codeword_loss(errors);
  uint64_t lost = 0, also = 0;
  constexpr uint64_t kCodewords = 100'000;
  WireCodewords other = errors;
  other.wire = WireId{4};
  for (uint64_t n = 0; n < kCodewords; ++n) {
    lost += codeword_is_lost(errors, loss, n);
    also += codeword_is_lost(errors, loss, n) && codeword_is_lost(other, loss, n);
  }
  const double p = share(errors);
  CHECK(std::abs(double(lost) / kCodewords - p) < 5 * std::sqrt(p / kCodewords));
  CHECK(std::abs(double(also) / kCodewords - p * p) < 5 * std::sqrt(p * p / kCodewords));
}
