#pragma once
// Expectations as values: what a scenario file's `expect:` list requires. What each of them
// means exactly stands at its struct, in its family's header:
//
//   expect_reports, expect_goodput, expect_times, expect_losses, expect_paths, expect_recovery,
//   expect_safety, expect_liveness, expect_pauses, expect_mapper, expect_senders, expect_orchestrator, expect_jobs,
//   expect_serve
//
//   expect:
//     - safety                       # placed_once, no_silent_loss, in_order, accounted,
//                                    # no_qp_error_while_a_path_lives
//     - liveness: {within: 100rtt}   # healed, goodput_back, evs_good, queues_empty
//     - steady
//     - no_qp_error
//     - memory_intact
//     - goodput: {from: 600us, at_least: 95%, of: baseline}
//     - goodput: {from: 600us, host: h3, at_least: 83%, at_most: 90%, of: line_rate}
//     - gap: {at_most: 20rtt, below: 10%}
//     - samples: {from: 300us, every: 20us, min_over_mean: 92%}
//     - latency: {source: h0, destination: h4, at_most: 7us}
//     - message_time: {by: p99, at_most: 20us, min_size: 64KiB}
//     - fairness: {destination: h0, from: 100us, at_least: 95%}
//     - losses_per_qp: {at_most: 5}
//     - losses: {at_most: 40, from: 300us}
//     - trims: {at_most: 0, plane: 3}
//     - retransmissions: {at_least: 1, at_most: 40}
//     - share: {path: "p0/*", from: 600us, at_least: 11%, at_most: 14%}
//     - port_share: {port: "p0.t0-0:u0", among: "p0.t0-0:u*", at_least: 20%, at_most: 23%}
//     - path_unused: {path: "p0/u1", from: 320us, until: 400us}
//     - counter: {name: duplicate_deliveries, at_most: 0}
//     - affected_qps: {at_least: 15%, at_most: 35%}
//     - completion_time: {from: 300us, slower_by: 1%}
//     - detect: {within: 6rtt}
//     - recover: {within: 100rtt, to: 95%}
//     - leave: {within: 5rtt}
//     - qp_error: {reason: "Retry Counter Exceeded"}
//     - lossless                     # RoCE's data: no queue drops any
//     - pause: {port: "p0.t0-*:u*", at_most: 5%, from: 300us}
//     - deadlock_free: {longer_than: 32rtt}
//     - mapper_names: {part: "link p0.t0-0:u1--p0.t1-1:d0", within: 60rtt}
//     - isolated                     # no packet reached another tenant; or of {tenants: [a, b]}
//     - dropped_for: {reason: not_authorised, host: h3, at_least: 1}
//     - datagrams: {to: h0, at_most: 0}
//     - denied: {part: "switch p0.t1-2", within: 60rtt}
//     - allowed_again: {part: "switch p0.t1-2", within: 200rtt}
//     - step_time: {at_most: 105%, of: roofline, from_step: 3}
//     - exposed: {at_most: 10%, group: dp}
//     - straggler: {at_most: 5%}
//     - steps_done: 20
//     - job_alive
//     - job_dies: {by: "Retry Counter Exceeded", within: 31s}
//
// An entry may carry the published figure: {goodput: {...}, published: 87.2%, figure: "..."}.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "analysis/expect/expect_goodput.h"
#include "analysis/expect/expect_jobs.h"
#include "analysis/expect/expect_liveness.h"
#include "analysis/expect/expect_losses.h"
#include "analysis/expect/expect_mapper.h"
#include "analysis/expect/expect_orchestrator.h"
#include "analysis/expect/expect_paths.h"
#include "analysis/expect/expect_pauses.h"
#include "analysis/expect/expect_recovery.h"
#include "analysis/expect/expect_reports.h"
#include "analysis/expect/expect_safety.h"
#include "analysis/expect/expect_senders.h"
#include "analysis/expect/expect_serve.h"
#include "analysis/expect/expect_times.h"
#include "analysis/expect/published.h"
#include "fabric/text/yaml.h"

namespace mrclab::analysis {

inline constexpr size_t kMaxExpectations = 256;

/// The table of all expectations, in the order in which a message lists their words.
using ExpectationKind =
    std::variant<ExpectNoQpError, ExpectMemoryIntact, ExpectHealed, ExpectGoodput, ExpectDetect,
                 ExpectRecover, ExpectLeave, ExpectQpError, ExpectGap, ExpectSamples, ExpectLatency,
                 ExpectFairness, ExpectLossesPerQp, ExpectAffectedQps, ExpectCompletionTime,
                 ExpectSteady, ExpectSafety, ExpectPlacedOnce, ExpectNoSilentLoss, ExpectInOrder,
                 ExpectNoQpErrorWhileAPathLives, ExpectAccounted, ExpectLiveness, ExpectGoodputBack,
                 ExpectEvsGood, ExpectQueuesEmpty, ExpectLosses, ExpectTrims, ExpectRetransmissions,
                 ExpectShare, ExpectPortShare, ExpectPathUnused, ExpectCounter, ExpectLossless,
                 ExpectPause, ExpectDeadlockFree, ExpectMessageTime, ExpectMapperNames,
                 ExpectIsolated, ExpectDroppedFor, ExpectDatagrams, ExpectOrchestratorNames,
                 ExpectDenied, ExpectAllowedAgain, ExpectStepTime, ExpectExposed, ExpectStraggler,
                 ExpectStepsDone, ExpectJobAlive, ExpectJobDies, ExpectJobGoesOn,
                 ExpectInterference, ExpectTtft, ExpectTpot, ExpectSlo>;

template <class... E>
constexpr std::array<ExpectationWord, sizeof...(E)> words_of(
    std::type_identity<std::variant<E...>>) {
  return {E::kWord...};
}
/// In the order of ExpectationKind's alternatives.
inline constexpr auto kExpectationWords = words_of(std::type_identity<ExpectationKind>{});

/// One entry: what must hold, and what was published about it.
struct Expectation : ExpectationKind {
  using ExpectationKind::ExpectationKind;
  std::optional<Published> published;
  friend bool operator==(const Expectation& a, const Expectation& b) {
    return static_cast<const ExpectationKind&>(a) == static_cast<const ExpectationKind&>(b) &&
           a.published == b.published;
  }
};

/// "no_qp_error", "goodput", ...: the word in the file and in verdict.json.
std::string_view name_of(const Expectation& expectation);
/// One line for a report: "goodput >= 95% of baseline from 600us".
std::string describe(const Expectation& expectation);

/// The entry as it would stand in a file, durations in exact units.
std::string to_yaml(const Expectation& expectation);

/// `safety` and `liveness` replaced by what they stand for; one check each.
std::vector<Expectation> without_bundles(const std::vector<Expectation>& expectations);

/// Reads one entry of an `expect:` list. Throws InputError with the position.
Expectation parse_expectation(const YamlValue& entry);

}  // namespace mrclab::analysis
