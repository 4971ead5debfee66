#pragma once
// The one table of what stands in the entries of an `expect:` list. Reading, writing and the
// refusal of unknown keys are made from it.

#include <array>
#include <span>
#include <string_view>

#include "analysis/checks/expectation.h"

namespace mrclab::analysis {

enum class Need : uint8_t {
  kOptional,          ///< absent: the default of the struct
  kOptionalPositive,  ///< the same, and not zero where it is given
  kRequired,
  kPositive,  ///< required, and not zero
};

inline constexpr std::array<std::string_view, 2> kFairnessWords{"jain", "min_over_max"};

void for_each_flow_field(auto& flows, auto&& visit) {
  visit("host", flows.host, Need::kOptional);
  visit("source", flows.source, Need::kOptional);
  visit("destination", flows.destination, Need::kOptional);
  visit("plane", flows.plane, Need::kOptional);
}

// visit(name, member, need) for each field, in the order of writing. One overload per expectation
// that has fields; `e` may be const.
template <class E, class Visit>
void for_each_field(E& e, Visit&& visit) {
  using T = std::remove_const_t<E>;
  if constexpr (std::is_same_v<T, ExpectGoodput>) {
    visit("from", e.from, Need::kRequired);
    visit("until", e.until, Need::kOptional);
    visit("at_least", e.at_least, Need::kOptionalPositive);
    visit("at_most", e.at_most, Need::kOptionalPositive);
    visit("of", e.of, Need::kOptional);
    for_each_flow_field(e.flows, visit);
  } else if constexpr (std::is_same_v<T, ExpectGap>) {
    visit("at_most", e.at_most, Need::kPositive);
    visit("below", e.below, Need::kOptionalPositive);
    visit("of", e.of, Need::kOptional);
    visit("from", e.from, Need::kOptional);
    visit("until", e.until, Need::kOptional);
    visit("every", e.every, Need::kOptionalPositive);
    for_each_flow_field(e.flows, visit);
  } else if constexpr (std::is_same_v<T, ExpectSamples>) {
    visit("from", e.from, Need::kRequired);
    visit("until", e.until, Need::kOptional);
    visit("every", e.every, Need::kPositive);
    visit("min_over_mean", e.min_over_mean, Need::kPositive);
    for_each_flow_field(e.flows, visit);
  } else if constexpr (std::is_same_v<T, ExpectLatency>) {
    visit("source", e.source, Need::kRequired);
    visit("destination", e.destination, Need::kRequired);
    visit("at_least", e.at_least, Need::kOptionalPositive);
    visit("at_most", e.at_most, Need::kOptionalPositive);
    visit("from", e.from, Need::kOptional);
    visit("until", e.until, Need::kOptional);
  } else if constexpr (std::is_same_v<T, ExpectFairness>) {
    visit("from", e.from, Need::kOptional);
    visit("until", e.until, Need::kOptional);
    visit("at_least", e.at_least, Need::kPositive);
    visit("by", e.by, Need::kOptional);
    for_each_flow_field(e.flows, visit);
  } else if constexpr (std::is_same_v<T, ExpectLossesPerQp>) {
    visit("at_most", e.at_most, Need::kRequired);
    visit("from", e.from, Need::kOptional);
    visit("until", e.until, Need::kOptional);
    for_each_flow_field(e.flows, visit);
  } else if constexpr (std::is_same_v<T, ExpectAffectedQps>) {
    visit("at_least", e.at_least, Need::kOptionalPositive);
    visit("at_most", e.at_most, Need::kOptional);
    visit("from", e.from, Need::kOptional);
    visit("until", e.until, Need::kOptional);
    for_each_flow_field(e.flows, visit);
  } else if constexpr (std::is_base_of_v<PacketBounds, T>) {
    visit("at_least", e.at_least, Need::kOptional);
    visit("at_most", e.at_most, Need::kOptional);
    visit("from", e.from, Need::kOptional);
    visit("until", e.until, Need::kOptional);
    for_each_flow_field(e.flows, visit);
  } else if constexpr (std::is_same_v<T, ExpectShare>) {
    visit("path", e.path, Need::kRequired);
    visit("at_least", e.at_least, Need::kOptionalPositive);
    visit("at_most", e.at_most, Need::kOptional);
    visit("from", e.from, Need::kOptional);
    visit("until", e.until, Need::kOptional);
    for_each_flow_field(e.flows, visit);
  } else if constexpr (std::is_same_v<T, ExpectPathUnused>) {
    visit("path", e.path, Need::kRequired);
    visit("from", e.from, Need::kRequired);
    visit("until", e.until, Need::kOptional);
    visit("at_most", e.at_most, Need::kOptional);
    for_each_flow_field(e.flows, visit);
  } else if constexpr (std::is_same_v<T, ExpectCounter>) {
    visit("name", e.name, Need::kRequired);
    visit("at_least", e.at_least, Need::kOptional);
    visit("at_most", e.at_most, Need::kOptional);
  } else if constexpr (std::is_same_v<T, ExpectCompletionTime>) {
    visit("slower_by", e.slower_by, Need::kRequired);
    visit("from", e.from, Need::kOptional);
    visit("until", e.until, Need::kOptional);
  } else if constexpr (std::is_same_v<T, ExpectDetect> || std::is_same_v<T, ExpectLeave>) {
    visit("within", e.within, Need::kPositive);
  } else if constexpr (std::is_same_v<T, ExpectRecover>) {
    visit("within", e.within, Need::kPositive);
    visit("to", e.to, Need::kOptionalPositive);
  } else if constexpr (std::is_same_v<T, ExpectQpError>) {
    visit("reason", e.reason, Need::kRequired);
  } else if constexpr (std::is_same_v<T, ExpectGoodputBack>) {
    visit("within", e.within, Need::kOptionalPositive);
    visit("to", e.to, Need::kOptionalPositive);
  } else if constexpr (std::is_same_v<T, ExpectEvsGood> || std::is_same_v<T, ExpectLiveness>) {
    visit("within", e.within, Need::kOptionalPositive);
  }
}

/// The words of ExpectationKind's alternatives, in their order. `form` is what is right where a map
/// is needed, or empty where the word may stand alone.
struct ExpectationWord {
  std::string_view name;
  Measure measure;  ///< the unit of the value that its check measures
  std::string_view form;
};
inline constexpr std::array kExpectationWords{
    ExpectationWord{"no_qp_error", Measure::kCount, ""},
    ExpectationWord{"memory_intact", Measure::kCount, ""},
    ExpectationWord{"healed", Measure::kCount, ""},
    ExpectationWord{"goodput", Measure::kShare,
                    "\"goodput: {from: 600us, at_least: 95%, of: baseline}\""},
    ExpectationWord{"detect", Measure::kTime, "\"detect: {within: 6rtt}\""},
    ExpectationWord{"recover", Measure::kTime, "\"recover: {within: 100rtt, to: 95%}\""},
    ExpectationWord{"leave", Measure::kTime, "\"leave: {within: 5rtt}\""},
    ExpectationWord{"qp_error", Measure::kCount, "\"qp_error: {reason: Retry Counter Exceeded}\""},
    ExpectationWord{"gap", Measure::kTime, "\"gap: {at_most: 20rtt, below: 10%}\""},
    ExpectationWord{"samples", Measure::kShare,
                    "\"samples: {from: 300us, every: 20us, min_over_mean: 92%}\""},
    ExpectationWord{"latency", Measure::kTime,
                    "\"latency: {source: h0, destination: h4, at_most: 7us}\""},
    ExpectationWord{"fairness", Measure::kShare, "\"fairness: {destination: h0, at_least: 95%}\""},
    ExpectationWord{"losses_per_qp", Measure::kCount, "\"losses_per_qp: {at_most: 5}\""},
    ExpectationWord{"affected_qps", Measure::kShare,
                    "\"affected_qps: {at_least: 15%, at_most: 35%}\""},
    ExpectationWord{"completion_time", Measure::kShare, "\"completion_time: {slower_by: 1%}\""},
    ExpectationWord{"steady", Measure::kShare, ""},
    ExpectationWord{"safety", Measure::kCount, ""},
    ExpectationWord{"placed_once", Measure::kCount, ""},
    ExpectationWord{"no_silent_loss", Measure::kCount, ""},
    ExpectationWord{"in_order", Measure::kCount, ""},
    ExpectationWord{"no_qp_error_while_a_path_lives", Measure::kCount, ""},
    ExpectationWord{"accounted", Measure::kCount, ""},
    ExpectationWord{"liveness", Measure::kCount, ""},
    ExpectationWord{"goodput_back", Measure::kTime, ""},
    ExpectationWord{"evs_good", Measure::kTime, ""},
    ExpectationWord{"queues_empty", Measure::kTime, ""},
    ExpectationWord{"losses", Measure::kCount, "\"losses: {at_most: 40, from: 300us}\""},
    ExpectationWord{"trims", Measure::kCount, "\"trims: {at_most: 0}\""},
    ExpectationWord{"retransmissions", Measure::kCount, "\"retransmissions: {at_most: 40}\""},
    ExpectationWord{"share", Measure::kShare,
                    "\"share: {path: p0/*, from: 600us, at_least: 11%}\""},
    ExpectationWord{"path_unused", Measure::kCount,
                    "\"path_unused: {path: p0/u1, from: 320us, until: 400us}\""},
    ExpectationWord{"counter", Measure::kCount,
                    "\"counter: {name: duplicate_deliveries, at_most: 0}\""}};
static_assert(kExpectationWords.size() == std::variant_size_v<ExpectationKind>);

}  // namespace mrclab::analysis
