#pragma once
// Expectations of services (`serve:`), whose requests the ranks' own times show (analysis/measure/serve_result.h). Each is
// about the service of that name, or about every one. What has not come by the run's end counts with the time so far, and makes
// the check inconclusive where it could still miss the bound.

#include <array>

#include "analysis/expect/expect_times.h"
#include "analysis/expect/expectation_parts.h"

namespace mrclab::analysis {

/// All of a time, or what of it the fabric took.
enum class ServePart : uint8_t { kWhole, kFabric };

/// Which time of a request. `kFirstToken`: from its arrival to the first token that decode makes for it; of it the fabric took the
/// cache's way behind the end of the prompt and the exchanges of the iteration that made the token. `kTokenBehind`: the mean time
/// of its tokens behind the first, for requests with two tokens at least; of it the fabric took what their iterations did not
/// compute.
enum class RequestTime : uint8_t { kFirstToken, kTokenBehind };
inline constexpr std::array kRequestTimeWords{
    ExpectationWord{"ttft", Measure::kTime, "\"ttft: {by: p99, at_most: 2ms}\""},
    ExpectationWord{"tpot", Measure::kTime, "\"tpot: {by: p99, at_most: 40us}\""}};

/// Bounds of that time, of the slowest request or of a share of them.
template <RequestTime kOf>
struct ExpectRequestTime {
  static constexpr ExpectationWord kWord = kRequestTimeWords[static_cast<size_t>(kOf)];
  static constexpr bool kBounded = true;
  FabricTime at_least = {};                  ///< zero: no such bound
  FabricTime at_most = FabricTime::never();  ///< at least one of the two
  MessageTimeMeasure by = MessageTimeMeasure::kMax;
  ServePart part = ServePart::kWhole;
  std::string job = {};
  bool operator==(const ExpectRequestTime&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("at_least", e.at_least, Need::kOptionalPositive);
    visit("at_most", e.at_most, Need::kOptionalPositive);
    visit("by", e.by, Need::kOptional);
    visit("part", e.part, Need::kOptional);
    visit("job", e.job, Need::kOptional);
  }
};
using ExpectTtft = ExpectRequestTime<RequestTime::kFirstToken>;
using ExpectTpot = ExpectRequestTime<RequestTime::kTokenBehind>;
const Rules<ExpectTtft>& rules_of(const ExpectTtft&);
const Rules<ExpectTpot>& rules_of(const ExpectTpot&);

/// The share of requests that the service answers within both of its objectives, of ttft and of tpot (DistServe, OSDI 24).
struct ExpectSlo {
  static constexpr ExpectationWord kWord{"slo", Measure::kShare, "\"slo: {at_least: 99%}\""};
  static constexpr bool kBounded = true;
  Probability at_least = {};
  Probability at_most{Probability::kOne};
  std::string job = {};
  bool operator==(const ExpectSlo&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("at_least", e.at_least, Need::kOptionalPositive);
    visit("at_most", e.at_most, Need::kOptional);
    visit("job", e.job, Need::kOptional);
  }
};
const Rules<ExpectSlo>& rules_of(const ExpectSlo&);

}  // namespace mrclab::analysis
