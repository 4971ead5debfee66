#pragma once
// Expectations as values: what a scenario file's `expect:` list says must hold.
//
//   expect:
//     - no_qp_error
//     - memory_intact
//     - healed
//     - goodput: {from: 600us, at_least: 95%, of: baseline}
//     - detect: {within: 6rtt}
//     - recover: {within: 100rtt, to: 95%}
//     - leave: {within: 5rtt}
//     - qp_error: {reason: "Retry Counter Exceeded"}

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fabric/units.h"
#include "fabric/yaml.h"

namespace mrclab::analysis {

inline constexpr size_t kMaxExpectations = 256;

/// No QP has gone to the error state.
struct ExpectNoQpError {
  bool operator==(const ExpectNoQpError&) const = default;
};

/// Every byte that a completed write covers is where it belongs, and nothing else was touched.
struct ExpectMemoryIntact {
  bool operator==(const ExpectMemoryIntact&) const = default;
};

/// At the end every fault that heals is undone.
struct ExpectHealed {
  bool operator==(const ExpectHealed&) const = default;
};

enum class GoodputReference : uint8_t {
  kBaseline,  ///< the last 20 RTT before the first fault
  kLineRate,  ///< the sum of the hosts' port rates
};

/// Mean goodput of the whole job in [from, until) against a reference.
struct ExpectGoodput {
  FabricTime from;
  FabricTime until = FabricTime::never();  ///< never: to the end of the run
  Probability at_least;
  GoodputReference of = GoodputReference::kBaseline;
  bool operator==(const ExpectGoodput&) const = default;
};

/// From the start of each fault to the last first-transmission by an affected sender on an affected
/// path.
struct ExpectDetect {
  FabricTime within;
  bool operator==(const ExpectDetect&) const = default;
};

/// From the start of each fault to the first sliding 20-RTT window whose goodput reaches `to` of
/// the baseline.
struct ExpectRecover {
  FabricTime within;
  Probability to{950'000'000};
  bool operator==(const ExpectRecover&) const = default;
};

/// From the start of each fault to when every affected sender has first left the affected path: its
/// last first-transmission there before it stays away for kAwayRtts. Unlike `detect` it does not
/// mind that a path that still delivers something is tried again later.
struct ExpectLeave {
  FabricTime within;
  bool operator==(const ExpectLeave&) const = default;
};

/// At least one QP has gone to the error state, and every one that did for this reason.
struct ExpectQpError {
  std::string reason;
  bool operator==(const ExpectQpError&) const = default;
};

using Expectation = std::variant<ExpectNoQpError, ExpectMemoryIntact, ExpectHealed, ExpectGoodput,
                                 ExpectDetect, ExpectRecover, ExpectLeave, ExpectQpError>;

/// "no_qp_error", "goodput", ...: the word in the file and in verdict.json.
std::string_view name_of(const Expectation& expectation);
/// One line for a report: "goodput >= 95% of baseline from 600us".
std::string describe(const Expectation& expectation);

/// Reads an `expect:` list; durations in rtt use the list's context. Throws InputError with the
/// position.
std::vector<Expectation> parse_expectations(const YamlValue& list);

/// The entry as it would stand in a file, durations in exact units.
std::string to_yaml(const Expectation& expectation);

}  // namespace mrclab::analysis
